"""Renderable envelopes as trusted producers make them: ferry times of a harbour."""

import json
import secrets
from typing import Any
from uuid import uuid4

from agents.members.models import Member
from artifacts import outputs
from artifacts.models import ArtifactVersion
from tools.boundary.contract import ArtifactOutput, RunIdentity
from tools.effects import claims

Json = dict[str, Any]

COLUMNS: list[Json] = [
    {"key": "ship", "label": "Ship", "type": "text"},
    {"key": "leaves", "label": "Leaves", "type": "datetime"},
    {"key": "cars", "label": "Cars", "type": "number"},
    {"key": "on_time", "label": "On time", "type": "boolean"},
    {"key": "day", "label": "Day", "type": "date"},
    {"key": "note", "label": "Note"},
]
ROWS: list[Json] = [
    {"ship": "Otter", "leaves": "2026-03-01T08:00:00+01:00", "cars": 12, "on_time": True},
    {"ship": "alba", "leaves": "2026-03-01T06:30:00Z", "cars": 2.5, "day": "2026-03-01"},
    {"ship": "Berta", "leaves": None, "cars": 100, "on_time": False, "note": "in dock"},
]


def ferries(**changes: Any) -> Json:
    """A complete envelope with a table; `changes` replace its top-level parts."""
    whole: Json = {
        "schema_version": 1,
        "renderer": {"type": "table"},
        "payload": {
            "type": "harbour.departures",
            "version": 2,
            "data": {"columns": COLUMNS, "rows": ROWS},
        },
        "text_fallback": "Three ferries.\nOtter leaves at 8.",
        "security": {"markings": {"banner": "INTERNAL", "rows": "INTERNAL // CREW"}},
        "provenance": {
            "cluster": "north",
            "dataset": "departures",
            "job": "job-17",
            "context": {"harbour": "Kiel", "query": {"day": "2026-03-01"}},
        },
        "download": {"filename": "departures.json"},
    }
    return json.loads(json.dumps({**whole, **changes}))  # type: ignore[no-any-return]  # a copy


def referring(**reference: Any) -> Json:
    """An envelope that names its result instead of holding it."""
    whole = {"id": "result-8f2", "content_digest": f"sha256:{'ab' * 32}", **reference}
    return ferries(payload={"type": "harbour.departures", "result_ref": whole})


def payload(data: Any, **changes: Any) -> Json:
    """An envelope with other data, which no table draws."""
    return ferries(
        renderer={"type": "harbour.map"}, payload={"type": "harbour.map", "data": data, **changes}
    )


def kept_for(member: Member, candidate: Json) -> ArtifactVersion:
    """The envelope as a run of the member has kept it."""
    run_id, queue = uuid4(), f"tests-{secrets.token_hex(6)}"
    claims.enqueue(run_id, lane=uuid4(), ordinal=1, queue=queue)
    (claim,) = claims.claim("tests", limit=1, lease_s=60, queue=queue)
    identity = RunIdentity(run_id, claim.fence, member.pk, uuid4(), uuid4(), 1)
    (frame,) = outputs.keep(identity, f"{run_id}:1:1", (ArtifactOutput(candidate),)).saved
    found = ArtifactVersion.objects.select_related("artifact")
    return found.get(artifact_id=frame.data["artifact_id"])  # type: ignore[no-any-return]  # rows
