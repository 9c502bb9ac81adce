"""What a tool may do: contract, closed registry, exposure, and the one execution seam.

contract    descriptors, calls, results and what a tool is handed
registry    the closed map from name to implementation
exposure    what one turn is offered
execution   `handle_tool_exec`, the only caller of a tool
"""
