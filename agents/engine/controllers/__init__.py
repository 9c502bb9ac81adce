"""Controllers: each owns when work continues, yields or settles, and nothing else.

host  what a controller may ask for
tomo  one bounded effect at a time, chosen by the reducer
"""
