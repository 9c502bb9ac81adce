"""Which deployments play the roles of chat and embedding. For administrators.

What a person may not see looks missing: to everyone else these paths answer 404.
"""

from typing import Any, Final

from rest_framework import serializers

from agents.api.fields import Id, Strict, Text, Whole, many
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.gateway import deployments
from agents.gateway.models import Deployment, ModelRole, Role, ToolCallMode
from agents.members import accounts
from audit.reasons import Reason
from audit.refusals import Invalid, NotFound

TAG: Final = "models"
MAX_DEPLOYMENTS: Final = 200  # shown; an installation has a handful


class ModelDeployment(serializers.Serializer[Any]):
    """A model that can be chosen. Addresses and secrets stay on the server."""

    id = Id()
    name = Text(80)
    model = Text(200)
    tool_calls = serializers.ChoiceField(choices=ToolCallMode.values)
    context_window = Whole()
    max_output_tokens = Whole()
    is_trial = serializers.BooleanField()


class ModelSettings(serializers.Serializer[Any]):
    """Who plays each role (null for nobody), and who could."""

    chat = ModelDeployment(allow_null=True)
    embedding = ModelDeployment(allow_null=True)
    deployments = many(ModelDeployment(), MAX_DEPLOYMENTS)


class RoleBody(Strict):
    """The deployment that shall play the role."""

    deployment_id = Id()


class ModelRoles(Door):
    """All roles."""

    @operation(
        Operation("models_read", TAG, Effect.SENSITIVE, errors=(404,)),
        summary="Which models play which role (administrators).",
        answer=ModelSettings,
    )
    def get(self, call: Call) -> Any:
        _require_administrator(call)
        return _settings()


class ChatModel(Door):
    """The role of answering in conversations."""

    @operation(
        Operation("models_set_chat", TAG, Effect.SENSITIVE, body=RoleBody, errors=(404,)),
        summary="Choose the model that answers (administrators).",
        answer=ModelSettings,
    )
    def put(self, call: Call) -> Any:
        return _assign(call, Role.CHAT)


class EmbeddingModel(Door):
    """The role of searching by meaning."""

    @operation(
        Operation("models_set_embedding", TAG, Effect.SENSITIVE, body=RoleBody, errors=(404,)),
        summary="Choose the model that searches by meaning (administrators).",
        answer=ModelSettings,
    )
    def put(self, call: Call) -> Any:
        return _assign(call, Role.EMBEDDING)


def _require_administrator(call: Call) -> None:
    if not accounts.is_administrator(call.member):
        raise NotFound()


def _assign(call: Call, role: Role) -> dict[str, Any]:
    _require_administrator(call)
    try:
        deployments.assign_role(
            actor=call.member.principal, role=role, deployment_id=call.body["deployment_id"]
        )
    except NotFound:
        # The path is right and the id in the body is not, which 404 would not say.
        raise Invalid([{"field": "deployment_id", "reason": str(Reason.NOT_FOUND)}]) from None
    return _settings()


def _settings() -> dict[str, Any]:
    playing = {
        row.role: row.deployment
        for row in ModelRole.objects.filter(deployment__enabled=True).select_related("deployment")
    }
    usable = Deployment.objects.enabled().order_by("name")[:MAX_DEPLOYMENTS]
    return {
        "chat": _shown(playing.get(Role.CHAT)),
        "embedding": _shown(playing.get(Role.EMBEDDING)),
        "deployments": [_shown(deployment) for deployment in usable],
    }


def _shown(deployment: Deployment | None) -> dict[str, Any] | None:
    if deployment is None:
        return None
    return {
        "id": str(deployment.id),
        "name": deployment.name,
        "model": deployment.model,
        "tool_calls": deployment.tool_calls,
        "context_window": deployment.context_window,
        "max_output_tokens": deployment.max_output_tokens,
        "is_trial": deployment.is_trial,
    }
