"""Planted secrets: if one of these ever shows in a sink, something leaks.

Put together here from parts, so that no file of the source holds one.
"""

from typing import Final

KEPT: Final = "canary-kept-" + "5f1c9d7b3a2e"  # without any shape: known by its place alone

CANARIES: Final[dict[str, str]] = {
    "environment: a deployment's key": KEPT,
    "header: a bearer token": "kz_" + "CanaryHeader0" * 3,
    "header: an API key": "sk-" + "CanaryApiKeyHeader" * 2,
    "cookie: a session": "canarysession" + "0a1b2c3d4e5f6a7b8c9d",
    "cookie: another one": "sk-" + "CanaryTimeZoneCookie" * 2,
    "arguments of a call that runs": "ghp_" + "CanaryArgs0" * 4,
    "arguments of a call that is refused": "sk-" + "CanaryRefusedArgs" * 2,
    "result of a tool": "AKIA" + "CANARYRESULT0001",
    "private key in a result": "MIIEcanarycanarycanarykey",
    "words of a failing provider": "glpat-" + "CanaryProvider00" * 2,
    "signed URL in an answer": "canarysignature" + "0123456789abcdef",
    "signed URL that is asked for": "canaryquery" + "fedcba9876543210",
}
ENVIRONMENT: Final = {"KAIZEN_SECRET_CANARY": KEPT}


def found_in(text: str) -> list[str]:
    """Which canaries a text holds."""
    return [place for place, canary in CANARIES.items() if canary in text]
