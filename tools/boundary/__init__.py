"""What a tool may do: contract, closed registry, exposure, and the one execution seam.

contract    descriptors, calls, results and what a tool is handed
registry    the closed map from name to implementation
schemas     what parameters may look like, what a model is shown of them, validation
exposure    what one turn is offered
authority   whether one call may run, decided and recorded in one transaction
compression long results shortened after authorisation, at the one seam
execution   `handle_tool_exec`, the only caller of a tool
failures    denials, classes of failure, and the words for each
facts       what is kept of a settled call for the rest of its run
memory      what the earlier calls of one run left behind: repeats, health, found tools
repeats     committed writes that are not made twice, inputs that are not tried again
health      tools that failed so often that a run is no longer offered them
projection  what leaves a tool: bounded views for the model and for people
redaction   texts without credentials and hidden characters
"""
