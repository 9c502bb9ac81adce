"""How a turn decides. Pure: no framework, clock, randomness, thread, process or network.

events       what happened
effects      what the host is asked to do
state        a turn's state and the table of legal transitions
reducer      state and event to state and effect
bounds       how long a turn may go on
controllers  who owns when work continues, yields or settles
"""
