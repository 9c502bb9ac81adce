"""Celery is configured so that its messages are hints: never lost silently, never code."""

from uuid import uuid4

import pytest
import redis
from django.conf import settings

from kaizen import celery
from tests.patience import promised


@pytest.mark.parametrize(
    ("given", "spelled"),
    [
        ("redis://:pw@host:6379/2", "redis://:pw@host:6379/2"),
        ("unix://:pw@/run/valkey.sock?db=0", "redis+socket://:pw@/run/valkey.sock?virtual_host=0"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
    ],
)
def test_it_spells_the_broker_for_celery(given: str, spelled: str) -> None:
    assert celery.broker_url(given) == spelled


def test_a_message_reaches_its_own_queue_only() -> None:
    broker = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=promised(5))
    before = {queue: broker.llen(queue) for queue in celery.QUEUES}
    name = f"tests.nobody-does-this-{uuid4()}"
    celery.app.send_task(name, queue=celery.MAINTENANCE)
    after = {queue: broker.llen(queue) - before[queue] for queue in celery.QUEUES}
    for message in broker.lrange(celery.MAINTENANCE, 0, -1):
        if name.encode() in message:
            broker.lrem(celery.MAINTENANCE, 1, message)
    assert after == {"tasks": 0, "validation": 0, "maintenance": 1}


def test_a_misspelt_queue_fails_instead_of_holding_work() -> None:
    with pytest.raises(Exception, match="maintenence"):
        celery.app.send_task("audit.anchor", queue="maintenence")


def test_every_tick_names_a_job_that_exists_and_a_queue_that_is_worked() -> None:
    celery.app.loader.import_default_modules()
    assert celery.BEAT
    for entry in celery.BEAT.values():
        assert entry["task"] in celery.app.tasks
        assert entry["options"]["queue"] in celery.QUEUES
        assert entry["options"]["expires"] <= entry["schedule"]


def test_nothing_is_lost_with_a_worker_and_nothing_but_json_is_read() -> None:
    conf = celery.app.conf
    assert conf.accept_content == ["json"]
    assert conf.task_acks_late
    assert conf.task_reject_on_worker_lost
    assert conf.task_ignore_result
    assert conf.result_backend is None
    assert conf.task_soft_time_limit < conf.task_time_limit
    assert conf.task_time_limit < conf.broker_transport_options["visibility_timeout"]
