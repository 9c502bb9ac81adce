"""How audit rows hang together: which chain a row goes to, and the hash that ties it to the row
before.

Pure: values in, values out. One chain for everything would make every writer wait for every
other; sixteen keep the order provable and the waiting short.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from audit import canonical

CHAINS = 16  # fixed for ever: a row's id is sequence * 16 + chain


class HeadMissing(RuntimeError):
    """The head of a chain is gone: somebody tampered, and nothing may be done unrecorded."""


@dataclass(frozen=True)
class Row:
    """Everything an audit row says, in the order it is hashed. Absent texts are empty, never
    None.
    """

    chain: int
    sequence: int
    at: datetime
    action: str
    actor: str
    outcome: str
    reason: str
    subject_kind: str
    subject_id: str
    run_id: UUID | None
    details: Mapping[str, Any]


def chain_of(actor: str, run_id: UUID | None) -> int:
    """The chain a row prefers: by run where there is one, so that one person's many turns do not
    queue up.
    """
    key = str(run_id) if run_id else actor
    return hashlib.sha256(key.encode()).digest()[0] % CHAINS


def first_hash(chain: int) -> str:
    """What the first row of a chain hangs on."""
    return hashlib.sha256(f"kaizen audit chain {chain}".encode()).hexdigest()


def row_hash(previous_hash: str, row: Row) -> str:
    """64 hexadecimal digits over the previous hash and the canonical row."""
    text = canonical.dump(
        {
            "chain": row.chain,
            "sequence": row.sequence,
            "at": row.at.astimezone(UTC).isoformat(timespec="microseconds"),
            "action": row.action,
            "actor": row.actor,
            "outcome": row.outcome,
            "reason": row.reason,
            "subject": [row.subject_kind, row.subject_id],
            "run_id": str(row.run_id) if row.run_id else "",
            "details": row.details,
        }
    )
    return hashlib.sha256(f"{previous_hash}\n{text}".encode()).hexdigest()


def row_id(chain: int, sequence: int) -> int:
    """The primary key of a place."""
    return sequence * CHAINS + chain
