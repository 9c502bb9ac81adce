"""The Celery application: work that nobody waits for in a conversation.

Messages are hints that carry ids. What is due, what is lost and how often something was tried is
decided by rows in PostgreSQL, so a repeated, late or lost message changes nothing.
"""

import os
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from celery import Celery  # type: ignore[import-untyped]  # ships no types
from django.conf import settings
from kombu.entity import Exchange, Queue

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kaizen.settings")

TASKS: Final = "tasks"
VALIDATION: Final = "validation"
MAINTENANCE: Final = "maintenance"
QUEUES: Final = (TASKS, VALIDATION, MAINTENANCE)

# A turn may take 900 s; the hard limit must stay below the visibility timeout.
SOFT_LIMIT_S: Final = 1_740
HARD_LIMIT_S: Final = 1_800
# Redelivery only helps out; leases are the clock of recovery.
VISIBILITY_TIMEOUT_S: Final = 2_400
RESTORE_INTERVAL_S: Final = 5


def broker_url(redis_url: str) -> str:
    """A REDIS_URL as Celery spells it; only the Unix-socket form differs."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    password = quote(unquote(parts.password or ""), safe="")
    query = f"?virtual_host={parts.query.removeprefix('db=') or '0'}"
    return f"redis+socket://{f':{password}@' if password else ''}{parts.path}{query}"


def _queues() -> list[Queue]:
    """Each with its own exchange and key: bound alike, every message would go to all of them."""
    return [
        Queue(name, Exchange(name), routing_key=name)  # type: ignore[no-untyped-call]  # untyped
        for name in QUEUES
    ]


def configuration() -> dict[str, Any]:
    """Every setting we rely on; the reasons stand beside those that are not plain."""
    transport = {
        "visibility_timeout": VISIBILITY_TIMEOUT_S,
        # By default the sweep for lost messages takes effect every 100 s.
        "unacked_restore_interval": RESTORE_INTERVAL_S,
        "unacked_restore_throttle": 1,
    }
    return {
        "broker_url": broker_url(settings.REDIS_URL),
        "broker_transport_options": transport,
        "broker_connection_retry_on_startup": True,
        "visibility_timeout": VISIBILITY_TIMEOUT_S,
        # Nothing but JSON: with pickle, writing to the broker would be running code.
        "accept_content": ["json"],
        "task_serializer": "json",
        "event_serializer": "json",
        "task_queues": _queues(),
        "task_default_queue": TASKS,
        # A misspelt queue must fail, not hold tasks for ever.
        "task_create_missing_queues": False,
        "task_acks_late": True,
        "task_reject_on_worker_lost": True,
        "task_soft_time_limit": SOFT_LIMIT_S,
        "task_time_limit": HARD_LIMIT_S,
        # The journal is the result.
        "task_ignore_result": True,
        "task_remote_tracebacks": False,
        "worker_prefetch_multiplier": 1,
        "worker_cancel_long_running_tasks_on_connection_loss": True,
        "worker_soft_shutdown_timeout": 30.0,
        "worker_enable_soft_shutdown_on_idle": True,
        "worker_max_tasks_per_child": 200,
        "worker_max_memory_per_child": 400_000,  # KiB
        "worker_hijack_root_logger": False,
        "worker_send_task_events": False,
        # In memory: what is due is in PostgreSQL, so ticks need no file of their own.
        "beat_scheduler": "celery.beat:Scheduler",
        "beat_schedule": BEAT,
        "timezone": "UTC",
        "enable_utc": True,
    }


# Ticks only: each names a thin job that asks PostgreSQL what is due. A tick nobody took within
# its interval is worth nothing.
BEAT: Final[dict[str, dict[str, Any]]] = {
    "anchor-audit": {
        "task": "audit.anchor",
        "schedule": 60.0,
        "options": {"queue": MAINTENANCE, "expires": 60.0},
    },
    # With a lease of 30 s, what a dead worker had reserved comes back within a minute.
    "release-budgets": {
        "task": "gateway.release_budgets",
        "schedule": 15.0,
        "options": {"queue": MAINTENANCE, "expires": 15.0},
    },
    "expire-questions": {
        "task": "turns.expire_questions",
        "schedule": 5.0,
        "options": {"queue": MAINTENANCE, "expires": 5.0},
    },
    "sweep-staged-artifacts": {
        "task": "artifacts.sweep_staged",
        "schedule": 60.0,
        "options": {"queue": MAINTENANCE, "expires": 60.0},
    },
    "forget-what-is-over": {
        "task": "members.forget_what_is_over",
        "schedule": 3_600.0,
        "options": {"queue": MAINTENANCE, "expires": 3_600.0},
    },
    "forget-kept-answers": {
        "task": "api.forget_kept_answers",
        "schedule": 3_600.0,
        "options": {"queue": MAINTENANCE, "expires": 3_600.0},
    },
}

app = Celery("kaizen")
app.config_from_object(configuration())
app.autodiscover_tasks(related_name="jobs")
