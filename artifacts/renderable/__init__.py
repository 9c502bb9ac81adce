"""The renderable envelope: structured data of a trusted producer, with markings and origin. Pure.

envelope     the one normaliser every candidate passes
wording      what texts, markings and tables must keep beyond the schema
leaks        credentials and raw provider answers, which are refused
binding      what never changes between versions
attestation  proof that the server, for one call, saw exactly this content
declaration  how an MCP tool says where its envelope is
"""
