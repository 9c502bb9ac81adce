"""Shared ground of all tests: the real database in both roles, people, and the running stack.

`db` (pytest-django) rolls back; `committed_db` commits and cleans nothing up, so tests that use
it make data of their own. People get unique sign-in names, so both kinds can share a database.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.db import connections

from agents.members import accounts, roles
from agents.members.models import Member
from tests import canaries
from tests.requirements import Collector
from tests.stack import Stack

PASSWORD = "correct horse battery staple"
STACK = pytest.StashKey[Stack]()  # the running one, for those who must not start it

# A hash states its own rounds, so every process can check these; making one takes no second here.
PBKDF2PasswordHasher.iterations = 1_000


def pytest_configure(config: pytest.Config) -> None:
    """Collect which requirement rows the run shows."""
    config.pluginmanager.register(Collector(), "requirements")


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: Any) -> Iterator[None]:
    """Create and migrate the test database as the owner; everything else runs as the runtime
    role, so a privilege that is missing fails a test.
    """
    with django_db_blocker.unblock():
        owner, runtime = connections["owner"], connections["default"]
        original = runtime.settings_dict["NAME"]
        runtime.close()
        runtime.close_pool()
        name = owner.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        runtime.settings_dict["NAME"] = name
    yield
    with django_db_blocker.unblock():
        runtime.close()
        runtime.close_pool()
        runtime.settings_dict["NAME"] = original
        owner.creation.destroy_test_db(original, verbosity=0)


@pytest.fixture(autouse=True)
def strict_audit(settings: Any) -> None:
    """Unknown codes and free text in audit details raise instead of being recorded bounded."""
    settings.AUDIT_STRICT = True


@pytest.fixture
def committed_db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The database with real commits, for threads, processes and hooks after commit."""
    with django_db_blocker.unblock():
        yield
        connections["default"].close()


@pytest.fixture
def make_member() -> Callable[..., Member]:
    """Make a person: `make_member("alice")`, in the member role unless told otherwise."""

    def make(name: str, role: str = roles.MEMBER) -> Member:
        return accounts.create(
            actor="system:tests",
            username=f"{name}-{secrets.token_hex(4)}",
            password=PASSWORD,
            role=role,
            display_name=name.capitalize(),
        )

    return make


@pytest.fixture
def alice(make_member: Callable[..., Member]) -> Member:
    """A member who owns things."""
    return make_member("alice")


@pytest.fixture
def bob(make_member: Callable[..., Member]) -> Member:
    """A member with whom alice may share."""
    return make_member("bob")


@pytest.fixture
def charlie(make_member: Callable[..., Member]) -> Member:
    """A member who must see nothing of alice's."""
    return make_member("charlie")


@pytest.fixture
def ada(make_member: Callable[..., Member]) -> Member:
    """An administrator."""
    return make_member("ada", roles.ADMINISTRATOR)


@pytest.fixture
def otto(make_member: Callable[..., Member]) -> Member:
    """An operator."""
    return make_member("otto", roles.OPERATOR)


@pytest.fixture(scope="session")
def stack(
    pytestconfig: pytest.Config,
    django_db_setup: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Stack]:
    """Web, turn worker and scripted model as real processes on the test database."""
    with django_db_blocker.unblock():
        database = connections["default"].settings_dict
        running = Stack.for_database(database, redis_url=django_settings.REDIS_URL)
        running.environment |= canaries.ENVIRONMENT
        running.log = tmp_path_factory.mktemp("stack") / "log"
        running.start()
    pytestconfig.stash[STACK] = running
    yield running
    del pytestconfig.stash[STACK]
    running.stop()
    assert canaries.found_in(running.log.read_text(errors="replace")) == []


@pytest.fixture(scope="module")
def nobody_works(pytestconfig: pytest.Config) -> Iterator[None]:
    """Runs that the tests of a module commit stay where they are: a stack that earlier tests have
    started rests its worker meanwhile.
    """
    running = pytestconfig.stash.get(STACK, None)
    if running is None or "worker" not in running.processes:
        yield
        return
    running.kill("worker")
    yield
    running.start_worker()
