"""HTML: the pages people use. Views read through querysets and act through functions below.

urls          every page route
shell         the door for signed-in people, and what each of their pages shows
sidebar       a person's conversations in groups
chat          the chat page, its opening frames, earlier pages, the sidebar's list
keeping       rename, pin, archive, read, delete
searching     search over one's own conversations
account       name, looks, keyboard, access tokens
choosing      the agents that pickers offer, one surface at a time
catalogue     the agents a person may use, as cards
studio        one agent: shown, edited, tried, copied, deleted
agent_history its versions: listed, compared, restored
agent_words   an agent's definition in words
signing       sign-in and sign-out
failures      refusals as pages or JSON, and the offline page
templatetags  icons

No rule about who may see or do something lives here, and nothing here runs a turn.
"""
