"""Agents: who works, what an agent is, how a turn decides and runs, and the doors people use.

engine         how a turn decides (pure)
members        who: accounts, roles, preferences, access tokens
journal        what happened: streams, entries, replay, publication
definitions    what an agent is: append-only versions, sharing, bundles
conversations  who says what: conversations and accepted inputs
gateway        the only way to a model
prompts        what every agent is told
turns          how a turn is executed
streaming      live turns over WebSocket and SSE
web            HTML pages
api            the REST interface
"""
