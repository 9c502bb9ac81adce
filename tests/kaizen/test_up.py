"""`make run` as a person meets it: first start, a child's death, refusals, stop, kill, again.

The tests of this file share one home and run in the order written: each is a day in its life.
"""

import json
import os
import re
import signal
import stat
import urllib.error
import urllib.request
from pathlib import Path

import psycopg
import pytest

from kaizen.embedded.addresses import environment as addresses_of
from kaizen.embedded.credentials import FILE_NAME, load
from kaizen.embedded.layout import locate
from tests.kaizen.conftest import free_port
from tests.kaizen.running import STOP_TIMEOUT_S, Kaizen, processes_of, wait_until_gone
from tests.patience import promised, until

pytestmark = pytest.mark.stack

ANSWER_S = promised(15)
PEOPLE = ["ada", "alice", "bob", "charlie", "otto"]


def status_of(port: str, path: str) -> int:
    """The status of an answer; 0 where none came in time."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=ANSWER_S) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code
    except OSError:
        return 0


def process_id(name: str, home: Path) -> int:
    """The process of a `manage.py` command in this home."""
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            words = (folder / "cmdline").read_bytes()
            surroundings = (folder / "environ").read_bytes()
        except OSError:
            continue
        if f"manage.py\0{name}".encode() in words and str(home).encode() in surroundings:
            return int(folder.name)
    raise AssertionError(f"no process {name}")


def test_it_starts_from_nothing_and_shows_how_to_sign_in(kaizen: Kaizen, port: str) -> None:
    assert sorted(kaizen.passwords()) == PEOPLE
    assert len(set(kaizen.passwords().values())) == len(PEOPLE)
    assert f"http://localhost:{port}" in kaizen.words()
    assert "small trial model" in kaizen.words()
    assert status_of(port, "/healthz") == 200
    assert status_of(port, "/readyz") == 200


def test_it_keeps_secrets_in_one_private_file_and_off_command_lines(
    kaizen: Kaizen, home: Path
) -> None:
    file = home / FILE_NAME
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    secrets = list(json.loads(file.read_text()).values())
    lines = processes_of(home)
    assert len(lines) >= 6
    assert [s for s in secrets if any(s in line for line in lines)] == []
    assert [s for s in secrets if s in kaizen.words()] == []


def test_its_runtime_role_owns_nothing_and_creates_nothing(kaizen: Kaizen, home: Path) -> None:
    urls = addresses_of(locate(home), load(home), owner=True)
    with psycopg.connect(urls["DATABASE_URL"], autocommit=True) as runtime:
        owned = runtime.execute(
            "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
        ).fetchone()
        assert owned == (0,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            runtime.execute("CREATE TABLE mine (id int)")
    with psycopg.connect(urls["DATABASE_OWNER_URL"]) as owner:
        row = owner.execute(
            "SELECT rolsuper, rolcreaterole, rolcreatedb,"
            " (SELECT datdba = pg_roles.oid FROM pg_database WHERE datname = current_database())"
            " FROM pg_roles WHERE rolname = current_user"
        ).fetchone()
        assert row == (False, False, False, True)


def test_its_services_listen_on_no_port(kaizen: Kaizen, home: Path, port: str) -> None:
    listening = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and f"KAIZEN_HOME={home}" in _surroundings(folder):
            listening |= {os.readlink(entry) for entry in (folder / "fd").iterdir()}
    rows = Path("/proc/net/tcp").read_text().splitlines()[1:]
    ports = {
        int(row.split()[1].rsplit(":", 1)[1], 16)
        for row in rows
        if row.split()[3] == "0A" and f"socket:[{row.split()[9]}]" in listening
    }
    assert ports == {int(port)}


def _surroundings(folder: Path) -> str:
    try:
        return (folder / "environ").read_bytes().decode(errors="replace")
    except OSError:
        return ""


def test_it_starts_a_dead_child_again(kaizen: Kaizen, home: Path) -> None:
    killed = process_id("turns", home)
    os.kill(killed, signal.SIGKILL)
    kaizen.wait_for("turns ended (killed by SIGKILL)")
    until(lambda: process_id_or_none("turns", home) not in (None, killed), "a new worker")


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_it_starts_a_dead_server_again(kaizen: Kaizen, home: Path, port: str, name: str) -> None:
    os.kill(server_process(name, home), signal.SIGKILL)
    kaizen.wait_for(f"{name} ended (killed by SIGKILL)")
    until(lambda: status_of(port, "/readyz") == 200, "everything is ready again", 60)


def server_process(name: str, home: Path) -> int:
    """The main process of an embedded server: the one that works in its data folder as leader."""
    data = str(locate(home).state / name)
    for folder in Path("/proc").iterdir():
        try:
            place = os.readlink(folder / "cwd") if folder.name.isdigit() else ""
            parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[1] if place else ""
            if place == data and os.readlink(f"/proc/{parent}/cwd") != data:
                return int(folder.name)
        except OSError:
            continue
    raise AssertionError(f"no process {name}")


def process_id_or_none(name: str, home: Path) -> int | None:
    try:
        return process_id(name, home)
    except AssertionError:
        return None


def test_it_refuses_a_second_start_in_the_same_home(
    kaizen: Kaizen, home: Path, tmp_path: Path
) -> None:
    with Kaizen(home, tmp_path / "log", PORT=free_port()) as second:
        assert second.wait_for_end() == 1
        assert "Kaizen already runs with this home" in second.words()
        assert "Traceback" not in second.words()


def test_it_says_who_holds_a_taken_port_and_what_to_do(
    kaizen: Kaizen, port: str, tmp_path: Path
) -> None:
    with Kaizen(tmp_path / "other", tmp_path / "log", PORT=port) as second:
        assert second.wait_for_end() == 1
        assert re.search(rf"Port {port} on 127.0.0.1 is taken by \S+ \(process", second.words())
        assert f"PORT={int(port) + 1} make run" in second.words()
        assert "Traceback" not in second.words()


def test_it_stops_everything_on_ctrl_c(kaizen: Kaizen, home: Path) -> None:
    kaizen.process.send_signal(signal.SIGINT)
    assert kaizen.wait_for_end() == 0
    assert wait_until_gone(home, STOP_TIMEOUT_S) == []
    assert "stopped" in kaizen.words()
    assert "by force" not in kaizen.words()


def test_it_leaves_nothing_when_killed_and_starts_again(
    kaizen: Kaizen, home: Path, port: str, tmp_path: Path
) -> None:
    with Kaizen(home, tmp_path / "second.log", PORT=port) as second:
        took = second.wait_for("Kaizen is ready")
        print(f"second start took {took:.1f} s")
        assert second.passwords() == {}
        second.process.kill()
        second.process.wait()
        # The next start does not wait for us: it must bear an old server that is still ending.
        with Kaizen(home, tmp_path / "third.log", PORT=port) as third:
            third.wait_for("Kaizen is ready")
            third.process.kill()
            third.process.wait()
    assert wait_until_gone(home, STOP_TIMEOUT_S) == []
