"""The tools, one file a family. Only the registry names them, only the boundary calls them.

about            search_about: answers from the product's own pages
about_index      the packaged copy of those pages, and how it is ranked
canvas           show_chat_canvas
history          conversation_history_search
agents           list_available_agents
artifacts        create_artifact, update_artifact
artifact_ranges  read_artifact
artifact_edits   edit_artifact
artifact_staging begin_artifact, append_artifact, finalize_artifact, discard_artifact
artifact_answers what is said about a write of an artifact
artifact_naming  how a call names an artifact
discovery        tool_search
acting           the member a call acts for
"""
