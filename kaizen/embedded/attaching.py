"""Commands in a second terminal reach the embedded services of a running `make run`."""

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from kaizen.embedded import addresses
from kaizen.embedded.credentials import FILE_NAME, load
from kaizen.embedded.layout import locate

CHECKOUT = Path(__file__).resolve().parents[2]
ADDRESS_NAMES = ("DATABASE_URL", "REDIS_URL")


def home_of(environment: Mapping[str, str]) -> Path:
    """KAIZEN_HOME, by default `.kaizen` in the checkout."""
    named = environment.get("KAIZEN_HOME", "").strip()
    return Path(named).expanduser().resolve() if named else CHECKOUT / ".kaizen"


def attach(environment: MutableMapping[str, str]) -> bool:
    """Fill in the addresses and keys of the home's embedded services where the environment is
    silent; answer whether that was done.

    Does nothing before the first `make run`, for another user's home, and in the production
    profile: there a missing address must stop the start.
    """
    home = home_of(environment)
    if environment.get("KAIZEN_PROFILE", "local").strip() != "local":
        return False
    if all(environment.get(name, "").strip() for name in ADDRESS_NAMES):
        return False
    if not os.access(home / FILE_NAME, os.R_OK):
        return False
    credentials = load(home)
    known = addresses.environment(locate(home), credentials, owner=True)
    if environment.get("DATABASE_URL", "").strip():
        del known["DATABASE_URL"], known["DATABASE_OWNER_URL"]
    known |= {"DJANGO_SECRET_KEY": credentials.django, "KAIZEN_PROFILE": "local"}
    for name, value in known.items():
        if not environment.get(name, "").strip():
            environment[name] = value
    return True
