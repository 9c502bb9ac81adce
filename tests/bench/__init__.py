"""Speed and memory of the running product, as ratios to a bare relay measured beside it.

`python -m tests.bench` (or `make bench`) prints a table. Nothing here is a test: a figure that
misses its goal is printed as such and fails nothing, because it depends on the machine.

model       a model that costs nothing and writes the time into every word
relay       what everything is compared with: model stream in, socket messages out, no policy
processes   what runs, its CPU time and its memory
readers     clients that ask and write down when every word arrived
measures    one function a figure; report: the table
appends     the journal alone
library     lists, pickers and comparisons, with little and with much on the shelves
"""
