"""What every turn must pass, whatever its controller does: one ordered chain at fixed points.

chain    the points, and which guardrails stand at each in which order
facts    what the guardrails of one run know
builtin  the guardrails, one file each
"""
