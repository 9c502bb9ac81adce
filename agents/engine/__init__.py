"""How a turn decides. Pure: no framework, clock, randomness, thread, process or network.

events       what happened: facts and digests, no text
effects      what the host is asked to do, and the intents that end a turn or let it rest
state        a turn's state and the table of legal transitions
reducer      state and event to state and effect
sampling     which answer of a model is kept, and how often it is asked again
conduct      the rules for tool calls in one value: `denials`, `repairs`, `repeated`, `discovery`,
             `required`; kept by the host, so that no controller can do without
correction   answers dropped by rules of the server's
bounds       how long a turn may go on
controllers  who owns when work continues, yields or settles
"""
