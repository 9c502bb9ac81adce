"""What every agent is told: one ordered chain of blocks, the same for all agents.

chain      the order
grounding  evidence before claims
temporal   what time it is
identity   who is asking
"""
