"""What agents and people make and keep: artifacts and their immutable versions.

models      an artifact, its versions and who it is shared with
querysets   who may see and edit one
kinds       what each kind of content must look like
writing     the one writer, for people and for runs
editing     lines of a text, and what hunks make of them
comparing   what differs between two texts
staging     artifacts that a run writes part by part
reading     lists, versions and numbered line ranges
"""
