"""Rows that belong to people are reached through a question that takes the person."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import pytest

from tests.boundaries.source import Source, runtime_sources, sample

QUESTIONS = {"visible_to", "usable_by", "readable_by", "editable_by", "owned_by", "deleted_by"}
MANAGERS = {"objects", "_base_manager", "_default_manager"}

# Models of people's data that have no question of their own, and what keeps them safe.
WITHOUT_QUESTION = {
    "Member": "a person; read by sign-in, by the worker that acts for them, in the administration",
    "KeptAnswer": "an answer kept for a repeated request; found by member, route and key together",
    "SignInFailure": "failed sign-ins; read by the throttle, shown to nobody",
    "Stream": "head of a journal; its id is a conversation's, which is asked first",
    "Entry": "row of a journal; read by stream, and the conversation is asked first",
    "BudgetHold": "what a call has reserved of a budget; counts only, read by the ledger",
    "RunClaim": "lease of a run; holds ids only and is read by workers",
    "Reservation": "an effect's intent; holds ids and digests only and is read by workers",
}
# Reads outside a model's own package that need no question, by path and model.
UNASKED = {
    "agents/streaming/entrance.py Stream": "joined to conversations that were asked",
    "agents/conversations/search.py Entry": "limited to streams of conversations that were asked",
    "agents/web/sidebar.py Input": "inside a query over conversations that were asked",
    "agents/web/sidebar.py Stream": "inside a query over conversations that were asked",
    "agents/web/inbox.py Entry": "of runs whose approvals were asked",
    "agents/api/conversations.py Input": "of one conversation that was asked",
    "agents/turns/querysets.py Conversation": "the question follows on the next line",
    "tools/builtin/acting.py Member": "a tool loads the person it acts for and asks as them",
    "kaizen/management/commands/token.py Member": "whoever runs commands on the machine is trusted",
    "agents/api/authors.py Member": "names of who wrote versions that were asked",
    "artifacts/querysets.py RunClaim": "only whether a run has ended; for the sweep",
    "agents/web/agent_history.py Member": "names of who wrote versions that were asked",
    "agents/web/choosing.py AgentVersion": "inside a query over agents that were asked",
    "agents/web/choosing.py Conversation": "the mode of one conversation that was asked",
    "agents/conversations/inputs.py Agent": "the mode of a conversation's agent, which was asked",
    "agents/turns/facts.py Turn": "codes and counts for administrators and operators, no content",
    "agents/web/previews.py Member": "the holder of a signed pass, as whom the version is asked",
    "agents/turns/authority.py Member": "the worker loads the person it acts for and asks as them",
}


@dataclass(frozen=True)
class Model:
    """A model class as it is written: where, its relations, the queryset that answers."""

    name: str
    source: Source
    node: ast.ClassDef

    @property
    def fields(self) -> Iterator[tuple[str, ast.Call]]:
        for statement in self.node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
                yield ast.unparse(statement.targets[0]), statement.value

    @property
    def targets(self) -> set[str]:
        """Names of the models its foreign keys point at; `person` for the user model."""
        found = set()
        for _, value in self.fields:
            if ast.unparse(value.func).split(".")[-1] in {
                "ForeignKey",
                "OneToOneField",
                "ManyToManyField",
            }:
                target = ast.unparse(value.args[0]).strip("'\"")
                found.add(
                    "person" if target == "settings.AUTH_USER_MODEL" else target.split(".")[-1]
                )
        return found

    @property
    def queryset(self) -> str:
        return next(
            (
                ast.unparse(value.func).removesuffix(".as_manager")
                for name, value in self.fields
                if name == "objects"
            ),
            "",
        )


def models(sources: Iterable[Source]) -> list[Model]:
    return [
        Model(node.name, source, node)
        for source in sources
        if source.path.endswith("models.py")
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
        and any(
            ast.unparse(base) in {"models.Model", "AbstractUser", "AbstractBaseUser"}
            for base in node.bases
        )
    ]


def personal(sources: Iterable[Source]) -> list[Model]:
    """Models that hold people's data: they point at a person, or at a model that does."""
    every = [model for model in models(sources) if model.source.app != "audit"]
    known = set(WITHOUT_QUESTION)
    while True:
        more = {
            model.name for model in every if model.targets & (known | {"person", "Member"})
        } - known
        if not more:
            return [model for model in every if model.name in known]
        known |= more


def asking(sources: Iterable[Source]) -> set[str]:
    """Names of querysets that can be asked who may see a row."""
    return {
        node.name
        for source in sources
        for node in source.tree.body
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(item, ast.FunctionDef) and item.name == "visible_to" for item in node.body
        )
    }


def silent_model_faults(sources: Iterable[Source]) -> list[str]:
    answering = asking(sources)
    return [
        model.source.at(model.node, f"{model.name} holds people's data and has no visible_to")
        for model in personal(sources)
        if model.name not in WITHOUT_QUESTION and model.queryset not in answering
    ]


