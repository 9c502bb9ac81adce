"""A bounded long load (`make soak`): streams without end, and nothing may be lost or grow."""
