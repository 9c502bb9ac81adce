"""The REST interface under `/api/`, exactly as docs/api.md and the generated document say.

operations      what every call declares: id, tag, effect, scope, body, answer, key; and how it runs
authentication  tokens and browser sessions; permissions: signed in, and within the proof's scope
parsers, renderers, errors   strict JSON in, JSON out, one form of error
idempotency     an answer kept for its key; models holds the rows, jobs forgets old ones
pages           lists and their signed cursors
fields, shapes  what bodies and answers look like
schema          the generated OpenAPI document
conversations, agents, artifacts, model_roles, access_tokens, me   one file a resource
"""
