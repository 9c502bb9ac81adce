"""Which deployment answers, the default from the environment, and changes to both."""

from collections.abc import Callable
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Exists, Q

from agents.gateway import addresses, certificates, secrets
from agents.gateway.connection import (
    USUAL,
    Connection,
    Lifecycle,
    Prices,
    Timeouts,
    TlsPolicy,
    ToolCalls,
)
from agents.gateway.models import Budget, Deployment, ModelRole, Role
from agents.journal.prepared import Asked, Marks, Prepared
from audit import funnel
from audit.reasons import Action, Outcome, Reason
from audit.refusals import FieldProblem, Invalid, NotFound, Refusal

CONFIGURED_NAME = "default"
TRIAL_NAME = "trial"
CONFIGURED_KEY = "KAIZEN_MODEL_API_KEY"
TRIAL_KEY = "KAIZEN_SECRET_LOCAL_MODEL"
# What the model that comes along can hold, and an answer length it stays sensible at.
TRIAL_CONTEXT_TOKENS = 8_192
TRIAL_ANSWER_TOKENS = 1_024
ENVIRONMENT_ACTOR = "system:environment"


def _answering(condition: Callable[[Marks], Q]) -> Prepared[Deployment]:
    """A question for one deployment that also says whether any budget exists, so that nobody has
    to ask that on the way to a first token.
    """
    names = [field.attname for field in Deployment._meta.concrete_fields]

    def build(row: tuple[Any, ...]) -> Deployment:
        deployment = Deployment.from_db(DEFAULT_DB_ALIAS, names, row[:-1])
        deployment.is_budgeted = bool(row[-1])
        return deployment

    return Prepared(
        build,
        lambda marks: (
            Deployment.objects.filter(condition(marks))
            .annotate(some_budget=Exists(Budget.objects.enabled()))
            .values_list(*names, "some_budget")
        ),
    )


PLAYING = _answering(lambda marks: Q(roles__role=marks.text("role")))
NAMED = _answering(lambda marks: Q(id=marks.uuid("id")))


def usual() -> Asked[Deployment]:
    """The deployment that plays the chat role."""
    return PLAYING.ask(role=Role.CHAT)


def answering() -> Deployment | None:
    """The deployment that would answer a chat now, None when nothing can."""
    try:
        return chat_deployment()
    except Refusal:
        return None


def can_answer(deployment_id: UUID) -> bool:
    """Whether a deployment that somebody named can answer, or has one that stands in for it."""
    return Deployment.objects.answering().filter(id=deployment_id).exists()


def chat_deployment(
    requested_id: UUID | None = None, *, usual: Asked[Deployment] | None = None
) -> Deployment:
    """The deployment that answers a chat: the requested one, else the one playing the role,
    which may have been asked for already.

    One that is switched off is stood in for by its fallback, where it has one that is enabled;
    nothing else ever answers instead. Raises `Refusal(MODEL_UNAVAILABLE)` when nothing can.
    """
    if requested_id is not None:
        deployment = NAMED.first(id=requested_id)
    else:
        deployment = (usual or PLAYING.ask(role=Role.CHAT)).first()
    if deployment is not None and not deployment.enabled and deployment.fallback_id is not None:
        deployment = NAMED.first(id=deployment.fallback_id)
    if deployment is None or not deployment.enabled:
        raise Refusal(Reason.MODEL_UNAVAILABLE, "No model is connected that can answer.")
    return deployment


def connection(deployment: Deployment, *, effort: str | None = None) -> Connection:
    """The deployment resolved for a call: address, secret, certificates, limits and prices.

    `effort` is what the person or the agent wishes for; where the server knows no effort it is
    left out. Raises `Refusal` as `secrets` and `certificates` do.
    """
    url, unix_socket = addresses.completions(deployment.base_url)
    wished = effort or deployment.default_effort or None
    return Connection(
        deployment_id=deployment.id,
        url=url,
        unix_socket=unix_socket,
        model=deployment.model,
        key=secrets.resolve(deployment),
        tool_calls=cast("ToolCalls", deployment.tool_calls),
        inline_think_tags=deployment.inline_think_tags,
        reasoning_starts_open=deployment.reasoning_starts_open,
        takes_effort=deployment.takes_effort,
        effort=wished if deployment.takes_effort else None,
        max_output_tokens=deployment.max_output_tokens,
        context_window=deployment.context_window,
        turn_tokens=deployment.turn_tokens,
        is_budgeted=deployment.is_budgeted,
        prices=Prices(deployment.input_price, deployment.cached_price, deployment.output_price),
        tls=TlsPolicy(deployment.tls_verify, certificates.file(deployment.ca_bundle)),
        timeouts=_timeouts(deployment),
    )


