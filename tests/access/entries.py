"""The table: what each route opens to whom. A route that is missing here fails the build.

`Probe` is one method of a route that names an object by id: the status its owner gets and the
body that is sent. Everybody else must find nothing, in the same bytes for an object of somebody
else, one that does not exist, and an id that cannot be one.
"""

from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True)
class Probe:
    """One call of the owner's that works. `form` is sent by pages, `body` as JSON."""

    status: int
    body: Any = None
    form: dict[str, str] | None = None
    accept: str = "application/json"
    query: str = ""


_CONTENT = {"name": "Ferry", "persona": "Help."}
_MESSAGE = {"kind": "message", "message": "hello"}
_INPUT = {"input_id": "00000000-0000-4000-8000-000000000000"}
_STEER = {"message": "hello", "turn_id": "00000000-0000-4000-8000-000000000000"}
_EDIT = {
    "base_version": 1,
    "tag": "0" * 16,
    "hunks": [{"op": "PUT", "first": 1, "last": 1, "lines": ["x"]}],
}
_DECISION = {"decision": "approve", "digest": "sha256:0"}

# Routes of the REST door that name objects, by method.
REST: Final[dict[str, dict[str, Probe]]] = {
    "api/tokens/<id:token_id>": {"DELETE": Probe(204)},
    "api/agents/<id:agent_id>": {
        "GET": Probe(200),
        "PUT": Probe(200, {"content": _CONTENT, "expected_version": 1}),
        "DELETE": Probe(204),
    },
    "api/agents/<id:agent_id>/duplicate": {"POST": Probe(201, {})},
    "api/agents/<id:agent_id>/restore": {"POST": Probe(200, {"version": 1, "expected_version": 1})},
    "api/agents/<id:agent_id>/rollback": {"POST": Probe(409, {"expected_version": 1})},
    "api/agents/<id:agent_id>/shares": {"GET": Probe(200), "PUT": Probe(200, {"shares": []})},
    "api/agents/<id:agent_id>/versions": {"GET": Probe(200)},
    "api/agents/<id:agent_id>/versions/<number:number>": {"GET": Probe(200)},
    "api/agents/<id:agent_id>/versions/<number:number>/diff/<number:other>": {"GET": Probe(200)},
    "api/approvals/<id:approval_id>": {"GET": Probe(200), "POST": Probe(409, _DECISION)},
    "api/approvals/<id:approval_id>/withdraw": {"POST": Probe(200)},
    "api/approvals/<id:approval_id>/answer": {"POST": Probe(409)},
    "api/artifacts/<id:artifact_id>": {
        "GET": Probe(200),
        "PUT": Probe(200, {"content": "06:50", "expected_version": 1}),
        "DELETE": Probe(204),
    },
    "api/artifacts/<id:artifact_id>/edits": {"POST": Probe(409, _EDIT)},
    "api/artifacts/<id:artifact_id>/restore": {
        "POST": Probe(200, {"version": 1, "expected_version": 1})
    },
    "api/artifacts/<id:artifact_id>/download": {
        "GET": Probe(200, accept="application/octet-stream")
    },
    "api/artifacts/<id:artifact_id>/versions": {"GET": Probe(200)},
    "api/artifacts/<id:artifact_id>/versions/<number:number>": {"GET": Probe(200)},
    "api/artifacts/<id:artifact_id>/versions/<number:number>/diff/<number:other>": {
        "GET": Probe(200)
    },
    "api/conversations/<id:conversation_id>": {"GET": Probe(200)},
    "api/conversations/<id:conversation_id>/events": {"GET": Probe(200)},
    "api/conversations/<id:conversation_id>/inputs": {"POST": Probe(202, _MESSAGE)},
    "api/conversations/<id:conversation_id>/inputs/<id:input_id>": {
        "PATCH": Probe(200, {"message": "hello"}),
        "DELETE": Probe(204),
    },
    "api/conversations/<id:conversation_id>/inputs/<id:input_id>/steer": {"POST": Probe(409)},
    "api/conversations/<id:conversation_id>/branch": {"POST": Probe(422, _INPUT)},
    "api/conversations/<id:conversation_id>/compact": {"POST": Probe(409)},
    "api/conversations/<id:conversation_id>/queue": {"GET": Probe(200)},
    "api/conversations/<id:conversation_id>/steer": {"POST": Probe(409, _STEER)},
    "api/conversations/<id:conversation_id>/steers/<id:steer_id>": {
        "PATCH": Probe(200, {"message": "hello"}),
        "DELETE": Probe(204),
    },
    "api/conversations/<id:conversation_id>/steers/<id:steer_id>/queue": {"POST": Probe(202)},
    "api/conversations/<id:conversation_id>/stop": {"POST": Probe(202)},
}
# Routes of the pages that name objects, by method.
PAGES: Final[dict[str, dict[str, Probe]]] = {
    "c/<uuid:conversation_id>": {"GET": Probe(200, accept="text/html")},
    "c/<uuid:conversation_id>/earlier": {"GET": Probe(200, query="?before=2")},
    "c/<uuid:conversation_id>/rename": {"POST": Probe(204, form={"title": "x"})},
    "c/<uuid:conversation_id>/read": {"POST": Probe(204, form={"position": "0"})},
    "c/<uuid:conversation_id>/delete": {"POST": Probe(204)},
    "c/<uuid:conversation_id>/restore": {"POST": Probe(404)},  # nothing of hers is deleted
    "c/<uuid:conversation_id>/pin": {"POST": Probe(204)},
    "c/<uuid:conversation_id>/unpin": {"POST": Probe(204)},
    "c/<uuid:conversation_id>/archive": {"POST": Probe(204)},
    "c/<uuid:conversation_id>/unarchive": {"POST": Probe(204)},
    "artifacts/<uuid:artifact_id>": {"GET": Probe(200, accept="text/html")},
    "agents/<uuid:agent_id>": {"GET": Probe(200, accept="text/html")},
    "agents/<uuid:agent_id>/try": {"GET": Probe(200, accept="text/html")},
    "agents/<uuid:agent_id>/versions": {"GET": Probe(200, accept="text/html")},
    "agents/<uuid:agent_id>/restore": {
        "POST": Probe(302, form={"version": "1", "expected_version": "1"}, accept="text/html")
    },
    "agents/<uuid:agent_id>/rollback": {
        "POST": Probe(302, form={"expected_version": "1"}, accept="text/html")
    },
    "agents/<uuid:agent_id>/duplicate": {"POST": Probe(302, form={}, accept="text/html")},
    "agents/<uuid:agent_id>/delete": {"POST": Probe(302, form={}, accept="text/html")},
    "artifacts/<uuid:artifact_id>/versions/<int:number>/preview": {
        "GET": Probe(200, accept="text/html")
    },
    "account/tokens/<uuid:token_id>/revoke": {"POST": Probe(302, accept="text/html")},
}
# Lists and single objects of the caller: no id in the address. Anonymous callers are turned away,
# and nobody's answer holds an object of somebody else.
ONES_OWN: Final[dict[str, frozenset[str]]] = {
    "api/tokens": frozenset({"GET", "POST"}),
    "api/agents": frozenset({"GET", "POST"}),
    "api/approvals": frozenset({"GET"}),
    "api/artifacts": frozenset({"GET", "POST"}),
    "api/conversations": frozenset({"GET", "POST"}),
    "api/groups": frozenset({"GET"}),
    "api/people": frozenset({"GET"}),
    "api/me": frozenset({"GET", "PATCH"}),
    "api/usage": frozenset({"GET"}),
    "": frozenset({"GET"}),
    "sidebar": frozenset({"GET"}),
    "search": frozenset({"GET"}),
    "conversations": frozenset({"GET"}),
    "archived": frozenset({"GET"}),
    "artifacts": frozenset({"GET"}),
    "agents": frozenset({"GET"}),
    "agents/new": frozenset({"GET"}),
    "ask": frozenset({"GET"}),
    "limits": frozenset({"GET"}),
    "inbox": frozenset({"GET"}),
    "inbox/items": frozenset({"GET"}),
    "usage": frozenset({"GET"}),
    "account": frozenset({"GET", "POST"}),
    "account/preferences": frozenset({"POST"}),
    "account/tokens": frozenset({"POST"}),
}
# For administrators; to everybody else the address looks missing.
ADMINISTRATORS: Final[dict[str, frozenset[str]]] = {
    "api/ops/models": frozenset({"GET"}),
    "api/ops/models/chat": frozenset({"PUT"}),
    "api/ops/models/embedding": frozenset({"PUT"}),
}
# Open to everybody, with the reason.
OPEN: Final[dict[str, str]] = {
    "healthz": "says only that the process lives",
    "readyz": "says only which of its needs are met",
    "metrics": "counts, for a token or this machine (tests/api/test_health.py)",
    "api/openapi.json": "describes the interface and holds nothing of anybody",
    "api/^(?P<path>.+)/$": "sends readers to the path without the slash",
    "sign-in": "how people come in",
    "sign-out": "ends whatever session there is",
    "offline": "what a browser shows without a server",
    "offline.js": "the code that shows it",
    "texts.js": "words of the interface",
}
# Sockets: the only ones there are.
SOCKETS: Final = ("ws/conversations/<uuid:conversation_id>", "")
# Models shown in the administration, and which roles open their pages.
ADMINISTRATION: Final[dict[str, frozenset[str]]] = {
    "admin/audit/auditevent/": frozenset({"administrator", "operator"}),
    "admin/audit/anchor/": frozenset({"administrator", "operator"}),
    "admin/auth/group/": frozenset({"administrator"}),
    "admin/boundary/familypolicy/": frozenset({"administrator", "operator"}),
    "admin/definitions/agent/": frozenset({"administrator"}),
    "admin/definitions/agentversion/": frozenset({"administrator"}),
    "admin/gateway/budget/": frozenset({"administrator", "operator"}),
    "admin/gateway/deployment/": frozenset({"administrator", "operator"}),
    "admin/gateway/modelcall/": frozenset({"administrator", "operator"}),
    "admin/gateway/modelrole/": frozenset({"administrator", "operator"}),
    "admin/members/member/": frozenset({"administrator"}),
}
