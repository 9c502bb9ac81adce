"""Trip-wires: tests that read the source instead of running it.

Each rule is a function from sources to faults, so every file here can also show that its rule
bites: it feeds the rule a bad sample and sees a fault. A fault is one line, `path:line what is
wrong`. An exception to a rule is an entry of a literal beside the rule, with its reason.
"""
