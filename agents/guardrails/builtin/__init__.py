"""The guardrails. Each is a module of functions over a run's facts; the chain calls them.

budgets    a turn is finite, even under a controller that does not stop
loops      the same calls again and again are a circle
citations  what a person supplied is never a citation
redaction  no credential reaches a model or a person
"""
