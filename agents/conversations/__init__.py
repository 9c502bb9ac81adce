"""Who says what: conversations, the inputs accepted into them, and search over one's own.

models       conversations and inputs
querysets    who may see them
inputs       accept, stop: idempotent, one transaction each
keeping      rename, pin, archive, delete
"""