def lifecycle(deployment: Deployment) -> Lifecycle:
    """How the deployment's streams are kept; it travels beside the connection."""
    return Lifecycle(
        idle_s=float(deployment.idle_s or USUAL.idle_s),
        total_s=float(deployment.total_s or USUAL.total_s),
    )


def _timeouts(deployment: Deployment) -> Timeouts:
    usual = Timeouts()
    return Timeouts(
        connect_s=float(deployment.connect_s or usual.connect_s),
        first_byte_s=float(deployment.first_byte_s or usual.first_byte_s),
    )


@transaction.atomic
def save(
    *, actor: str, deployment: Deployment, secret_entered: bool, using: str = "default"
) -> None:
    """Store a new or changed deployment, with an audit row.

    `secret_entered` says that a person chose `secret_ref` now and for this address. Otherwise a
    reference survives only while the address keeps the origin it was entered for. Raises
    `Invalid` for values the model does not allow.
    """
    before = Deployment.objects.select_for_update().filter(id=deployment.id).first()
    try:
        deployment.clean_fields()
        if secret_entered:
            deployment.bind_secret(deployment.secret_ref)
        elif addresses.origin(deployment.base_url) != deployment.secret_origin:
            deployment.bind_secret("")
        deployment.full_clean()
    except ValidationError as error:
        raise Invalid(_problems(error)) from error
    deployment.save()
    funnel.record(
        action=Action.DEPLOYMENT_CHANGED if before else Action.DEPLOYMENT_CREATED,
        actor=actor,
        outcome=Outcome.SUCCESS,
        subject=("deployment", str(deployment.id)),
        details={"changed": _changed(before, deployment)},
    )


@transaction.atomic
def assign_role(*, actor: str, role: Role, deployment_id: UUID) -> ModelRole:
    """Let an enabled deployment play a role. Raises `NotFound` for any other id."""
    deployment = Deployment.objects.enabled().filter(id=deployment_id).first()
    if deployment is None:
        raise NotFound
    row, _ = ModelRole.objects.update_or_create(role=role, defaults={"deployment": deployment})
    funnel.record(
        action=Action.MODEL_ROLE_CHANGED,
        actor=actor,
        outcome=Outcome.SUCCESS,
        subject=("deployment", str(deployment.id)),
        details={"role": str(role)},
    )
    return row


@transaction.atomic
def ensure_default() -> Deployment | None:
    """Bring the default deployment in line with the environment; None when it names none.

    A `unix:` address is the trial model that comes along. Whoever plays the chat role keeps it,
    except that a configured model takes it over from the trial model, and either takes it over
    from a deployment that is disabled. Safe to repeat. Raises `Invalid` for an unusable address.
    """
    base_url = settings.MODEL_BASE_URL.rstrip("/")
    if not base_url:
        return None
    is_trial = base_url.startswith("unix:")
    name = TRIAL_NAME if is_trial else CONFIGURED_NAME
    deployment = Deployment.objects.filter(name=name).first() or _new(name, is_trial)
    key = TRIAL_KEY if is_trial else CONFIGURED_KEY
    secret_ref = key if key in settings.SECRETS else ""
    model = settings.MODEL_NAME or "default"
    if deployment.model != model:  # another model has other abilities
        deployment.tool_calls = settings.MODEL_TOOL_CALLS
    wanted = (base_url, model, secret_ref, True)
    held = (deployment.base_url, deployment.model, deployment.secret_ref, deployment.enabled)
    if wanted != held:
        deployment.base_url, deployment.model, deployment.secret_ref, deployment.enabled = wanted
        save(actor=ENVIRONMENT_ACTOR, deployment=deployment, secret_entered=True)
    _take_chat_role(deployment)
    return deployment


def _new(name: str, is_trial: bool) -> Deployment:
    if not is_trial:
        return Deployment(name=name)
    return Deployment(
        name=name,
        is_trial=True,
        context_window=TRIAL_CONTEXT_TOKENS,
        max_output_tokens=TRIAL_ANSWER_TOKENS,
    )


def _take_chat_role(deployment: Deployment) -> None:
    playing = ModelRole.objects.answering(Role.CHAT).first()
    if playing is None or (playing.deployment.is_trial and not deployment.is_trial):
        assign_role(actor=ENVIRONMENT_ACTOR, role=Role.CHAT, deployment_id=deployment.id)


def _changed(before: Deployment | None, after: Deployment) -> list[str]:
    """Names of the fields that differ; values stay out of the audit."""
    fields = [field.attname for field in Deployment._meta.concrete_fields]
    return [name for name in fields if before and getattr(before, name) != getattr(after, name)]


def _problems(error: ValidationError) -> list[FieldProblem]:
    fields = error.message_dict if hasattr(error, "error_dict") else {"deployment": []}
    return [{"field": name, "reason": str(Reason.INVALID_FIELD)} for name in fields]
