"""Tools: what a tool may do and how it is run.

effects   claims of runs (lease, fence) and recorded effects
boundary  contract, registry, exposure and the one execution seam
builtin   the tools, one file per family
"""
