"""Tools: what a tool may do and how it is run.

effects   claims of runs (lease, fence) and recorded effects
boundary  contract, registry, exposure and the one execution seam
builtin   the tools, one file per family
"""

from typing import Final

# Every tool of our own that a turn can ever call. Being here offers nothing: what one turn gets
# is decided by `tools.boundary.exposure`. Each name says why it exists and whether it may persist.
AGENT_LOOP_TOOL_NAMES: Final = frozenset(
    {
        # read: people ask how Kaizen works, and the answer must come from its own pages
        "search_about",
        # read: shows one page inside the conversation on request, without keeping it
        "show_chat_canvas",
        # read: finds what the member and their agents said before
        "conversation_history_search",
        # read: tells which agents the member may use, so that one can be recommended
        "list_available_agents",
        # write: keeps something the member wants to come back to
        "create_artifact",
        # write: appends a whole new version to an artifact
        "update_artifact",
        # write: changes some lines of an exact version and leaves every other byte as it is
        "edit_artifact",
        # write: begins a long artifact that is written part by part, so that no call is too large
        "begin_artifact",
        # write: keeps one part of it under a receipt, in a commit of its own
        "append_artifact",
        # write: makes the artifact out of its parts; before that the member has nothing
        "finalize_artifact",
        # write: gives the parts up, so that nothing unwanted stays until the turn ends
        "discard_artifact",
        # read: reads an exact version by line ranges, which an update must build on
        "read_artifact",
        # read: looks up tools of a large catalogue, of which a model is shown only a part at once
        "tool_search",
    }
)
