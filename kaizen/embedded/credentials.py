"""Passwords and keys of one home: made once, kept in one file that its owner alone may read."""

import json
import os
import secrets
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from kaizen.embedded.failures import StartRefused, from_os_error

FILE_NAME = "credentials.json"
SECRET_BYTES = 32


@dataclass(frozen=True, repr=False)
class Credentials:
    """Every secret the local profile needs; URL-safe text, 256 bits each."""

    database_admin: str
    database_owner: str
    database_runtime: str
    broker: str
    local_model: str
    django: str


def load_or_create(home: Path) -> Credentials:
    """The home's secrets; written on the first call. Raises StartRefused on an unreadable file."""
    file = home / FILE_NAME
    if file.exists():
        return load(home)
    made = Credentials(
        **{field.name: secrets.token_urlsafe(SECRET_BYTES) for field in fields(Credentials)}
    )
    draft = file.with_suffix(".new")
    try:
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
            json.dump(asdict(made), out)
            out.flush()
            os.fsync(out.fileno())
        draft.rename(file)
    except OSError as fault:
        raise from_os_error(fault, home) from fault
    return made


def load(home: Path) -> Credentials:
    """The home's secrets. Raises StartRefused when the file is missing or not what we wrote."""
    file = home / FILE_NAME
    try:
        return Credentials(**json.loads(file.read_text()))
    except (OSError, ValueError, TypeError) as fault:
        raise StartRefused(
            f"The credentials in {file} cannot be read.",
            "Run as the user who owns them; if the file is damaged, restore it from a backup "
            "or move the whole folder away to begin with an empty database.",
        ) from fault