def unasked_faults(
    sources: Iterable[Source], *, everything: Iterable[Source] | None = None
) -> list[str]:
    """Uses of a manager of people's data outside its package that do not begin with a question."""
    houses = {model.name: model.source.app for model in personal(everything or sources)}
    faults = []
    for source in sources:
        if source.is_migration:
            continue
        asked = {
            id(node.value)
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Attribute) and node.attr in QUESTIONS
        }
        for node in ast.walk(source.tree):
            if not (
                isinstance(node, ast.Attribute) and node.attr in MANAGERS and id(node) not in asked
            ):
                continue
            name = model_name(node.value)
            if (
                name in houses
                and houses[name] != source.app
                and f"{source.path} {name}" not in UNASKED
            ):
                faults.append(source.at(node, f"reads {name} without asking for whom"))
    return faults


def model_name(node: ast.expr) -> str:
    """`Agent` of `Agent`, `models.Agent` and `apps.get_model("definitions", "Agent")`."""
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("get_model"):
        last = node.args[-1] if node.args else ast.Constant("")
        return str(getattr(last, "value", "")).split(".")[-1]
    return ast.unparse(node).split(".")[-1]


def mapping_faults(sources: Iterable[Source]) -> list[str]:
    """Lookups spelt by a mapping let whoever fills the mapping choose columns and follow
    relations.
    """
    return [
        source.at(node, "spells a lookup by a mapping")
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"filter", "exclude", "get_or_create", "update_or_create", "Q"}
        and any(keyword.arg is None for keyword in node.keywords)
    ]


def python_filter_faults(sources: Iterable[Source]) -> list[str]:
    """Rights are part of the query: asking object by object in Python is slow and forgotten in
    counts.
    """
    banned = {
        "has_perm",
        "has_perms",
        "has_object_permission",
        "get_perms",
        "get_objects_for_user",
        "ObjectPermissionChecker",
    }
    return [
        source.at(node, f"asks for rights in Python: {ast.unparse(node.func)}")
        for source in sources
        if not source.path.endswith("admin.py")
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in banned
    ]


def raw_faults(sources: Iterable[Source]) -> list[str]:
    return [
        source.at(node, f"uses .{node.func.attr}")
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"raw", "extra"}
        and "objects" in ast.unparse(node.func)
    ]


MODELS = sample(
    "agents/letters/models.py",
    """
    class Letter(models.Model):
        owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT)
        objects = LetterQuerySet.as_manager()

    class Page(models.Model):
        letter = models.ForeignKey("letters.Letter", on_delete=models.PROTECT)
    """,
)
QUERYSETS = sample(
    "agents/letters/querysets.py",
    """
    class LetterQuerySet(models.QuerySet):
        def visible_to(self, member):
            return self.filter(owner=member)
    """,
)


@pytest.mark.req("REPO-002")
def test_every_model_of_peoples_data_can_be_asked_who_sees_it() -> None:
    assert silent_model_faults(runtime_sources()) == []


@pytest.mark.req("REPO-002")
def test_a_model_that_cannot_be_asked_is_found() -> None:
    (fault,) = silent_model_faults([MODELS, QUERYSETS])
    assert "Page holds people's data" in fault


@pytest.mark.req("REPO-002")
def test_peoples_rows_are_reached_through_a_question() -> None:
    assert unasked_faults(runtime_sources()) == []


@pytest.mark.req("REPO-002")
@pytest.mark.parametrize(
    "text",
    [
        "Letter.objects.get(id=letter_id)",
        "models.Letter.objects.filter(id=letter_id)",
        "Letter._base_manager.all()",
        'apps.get_model("letters", "Letter").objects.all()',
        "rows = Letter.objects",
    ],
)
def test_a_row_that_is_reached_without_one_is_found(text: str) -> None:
    assert unasked_faults([sample("agents/web/x.py", text), MODELS])
    assert unasked_faults([sample("agents/letters/x.py", text), MODELS]) == []


def test_a_row_that_is_asked_for_is_left_alone() -> None:
    text = "Letter.objects.visible_to(member).filter(id=letter_id)"
    assert unasked_faults([sample("agents/web/x.py", text), MODELS]) == []


@pytest.mark.req("REPO-001")
def test_rights_are_part_of_the_query() -> None:
    assert python_filter_faults(runtime_sources()) == []
    assert mapping_faults(runtime_sources()) == []
    assert raw_faults(runtime_sources()) == []


@pytest.mark.req("REPO-001")
def test_rights_asked_in_python_are_found() -> None:
    assert python_filter_faults(
        [sample("agents/x.py", "[a for a in rows if member.has_perm('x', a)]")]
    )
    assert mapping_faults([sample("agents/x.py", "rows.filter(**request.GET)")])
    assert raw_faults([sample("agents/x.py", "Letter.objects.raw(sql)")])


def test_every_exception_is_still_needed() -> None:
    names = {model.name for model in personal(runtime_sources())}
    assert set(WITHOUT_QUESTION) <= names | {model.name for model in models(runtime_sources())}
    used = set()
    for source in runtime_sources():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Attribute) and node.attr in MANAGERS:
                used.add(f"{source.path} {model_name(node.value)}")
    assert set(UNASKED) <= used
