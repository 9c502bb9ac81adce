"""What each kind of artifact must look like. Pure: text in, problems out.

graph    nodes, edges and sources as one JSON document
content  the checks of every kind, by kind
"""
