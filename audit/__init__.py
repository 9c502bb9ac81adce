"""The ground: what every other package may stand on, and nothing above it.

Here live the closed vocabularies (`reasons`), the errors that carry them (`refusals`), strict
JSON in and canonical JSON out (`canonical`), the bounds people can look up (`limits`), the shapes
of credentials (`credentials`), the one function that writes an audit row (`funnel`) and the proof
that no row was changed afterwards (`chains`, `verification`, `anchors`). `append_only` makes any
table refuse change, `grants` gives the runtime role no more than it needs, `metrics` counts with
closed labels. `reaching` says in SQL which rows a person reaches, `word_parts` makes indexes for
searching in short texts.

This package imports nothing of Kaizen. Whoever acts calls the funnel; tools, agents and bundles
never do.
"""
