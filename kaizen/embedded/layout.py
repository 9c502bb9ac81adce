"""Where everything of one KAIZEN_HOME lies, and which account owns the services' part of it.

Started by root, the services run as an unprivileged account that often cannot enter root's own
folders. Their data then lies under /var/lib/kaizen/<name>; <name> comes from the home's path.
"""

import hashlib
import os
import pwd
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from kaizen.embedded import launching
from kaizen.embedded.failures import StartRefused, disk_full, from_os_error

# A Unix socket's address holds 107 bytes; the longest name put there is ".s.PGSQL.5432.lock".
SOCKET_FOLDER_BYTES = 88
FREE_SPACE_BYTES = 256 * 1024 * 1024
# `nobody` is left to sandboxed programs, which must never share the database's identity.
SERVICE_ACCOUNTS = ("daemon", "bin")
ROOT_STATE = Path("/var/lib/kaizen")


@dataclass(frozen=True)
class Account:
    """A named unprivileged user that services run as."""

    name: str
    uid: int
    gid: int


@dataclass(frozen=True)
class Layout:
    """Folders of one home. `account` is None where services run as the present user."""

    home: Path
    state: Path
    run: Path
    service_run: Path
    account: Account | None

    @property
    def postgres_data(self) -> Path:
        return self.state / "postgres"

    @property
    def postgres_draft(self) -> Path:
        """Where a data folder is made before it takes its name."""
        return self.state / "postgres.new"

    @property
    def valkey_data(self) -> Path:
        return self.state / "valkey"

    @property
    def programs(self) -> Path:
        """Copies of server programs, used where the account cannot execute the installed ones."""
        return self.state / "programs"

    @property
    def valkey_socket(self) -> Path:
        return self.service_run / "valkey.sock"

    @property
    def model_socket(self) -> Path:
        return self.run / "model.sock"


def locate(home: Path) -> Layout:
    """Where things of this home are, without making anything."""
    account = service_account()
    state = home
    if account is not None and home.exists() and not _reachable(home, account):
        state = ROOT_STATE / name_of(home)
    return Layout(
        home=home,
        state=state,
        run=_socket_folder(home, "run"),
        service_run=_socket_folder(state, "sockets"),
        account=account,
    )


def prepare(home: Path) -> Layout:
    """Make the folders of this home and say where they are. Safe to repeat.

    Raises StartRefused when the disk is full, a folder is not ours to use, or root has no account
    to give the services.
    """
    place = home
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        home.chmod(0o700 if os.geteuid() else 0o711)
        layout = locate(home)
        place = layout.state
        if layout.state != home:
            ROOT_STATE.mkdir(mode=0o711, parents=True, exist_ok=True)
            layout.state.mkdir(mode=0o711, exist_ok=True)
            (layout.state / "home").write_text(f"{home}\n")
        if shutil.disk_usage(layout.state).free < FREE_SPACE_BYTES:
            raise disk_full(layout.state)
        own(layout.run, None)
        for folder in (layout.valkey_data, layout.service_run):
            own(folder, layout.account)
    except OSError as fault:
        raise from_os_error(fault, place) from fault
    return layout


def service_account() -> Account | None:
    """The account for services when we are root; None for everybody else."""
    if os.geteuid() != 0:
        return None
    for name in SERVICE_ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(name, entry.pw_uid, entry.pw_gid)
    raise StartRefused(
        "PostgreSQL does not run as root, and this system has no account 'daemon' to run it as.",
        "Add one (useradd --system daemon), start Kaizen as an ordinary user,"
        " or set DATABASE_URL and REDIS_URL.",
    )


def name_of(home: Path) -> str:
    """A short name that stays with a home's path."""
    return hashlib.sha256(os.fsencode(home.resolve())).hexdigest()[:12]


def _reachable(home: Path, account: Account) -> bool:
    return launching.can_use(account.uid, account.gid, "-x", home)


def _socket_folder(parent: Path, name: str) -> Path:
    folder = parent / name
    if len(os.fsencode(folder)) <= SOCKET_FOLDER_BYTES:
        return folder
    return Path(tempfile.gettempdir()) / f"kaizen-{os.geteuid()}-{name_of(parent)}-{name}"


def own(folder: Path, account: Account | None) -> None:
    """A private folder of the account's; refused when somebody else put something in its place."""
    folder.mkdir(mode=0o700, exist_ok=True)
    uid = os.geteuid() if account is None else account.uid
    gid = os.getegid() if account is None else account.gid
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in (os.geteuid(), uid):
        raise StartRefused(
            f"{folder} belongs to somebody else.",
            "Remove it, or set KAIZEN_HOME to a folder of your own.",
        )
    if found.st_uid != uid:
        os.chown(folder, uid, gid)
    folder.chmod(0o700)
