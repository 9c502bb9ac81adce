"""The long fault suite (`make chaos`): more faults, longer, with people watching all the while.

The harness and its judge are those of `tests.faults`, which runs the short form every time.
"""
