"""Live turns over sockets and event streams; the journal is the truth, Redis only the doorbell.

consumers    the socket of a conversation; sse: its event stream; routing: socket addresses
entrance     who may read, at the door and while the stream lasts; origins: which pages may open
hub          one a process: live traffic in, fan-out to readers, polling, re-checks, draining
subscription the one Redis connection of a hub
relay        what the readers of one conversation share; wire: frames, encoded once
listener     one reader's bounded queue; rates, cursors: what clients may send
"""
