"""Who says what: conversations, the inputs accepted into them, and search over one's own.

models       conversations and inputs
querysets    who may see them
inputs       accept, stop: idempotent, one transaction each
branches     where an input stands in the tree, and which branch is shown
queue        what waits: listed, changed, taken back, told to the running turn
steers       messages to a running turn, as their author sends and changes them
endings      the end of inputs that nobody ever worked
keeping      rename, pin, archive, delete
"""
