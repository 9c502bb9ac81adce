"""What a tool may do: contract, closed registry, exposure, and the one execution seam.

contract    descriptors, calls, results and what a tool is handed
registry    the closed map from name to implementation
schemas     what parameters may look like, what a model is shown of them, validation
exposure    what one turn is offered
authority   whether one call may run, decided and recorded in one transaction
execution   `handle_tool_exec`, the only caller of a tool
failures    denials, classes of failure, and the words for each
projection  what leaves a tool: bounded views for the model and for people
redaction   texts without credentials and hidden characters
"""
