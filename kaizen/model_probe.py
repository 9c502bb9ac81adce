"""Asks a model server which models it has: the smallest request that proves address and key."""

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kaizen.embedded.failures import StartRefused

TIMEOUT_S = 10.0
ANSWER_BYTES = 1_048_576
SCHEMES = frozenset({"http", "https", "unix"})


@dataclass(frozen=True)
class Probe:
    """Where to ask. `shown` is the address without anything secret."""

    scheme: str
    host: str
    port: int | None
    path: str
    key: str = field(repr=False)

    @property
    def shown(self) -> str:
        if self.scheme == "unix":
            return f"unix://{self.path}"
        return f"{self.scheme}://{self.host}{f':{self.port}' if self.port else ''}{self.path}"


class SocketConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout_s: float = TIMEOUT_S) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def of(environment: Mapping[str, str]) -> Probe | None:
    """The configured server, or None while none is. Raises StartRefused for an unusable address."""
    text = environment.get("KAIZEN_MODEL_BASE_URL", "").strip()
    if not text:
        return None
    parts = urlsplit(text)
    if parts.scheme not in SCHEMES or not (parts.hostname or parts.scheme == "unix"):
        raise StartRefused(
            "KAIZEN_MODEL_BASE_URL is not an http, https or unix address.", "Correct it."
        )
    key = environment.get("KAIZEN_MODEL_API_KEY", "").strip()
    if parts.scheme == "unix":
        key = key or environment.get("KAIZEN_SECRET_LOCAL_MODEL", "").strip()
    return Probe(parts.scheme, parts.hostname or "", parts.port, parts.path.rstrip("/"), key)


def ask(probe: Probe) -> list[str]:
    """Names of the server's models. Raises OSError or ValueError when it gives no good answer."""
    link = _connection(probe)
    try:
        path = "/v1/models" if probe.scheme == "unix" else f"{probe.path}/models"
        link.request("GET", path, headers={"Authorization": f"Bearer {probe.key}"})
        answer = link.getresponse()
        body = answer.read(ANSWER_BYTES)
    except http.client.HTTPException as fault:
        raise OSError(f"no HTTP answer ({type(fault).__name__})") from fault
    finally:
        link.close()
    if answer.status in (401, 403):
        raise ValueError(f"the server refuses the key (status {answer.status})")
    if answer.status != 200:
        raise ValueError(f"status {answer.status} for {path}")
    listed = json.loads(body)
    if not isinstance(listed, dict) or not isinstance(listed.get("data"), list):
        raise ValueError("its list of models is not OpenAI-style")
    return [str(item.get("id")) for item in listed["data"] if isinstance(item, dict)]


def _connection(probe: Probe) -> http.client.HTTPConnection:
    if probe.scheme == "unix":
        return SocketConnection(probe.path)
    kind = http.client.HTTPSConnection if probe.scheme == "https" else http.client.HTTPConnection
    return kind(probe.host, probe.port, timeout=TIMEOUT_S)
