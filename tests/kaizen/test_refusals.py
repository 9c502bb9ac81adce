"""What refuses a start: said in words with a remedy, exit code 1, no stack trace."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kaizen.embedded import layout, postgres
from kaizen.embedded.attaching import attach
from kaizen.embedded.credentials import FILE_NAME, load_or_create
from kaizen.embedded.failures import StartRefused
from tests.kaizen.conftest import free_port
from tests.kaizen.running import Kaizen


def refused(tmp_path: Path, home: Path, **extra: str) -> str:
    """Start, see it refuse with exit code 1 and without a stack trace; answer its words."""
    extra.setdefault("PORT", free_port())
    with Kaizen(home, tmp_path / "log", **extra) as kaizen:
        assert kaizen.wait_for_end() == 1
        assert "Traceback" not in kaizen.words()
        return kaizen.words()


@pytest.fixture
def own_home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(autouse=True)
def swept_home(own_home: Path) -> object:
    yield
    state = layout.locate(own_home).state
    if state != own_home:
        shutil.rmtree(state, ignore_errors=True)


def test_it_refuses_a_data_folder_of_another_postgresql(tmp_path: Path, own_home: Path) -> None:
    data = layout.prepare(own_home).postgres_data
    data.mkdir()
    (data / "PG_VERSION").write_text("17\n")
    words = refused(tmp_path, own_home)
    assert "was made by PostgreSQL 17; this Kaizen brings PostgreSQL 18" in words
    assert "pg_dumpall" in words


def test_it_refuses_a_folder_that_is_no_database(tmp_path: Path, own_home: Path) -> None:
    layout.prepare(own_home).postgres_data.mkdir()
    assert "is not a PostgreSQL data folder" in refused(tmp_path, own_home)


def test_it_makes_a_first_start_anew_that_was_cut_off(own_home: Path) -> None:
    places = layout.prepare(own_home)
    places.postgres_draft.mkdir()
    (places.postgres_draft / "PG_VERSION").write_text("18\n")
    assert postgres.initialise(places, load_or_create(own_home)) is True
    assert not places.postgres_draft.exists()
    assert (places.postgres_data / "global" / "pg_control").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_it_refuses_a_full_disk(tmp_path: Path, own_home: Path) -> None:
    own_home.mkdir(mode=0o711)
    for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
        folder.chmod(folder.stat().st_mode | 0o011)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", own_home], check=True)
    try:
        words = refused(tmp_path, own_home)
    finally:
        subprocess.run(["umount", own_home], check=True)
    assert f"The disk that holds {own_home} is full." in words
    assert "Free some space" in words


def test_it_refuses_a_database_nobody_answers_for(tmp_path: Path, own_home: Path) -> None:
    words = refused(
        tmp_path,
        own_home,
        DATABASE_URL=f"postgresql://kz:very-secret@127.0.0.1:{free_port()}/kaizen",
        REDIS_URL=f"redis://127.0.0.1:{free_port()}/0",
        KAIZEN_MODEL_BASE_URL="http://127.0.0.1:9/v1",
    )
    assert "The database does not work" in words
    assert "DATABASE_URL" in words
    assert "very-secret" not in words


def test_it_refuses_a_redis_nobody_answers_for(tmp_path: Path, own_home: Path) -> None:
    words = refused(
        tmp_path,
        own_home,
        REDIS_URL=f"redis://:very-secret@127.0.0.1:{free_port()}/0",
        KAIZEN_MODEL_BASE_URL="http://127.0.0.1:9/v1",
    )
    assert "Redis does not answer" in words
    assert "REDIS_URL" in words
    assert "very-secret" not in words


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"PORT": "eighty"}, "PORT is 'eighty'."),
        ({"PORT": "70000"}, "PORT is '70000'."),
        ({"KAIZEN_BIND": "no.such.place.invalid"}, "names no address"),
        ({"KAIZEN_BIND": "203.0.113.7"}, "is not an address of this machine"),
        ({"KAIZEN_LOCAL_MODEL": "/no/such/model.gguf"}, "cannot be read"),
        ({"KAIZEN_LOCAL_MODEL": "/etc/passwd"}, "is not a GGUF file"),
    ],
)
def test_it_refuses_values_that_make_no_sense(
    tmp_path: Path, own_home: Path, extra: dict[str, str], said: str
) -> None:
    assert said in refused(tmp_path, own_home, **extra)


def test_a_damaged_credentials_file_is_named_and_never_overwritten(own_home: Path) -> None:
    layout.prepare(own_home)
    load_or_create(own_home)
    (own_home / FILE_NAME).write_text("{")
    with pytest.raises(StartRefused, match=FILE_NAME):
        load_or_create(own_home)
    assert (own_home / FILE_NAME).read_text() == "{"


def test_sockets_of_a_deep_home_have_short_paths(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 90)
    found = layout.locate(deep)
    for folder in (found.run, found.service_run):
        assert len(os.fsencode(folder)) <= layout.SOCKET_FOLDER_BYTES


def test_a_second_terminal_attaches_in_the_local_profile_only(own_home: Path) -> None:
    layout.prepare(own_home)
    load_or_create(own_home)
    local = {"KAIZEN_HOME": str(own_home)}
    assert attach(local) is True
    assert local["DATABASE_URL"].startswith("postgresql://kz_app:")
    production = {"KAIZEN_HOME": str(own_home), "KAIZEN_PROFILE": "production"}
    assert attach(production) is False
    assert "DATABASE_URL" not in production
    external = {"KAIZEN_HOME": str(own_home), "DATABASE_URL": "postgresql://me@db/kaizen"}
    attach(external)
    assert external["DATABASE_URL"] == "postgresql://me@db/kaizen"
    assert "DATABASE_OWNER_URL" not in external


@pytest.mark.req("CFG-003")
def test_it_refuses_a_flag_that_is_neither_on_nor_off(tmp_path: Path, own_home: Path) -> None:
    words = refused(
        tmp_path,
        own_home,
        AGENT_STUDIO_ENABLED="maybe",
        DATABASE_URL="postgresql://kz@127.0.0.1/kaizen",
        REDIS_URL="redis://127.0.0.1/0",
        KAIZEN_MODEL_BASE_URL="http://127.0.0.1:9/v1",
    )
    assert "AGENT_STUDIO_ENABLED: must be one of" in words
