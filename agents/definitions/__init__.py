"""What an agent is: append-only versions, sharing by object permission, bundles shipped in source.

models     agents, versions and their object permissions
querysets  who may see, use, duplicate or edit an agent
content    what a definition may hold, checked at every door
versions   create, append, delete
bundling   bundles/*.toml (data, no code) reconciled into protected agents
publication open an agent to everybody or close it again, for administrators
"""
