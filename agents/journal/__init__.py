"""What happened: one append-only stream a conversation, replay from any position, publication.

models       streams and entries
frames       the closed set of frames and how a browser sees an entry
append       the only writer; every append of a run proves its fence
replay       reading from a position
publication  wake-ups and live deltas over Redis; losing them is harmless
offloading   database work off an event loop
prepared     questions compiled once
"""
