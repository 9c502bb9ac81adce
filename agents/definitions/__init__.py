"""What an agent is: append-only versions, sharing by object permission, bundles shipped in source.

models     agents, versions and their object permissions
querysets  who may see, use, duplicate or edit an agent
content    what a definition may hold, checked at every door
versions   create, append, restore, roll back, copy, delete
differences what changed between two versions, by line and by word
sharing    give an agent to people and groups, and take it back
library    agents as their cards show them
bundling   bundles/*.toml (data, no code) reconciled into protected agents
publication open an agent to everybody or close it again, for administrators
"""
