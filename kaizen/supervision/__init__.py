"""Everything on one machine under one supervisor: what `make run` and `manage.py up` start.

    console    prefixed lines on the terminal
    port       the listening socket, bound here and handed to the web process
    crew       child processes: output, restart with back-off, clean stop
    readiness  asking the web process whether all is up
    program    which processes, with which environment
    up         the order of a start
    __main__   `python -m kaizen.supervision`

The supervisor stays small: it loads no Django. It ends with everything it started, also when it is
killed, because each child is tied to it by the kernel.
"""
