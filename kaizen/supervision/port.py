"""The port Kaizen listens on, bound before anything else starts."""

import errno
import os
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kaizen.embedded.failures import StartRefused

DEFAULT_PORT = 8000
DEFAULT_BIND = "127.0.0.1"
BACKLOG = 1024
LISTEN_STATE = "0A"


@dataclass(frozen=True)
class Address:
    """Where the web process listens."""

    bind: str
    port: int

    @property
    def reachable_host(self) -> str:
        """The host under which this machine reaches itself."""
        if self.bind in {"0.0.0.0", "::", ""}:
            return "127.0.0.1"
        return self.bind

    @property
    def url(self) -> str:
        """The address for a person's browser on this machine."""
        host = self.reachable_host
        if host in {"127.0.0.1", "::1"}:
            host = "localhost"
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}"


def address(environment: Mapping[str, str]) -> Address:
    """KAIZEN_BIND and PORT, checked. Raises StartRefused."""
    text = environment.get("PORT", "").strip() or str(DEFAULT_PORT)
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65_535:
        raise StartRefused(f"PORT is {text!r}.", "It must be a whole number from 1 to 65535.")
    return Address(environment.get("KAIZEN_BIND", "").strip() or DEFAULT_BIND, int(text))


def listen(where: Address) -> socket.socket:
    """A listening socket. Raises StartRefused with what to do when it cannot be had."""
    try:
        found = socket.getaddrinfo(
            where.bind, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except socket.gaierror as fault:
        raise StartRefused(
            f"KAIZEN_BIND is {where.bind!r}, which names no address.",
            "Use 127.0.0.1 for this machine only, 0.0.0.0 for all its addresses, or one of them.",
        ) from fault
    family, kind, protocol, _name, place = found[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(place)
        listener.listen(BACKLOG)
    except OSError as fault:
        listener.close()
        raise _refusal(where, fault) from fault
    return listener


def _refusal(where: Address, fault: OSError) -> StartRefused:
    if fault.errno == errno.EADDRINUSE:
        return StartRefused(
            f"Port {where.port} on {where.bind} is taken{_holder(where.port)}.",
            f"Stop what listens there, or choose another port: PORT={where.port + 1} make run",
        )
    if fault.errno == errno.EACCES:
        return StartRefused(
            f"This user may not listen on port {where.port}.",
            "Choose a port from 1024 up: PORT=8000 make run",
        )
    if fault.errno == errno.EADDRNOTAVAIL:
        return StartRefused(
            f"KAIZEN_BIND is {where.bind}, which is not an address of this machine.",
            "Use 127.0.0.1 for this machine only, or 0.0.0.0 for all its addresses.",
        )
    return StartRefused(
        f"Cannot listen on {where.bind} port {where.port}: {fault.strerror}.",
        "Set PORT and KAIZEN_BIND to an address and port that are free.",
    )


def _holder(port: int) -> str:
    """` by NAME (process N)` where the system lets us see it."""
    sockets = _listening_sockets(port)
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and sockets & _open_sockets(folder):
            try:
                name = (folder / "comm").read_text().strip()
            except OSError:
                continue
            return f" by {name} (process {folder.name})"
    return ""


def _listening_sockets(port: int) -> set[str]:
    inodes: set[str] = set()
    for table in ("tcp", "tcp6"):
        try:
            rows = Path("/proc/net", table).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if fields[3] == LISTEN_STATE and int(fields[1].rsplit(":", 1)[1], 16) == port:
                inodes.add(fields[9])
    return inodes


def _open_sockets(process: Path) -> set[str]:
    try:
        targets = [os.readlink(entry) for entry in (process / "fd").iterdir()]
    except OSError:
        return set()
    return {match[1] for target in targets if (match := re.fullmatch(r"socket:\[(\d+)\]", target))}
