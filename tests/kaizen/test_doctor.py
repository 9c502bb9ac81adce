"""`manage.py doctor` names what is missing, helps, and shows no secret."""

import os
import socket
from collections.abc import Callable

import pytest

from kaizen import doctor
from tests.kaizen.conftest import free_port

Visit = Callable[..., tuple[int, str]]


@pytest.fixture
def visit(capsys: pytest.CaptureFixture[str]) -> Visit:
    """Run doctor in this test's environment with some variables changed."""

    def run(**changed: str) -> tuple[int, str]:
        changed.setdefault("PORT", free_port())
        code = doctor.main({**os.environ, **changed})
        return code, capsys.readouterr().out

    return run


def test_it_finds_a_working_machine_in_order(visit: Visit) -> None:
    code, said = visit()
    assert "the runtime role kz_app owns nothing" in said
    assert "MEND" not in said
    assert code == 0


def test_it_names_a_database_that_does_not_answer(visit: Visit) -> None:
    code, said = visit(DATABASE_URL=f"postgresql://kz:very-secret@127.0.0.1:{free_port()}/kaizen")
    assert code == 1
    assert "MEND  database   not reachable" in said
    assert "correct DATABASE_URL" in said
    assert "very-secret" not in said


def test_it_names_a_runtime_role_that_owns_the_tables(visit: Visit) -> None:
    code, said = visit(DATABASE_URL=os.environ["DATABASE_OWNER_URL"])
    assert code == 1
    assert "MEND  roles      the runtime role kz_owner" in said
    assert "may create tables" in said


def test_it_names_a_broker_that_does_not_answer(visit: Visit) -> None:
    code, said = visit(REDIS_URL=f"redis://:very-secret@127.0.0.1:{free_port()}/0")
    assert code == 1
    assert "MEND  redis      not reachable" in said
    assert "very-secret" not in said


def test_it_names_a_model_server_that_does_not_answer(visit: Visit) -> None:
    address = f"http://127.0.0.1:{free_port()}/v1"
    code, said = visit(KAIZEN_MODEL_BASE_URL=address, KAIZEN_MODEL_API_KEY="very-secret-key")
    assert code == 1
    assert "MEND  model      does not answer" in said
    assert "very-secret-key" not in said


def test_it_names_a_taken_port(visit: Visit) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        code, said = visit(PORT=str(port), KAIZEN_BIND="127.0.0.1")
    assert code == 1
    assert f"MEND  port       Port {port} on 127.0.0.1 is taken" in said


def test_it_lists_secrets_by_name_only(visit: Visit) -> None:
    _, said = visit(KAIZEN_SECRET_EXAMPLE="very-secret-value")
    assert "KAIZEN_SECRET_EXAMPLE" in said
    assert "very-secret-value" not in said
