"""What a turn's tool calls did, as far as its closing words depend on it.

Fed with each call as it settles, and by a worker that takes the run over with what was journaled.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from agents.journal.frames import Kind
from agents.journal.models import Entry
from audit.reasons import Reason
from tools.boundary.contract import ToolDescriptor, ToolKind, ToolOutcome

Json = dict[str, Any]

SAVING: Final = frozenset({str(Kind.ARTIFACT_SAVED), str(Kind.FILE_SAVED)})
FAILED: Final = frozenset({"error", "timeout", "denied"})


@dataclass(frozen=True)
class Action:
    """One settled call. `told` is what its card says, `payload` what the model read.

    `targets` are the files it said it would write; `is_repeat` that one of them, or the artifact
    it names, had been kept earlier in the turn; `is_unknown` that nobody knows whether it was
    done.
    """

    label: str
    outcome: str
    is_write: bool
    told: str = ""
    payload: Json = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    is_repeat: bool = False
    is_unknown: bool = False

    @property
    def is_failed_write(self) -> bool:
        """Whether something was to be changed and was not."""
        return self.is_write and self.outcome in FAILED


@dataclass(frozen=True)
class Saved:
    """Something durable the turn made: its name with its ending, and its id."""

    name: str
    id: str = ""
    media_type: str = ""


class Actions:
    """The last action of a turn and everything the turn kept, in order."""

    def __init__(self) -> None:
        self.last: Action | None = None
        self.saved: list[Saved] = []

    def steered(self) -> None:
        """The member spoke: what comes now answers that, whatever had failed before."""
        self.last = None

    def note(self, outcome: ToolOutcome, descriptor: ToolDescriptor | None) -> None:
        """A call settled."""
        arguments = outcome.call.arguments or {}
        field_name = descriptor.run_artifact_targets_field if descriptor else None
        self._add(
            label=descriptor.label if descriptor else outcome.call.name,
            outcome=outcome.outcome,
            is_write=descriptor is not None and descriptor.kind is ToolKind.WRITE,
            told=_message(outcome.member_view),
            is_unknown=outcome.ends_turn is Reason.AMBIGUOUS_WRITE,
            model_view=outcome.model_view,
            arguments=arguments,
            targets=_names(arguments.get(field_name)) if field_name else (),
        )
        for part in outcome.presentation:
            self._keep(part.kind, part.data)

    def replayed(self, entries: Iterable[Entry]) -> None:
        """The run's journal until now, in order."""
        started: dict[str, Entry] = {}
        for entry in entries:
            if entry.kind == Kind.TOOL_STARTED and not entry.hidden.get("excluded"):
                started[entry.data["call_id"]] = entry
            elif entry.kind == Kind.TOOL_ENDED and entry.data["call_id"] in started:
                self._replay(started[entry.data["call_id"]], entry)
            elif entry.kind == Kind.STEER_APPLIED:
                self.steered()
            self._keep(entry.kind, entry.data)

    def _replay(self, started: Entry, ended: Entry) -> None:
        arguments = _object(started.hidden.get("arguments", ""))
        self._add(
            label=started.data["label"],
            outcome=ended.data["outcome"],
            is_write=started.data.get("kind") == ToolKind.WRITE,
            told=_message(ended.data.get("result") or {}),
            is_unknown=ended.hidden.get("ends_turn") == Reason.AMBIGUOUS_WRITE,
            model_view=ended.hidden.get("model_view", ""),
            arguments=arguments,
            targets=(),
        )

    def _add(
        self, *, model_view: str, arguments: Json, targets: tuple[str, ...], **of: Any
    ) -> None:
        kept = {name for saved in self.saved for name in (saved.id, saved.name) if name}
        named = {*targets, *(value for value in arguments.values() if isinstance(value, str))}
        self.last = Action(
            payload=_object(model_view), targets=targets, is_repeat=bool(kept & named), **of
        )

    def _keep(self, kind: str, data: Json) -> None:
        if kind in SAVING:
            name = str(data.get("name") or data.get("title") or "")
            self.saved.append(
                Saved(name, str(data.get("artifact_id") or ""), str(data.get("media_type") or ""))
            )


def _object(text: str) -> Json:
    """A JSON object, empty for anything else."""
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _message(view: Json) -> str:
    message = view.get("message")
    return message if isinstance(message, str) else ""


def _names(value: Any) -> tuple[str, ...]:
    """File names a call declared: texts, or objects with a name."""
    items = value if isinstance(value, list) else [value]
    names = (item.get("name") if isinstance(item, dict) else item for item in items)
    return tuple(name for name in names if isinstance(name, str) and name)
