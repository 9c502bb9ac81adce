"""PostgreSQL and a Redis-compatible server brought along; started when no URL names others.

    failures     what refuses a start, in words
    layout       where data, sockets and programs of one KAIZEN_HOME lie, and whose they are
    credentials  passwords made once and kept readable by the owner alone
    launching    children that end with their parent and give up root
    postgres     initialise, start, shape roles, stop
    valkey       start, stop
    servers      both together, under the lock of their home
    addresses    the URLs that reach them
    attaching    the same URLs for a command in a second terminal
    __main__     `python -m kaizen.embedded run -- PROGRAM ...`

Nothing here imports Django: settings are read only after these addresses stand in the environment.
"""
