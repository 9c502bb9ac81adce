"""The dialects a model server can speak, and a server of our own that plays one.

openai_compatible  one attempt at a streamed chat completion over HTTP, TLS or a Unix socket
constrained        the same events from servers that only promise JSON by schema
script             the language of scripted answers (pure)
scripted           a model server that answers by script, for tests and measurements

Nothing outside the gateway imports these modules.
"""
