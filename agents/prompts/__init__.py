"""What every agent is told: one ordered chain of blocks, the same for all agents.

chain                the order
grounding            evidence before claims
temporal             what time it is
identity             who is asking
plain_speak          plain words, for people who want them
settings_projection  what is set for the run, said by the server last of all
trim                 a model's copy of a message that would not fit
"""
