"""Routes under `/api/`. The events of a conversation are routed by the project, which also knows
the stream.
"""

from django.urls import path, re_path

from agents.api import (
    access_tokens,
    agent_shares,
    agent_versions,
    agents,
    approvals,
    artifacts,
    branches,
    conversations,
    me,
    model_roles,
    queue,
    redirection,
    steering,
    usage,
)
from agents.api.document import OpenApiDocument

urlpatterns = [
    path("openapi.json", OpenApiDocument.as_view()),
    path("me", me.Myself.as_view()),
    path("tokens", access_tokens.Tokens.as_view()),
    path("tokens/<id:token_id>", access_tokens.OneToken.as_view()),
    path("agents", agents.Agents.as_view()),
    path("agents/<id:agent_id>", agents.OneAgent.as_view()),
    path("agents/<id:agent_id>/duplicate", agents.AgentCopies.as_view()),
    path("agents/<id:agent_id>/restore", agent_versions.AgentRestoring.as_view()),
    path("agents/<id:agent_id>/rollback", agent_versions.AgentRollingBack.as_view()),
    path("agents/<id:agent_id>/shares", agent_shares.SharesOfAgent.as_view()),
    path("agents/<id:agent_id>/versions", agent_versions.AgentVersions.as_view()),
    path("agents/<id:agent_id>/versions/<number:number>", agent_versions.OneAgentVersion.as_view()),
    path(
        "agents/<id:agent_id>/versions/<number:number>/diff/<number:other>",
        agent_versions.AgentVersionDiff.as_view(),
    ),
    path("approvals", approvals.Approvals.as_view()),
    path("approvals/<id:approval_id>", approvals.OneApproval.as_view()),
    path("approvals/<id:approval_id>/withdraw", approvals.ApprovalWithdrawal.as_view()),
    path("approvals/<id:approval_id>/answer", approvals.ApprovalAnswer.as_view()),
    path("artifacts", artifacts.Artifacts.as_view()),
    path("artifacts/<id:artifact_id>", artifacts.OneArtifact.as_view()),
    path("artifacts/<id:artifact_id>/download", artifacts.ArtifactDownload.as_view()),
    path("artifacts/<id:artifact_id>/edits", artifacts.ArtifactEdits.as_view()),
    path("artifacts/<id:artifact_id>/restore", artifacts.ArtifactRestoring.as_view()),
    path("artifacts/<id:artifact_id>/versions", artifacts.ArtifactVersions.as_view()),
    path(
        "artifacts/<id:artifact_id>/versions/<number:number>",
        artifacts.OneArtifactVersion.as_view(),
    ),
    path(
        "artifacts/<id:artifact_id>/versions/<number:number>/diff/<number:other>",
        artifacts.ArtifactVersionDiff.as_view(),
    ),
    path("people", agent_shares.PeopleFound.as_view()),
    path("groups", agent_shares.OwnGroups.as_view()),
    path("conversations", conversations.Conversations.as_view()),
    path("conversations/<id:conversation_id>", conversations.OneConversation.as_view()),
    path("conversations/<id:conversation_id>/inputs", conversations.ConversationInputs.as_view()),
    path("conversations/<id:conversation_id>/inputs/<id:input_id>", queue.OneInput.as_view()),
    path(
        "conversations/<id:conversation_id>/inputs/<id:input_id>/steer",
        queue.InputSteer.as_view(),
    ),
    path("conversations/<id:conversation_id>/branch", branches.ConversationBranch.as_view()),
    path("conversations/<id:conversation_id>/compact", conversations.ConversationCompact.as_view()),
    path("conversations/<id:conversation_id>/queue", queue.ConversationQueue.as_view()),
    path("conversations/<id:conversation_id>/steer", steering.ConversationSteers.as_view()),
    path("conversations/<id:conversation_id>/steers/<id:steer_id>", steering.OneSteer.as_view()),
    path(
        "conversations/<id:conversation_id>/steers/<id:steer_id>/queue",
        steering.SteerQueue.as_view(),
    ),
    path("conversations/<id:conversation_id>/stop", conversations.ConversationStop.as_view()),
    path("usage", usage.OwnUsage.as_view()),
    path("ops/models", model_roles.ModelRoles.as_view()),
    path("ops/models/chat", model_roles.ChatModel.as_view()),
    path("ops/models/embedding", model_roles.EmbeddingModel.as_view()),
    re_path(r"^(?P<path>.+)/$", redirection.without_slash),
]
