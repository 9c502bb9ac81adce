"""Proof that the server normalised exactly this content for exactly this call. Pure.

An attestation is an object of the process, made from a call's identity and an accepted envelope.
Nothing reads one from JSON, so no argument of a model can become one.
"""

from dataclasses import dataclass
from typing import Final, Self
from uuid import UUID

from artifacts.renderable.envelope import Envelope
from audit.reasons import Reason
from audit.refusals import Invalid

# The language every stored envelope has; nobody else may name it.
LANGUAGE: Final = "kamiwaza-renderable-artifact"


class Unattested(Invalid):
    """Renderable content that no trusted producer's call stands behind."""

    def __init__(self) -> None:
        super().__init__(
            [{"field": "kind", "reason": str(Reason.INVALID_FIELD)}],
            "The kind renderable is kept for the results of trusted tools; it cannot be written.",
        )


@dataclass(frozen=True)
class Attestation:
    """One envelope of one call; `write_id` tells apart what the same call keeps."""

    run_id: UUID
    write_id: str
    content: str

    @classmethod
    def of(cls, run_id: UUID, write_id: str, envelope: Envelope) -> Self:
        """Attest an accepted envelope for one write of a call."""
        return cls(run_id=run_id, write_id=write_id, content=envelope.text)

    def confirm(self, *, run_id: UUID | None, write_id: str, content: str, language: str) -> None:
        """Raise `Unattested` unless this is the call, the write and the content attested."""
        told = (run_id, write_id, content, language)
        if told != (self.run_id, self.write_id, self.content, LANGUAGE):
            raise Unattested()
