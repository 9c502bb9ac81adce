"""The generated OpenAPI document: complete, stable, bounded, and true to what is answered."""

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
from django.test import Client

from agents.api.document import generated
from agents.members.models import Member
from tests.api.conftest import Caller
from tests.artifacts.envelopes import ferries, kept_for

# A published id never changes and never goes; add to this list, nothing else.
PUBLISHED = [
    "agent_shares_read",
    "agent_shares_replace",
    "agent_versions_diff",
    "agent_versions_list",
    "agent_versions_read",
    "agents_create",
    "agents_delete",
    "agents_duplicate",
    "agents_list",
    "agents_read",
    "agents_restore",
    "agents_rollback",
    "agents_update",
    "approvals_answer",
    "approvals_decide",
    "approvals_list",
    "approvals_read",
    "approvals_withdraw",
    "artifact_versions_diff",
    "artifact_versions_list",
    "artifact_versions_read",
    "artifacts_create",
    "artifacts_delete",
    "artifacts_download",
    "artifacts_edit",
    "artifacts_list",
    "artifacts_read",
    "artifacts_restore",
    "artifacts_update",
    "conversation_branch",
    "conversation_compact",
    "conversation_events_list",
    "conversation_inputs_create",
    "conversation_inputs_delete",
    "conversation_inputs_steer",
    "conversation_inputs_update",
    "conversation_queue_list",
    "conversation_steer",
    "conversation_steers_delete",
    "conversation_steers_queue",
    "conversation_steers_update",
    "conversation_stop",
    "conversations_create",
    "conversations_list",
    "conversations_read",
    "document_read",
    "groups_list",
    "me_change",
    "me_read",
    "models_read",
    "models_set_chat",
    "models_set_embedding",
    "people_find",
    "tokens_create",
    "tokens_list",
    "tokens_revoke",
    "usage_read",
]


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and description of every operation."""
    return [
        (method, path, described)
        for path, methods in generated()["paths"].items()
        for method, described in methods.items()
    ]


def schemas(node: Any) -> Iterator[dict[str, Any]]:
    """Every schema with a type, anywhere in the document."""
    if isinstance(node, dict):
        if isinstance(node.get("type"), str) and "scheme" not in node and "in" not in node:
            yield node
        for inner in node.values():
            yield from schemas(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from schemas(inner)


def test_every_published_operation_is_there_once() -> None:
    assert sorted(described["operationId"] for _, _, described in operations()) == PUBLISHED


@pytest.mark.parametrize(("method", "path", "described"), operations())
def test_every_operation_says_what_it_does_and_who_may(
    method: str, path: str, described: dict[str, Any]
) -> None:
    assert described["x-kamiwaza-effect"] in {"read", "write", "sensitive"}
    assert (method == "get") <= (described["x-kamiwaza-effect"] != "write")
    assert len(described["tags"]) == 1
    assert described["summary"]
    public = path == "/api/openapi.json"
    proofs = [{}] if public else [{"access_token": []}, {"browser_session": []}]
    assert described["security"] == proofs
    assert public or {"401", "403"} <= set(described["responses"])
    assert ("{" in path) <= ("404" in described["responses"])


@pytest.mark.parametrize("schema", list(schemas(generated()["components"]["schemas"])))
def test_every_value_has_bounds(schema: dict[str, Any]) -> None:
    match schema["type"]:
        case "string":
            assert "maxLength" in schema or "enum" in schema
        case "array":
            assert "maxItems" in schema
        case "integer" | "number":
            assert {"minimum", "maximum"} <= set(schema)
        case "object":
            assert "properties" in schema or "maxProperties" in schema
        case other:
            assert other == "boolean"


@pytest.mark.parametrize(("method", "path", "described"), operations())
def test_every_parameter_has_bounds(method: str, path: str, described: dict[str, Any]) -> None:
    for parameter in described.get("parameters", []):
        schema = parameter["schema"]
        bounded = {"maxLength", "enum", "maximum"} & set(schema) or schema["type"] == "boolean"
        assert bounded, parameter["name"]


def test_errors_have_one_shape() -> None:
    for _, _, described in operations():
        for status, response in described["responses"].items():
            if int(status) >= 400:
                shape = response["content"]["application/json"]["schema"]
                assert shape == {"$ref": "#/components/schemas/Problem"}


@pytest.mark.django_db
def test_anybody_may_read_it_and_it_names_nobody() -> None:
    answer = Client().get("/api/openapi.json")
    assert answer.json() == generated()
    assert answer.headers["Content-Type"] == "application/json"


def resolved(node: Any) -> Any:
    """A schema with its references in place and OpenAPI's `nullable` as JSON Schema says it."""
    if isinstance(node, list):
        return [resolved(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return resolved(generated()["components"]["schemas"][node["$ref"].rsplit("/", 1)[1]])
    plain = {name: resolved(inner) for name, inner in node.items() if name != "nullable"}
    if plain.get("properties") and "additionalProperties" not in plain:
        plain["additionalProperties"] = False
    return {"anyOf": [plain, {"type": "null"}]} if node.get("nullable") else plain


@pytest.mark.django_db
def test_answers_are_what_the_document_says(
    as_alice: Caller, as_ada: Caller, alice: Member, conversation: str, agent: str
) -> None:
    said = {described["operationId"]: described for _, _, described in operations()}
    change = {"content": {"name": "Bus", "persona": "Help.\nNow."}, "expected_version": 1}
    message = {"kind": "message", "message": "hello", "agent": agent}
    table = kept_for(alice, ferries()).artifact_id
    answers = {
        "conversation_inputs_create": as_alice.post(
            f"/api/conversations/{conversation}/inputs", message
        ),
        "conversations_create": as_alice.post("/api/conversations"),
        "conversations_list": as_alice.get("/api/conversations"),
        "conversations_read": as_alice.get(f"/api/conversations/{conversation}"),
        "conversation_events_list": as_alice.get(
            f"/api/conversations/{conversation}/events", Accept="application/json"
        ),
        "conversation_stop": as_alice.post(f"/api/conversations/{conversation}/stop"),
        "agents_update": as_alice.send("PUT", f"/api/agents/{agent}", change),
        "agents_list": as_alice.get("/api/agents"),
        "agents_read": as_alice.get(f"/api/agents/{agent}"),
        "agent_versions_list": as_alice.get(f"/api/agents/{agent}/versions"),
        "agent_versions_read": as_alice.get(f"/api/agents/{agent}/versions/1"),
        "agent_versions_diff": as_alice.get(f"/api/agents/{agent}/versions/1/diff/2"),
        "agent_shares_read": as_alice.get(f"/api/agents/{agent}/shares"),
        "agent_shares_replace": as_alice.send("PUT", f"/api/agents/{agent}/shares", {"shares": []}),
        "agents_duplicate": as_alice.post(f"/api/agents/{agent}/duplicate", {}),
        "agents_rollback": as_alice.post(f"/api/agents/{agent}/rollback", {"expected_version": 2}),
        "people_find": as_alice.get("/api/people?q=ad"),
        "groups_list": as_alice.get("/api/groups"),
        "artifacts_list": as_alice.get("/api/artifacts"),
        "artifacts_read": as_alice.get(f"/api/artifacts/{table}"),
        "artifact_versions_read": as_alice.get(f"/api/artifacts/{table}/versions/1"),
        "me_read": as_alice.get("/api/me"),
        "me_change": as_alice.send("PATCH", "/api/me", {"plain_speak": True}),
        "models_read": as_ada.get("/api/ops/models"),
        "tokens_create": as_alice.post("/api/tokens", {"name": "x"}),
        "tokens_list": as_alice.get("/api/tokens"),
    }
    for name, answer in answers.items():
        content = said[name]["responses"][str(answer.status_code)]["content"]
        schema = resolved(content["application/json"]["schema"])
        jsonschema.validate(answer.json(), schema)
    refused = as_alice.post("/api/agents", {"content": {}})
    jsonschema.validate(refused.json(), resolved({"$ref": "#/components/schemas/Problem"}))
