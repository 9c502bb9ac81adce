"""What crosses agents is the shared pipeline's: no definition holds it, and no code decides by
which agent runs.
"""

import ast
import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import pytest

from agents.definitions import content
from audit.reasons import Reason
from audit.refusals import Invalid
from tests.boundaries.source import ROOT, Source, imports, runtime_sources, sample, within

BUNDLES: Final = "agents/definitions/bundles"
# The code that is about single agents: what ships, and what a definition may hold.
AGENT_SPECIFIC: Final = ("agents/definitions/bundling.py", "agents/definitions/content.py")
# Where the slug of a shipped agent may be written or compared.
BUNDLE_MODULES: Final = ("agents/definitions/bundling.py",)
# Django's settings have a database, a cache and the like that happen to be called `default`.
OTHER_DEFAULTS: Final = ("kaizen/settings.py",)

# Every field a shipped definition may set, by the category that allows it. `slug`, `published`,
# `name`, `description` and `mode` say which agent it is and where it appears.
CATEGORIES: Final[Mapping[str, frozenset[str]]] = {
    "identity": frozenset({"slug", "published", "name", "description", "mode"}),
    "persona": frozenset({"persona"}),
    "capability": frozenset({"capability_ceiling"}),
    "tool grant": frozenset({"posture", "posture.tools", "granted_package_ids"}),
    "source selection": frozenset({"collection_ids", "prompt_ids"}),
}
ALLOWED: Final = frozenset().union(*CATEGORIES.values())

# The twelve concerns of the shared pipeline: how a field of one would be called, how a persona
# would speak of it, and which modules do it.
CONCERNS: Final[Mapping[str, tuple[str, str, tuple[str, ...]]]] = {
    "streaming": (
        r"stream|delta|chunk",
        r"\bstream(s|ed|ing)?\b|token by token",
        ("agents.streaming", "channels", "redis"),
    ),
    "journal projection": (
        r"journal|frame|projection|event",
        r"\bjournal\b|\bframes?\b|position of the event",
        ("agents.journal", "agents.conversations"),
    ),
    "retries and timeouts": (
        r"retr(y|ies)|timeout|attempt|salvage|backoff",
        r"\bretr(y|ies|ied|ying)\b|\btime ?outs?\b|\bsalvage|try again",
        ("tenacity", "agents.engine"),
    ),
    "durability and recovery": (
        r"durab|recover|checkpoint|resume|lease|fence",
        r"\brecover(y|s|ed)?\b|\bcheckpoint|\bcrash|\bresum(e|es|ed|ing)\b",
        ("tools.effects", "agents.turns"),
    ),
    "grounding": (
        r"ground|citation|cite|evidence",
        r"\bcit(e|es|ed|ation|ations)\b|\bground(ed|ing)\b|only from (the )?sources"
        r"|material,? not instructions",
        ("agents.prompts",),
    ),
    "lifecycle": (
        r"lifecycle|hook|controller|on_start|on_end|steer|stop",
        r"\blifecycle\b|\bthis turn\b|\bend (of )?the turn\b|\bsteer",
        ("agents.turns", "agents.engine"),
    ),
    "policy, budgets and approvals": (
        r"polic(y|ies)|budget|approv|limit|quota|max_|max$",
        r"\bpolic(y|ies)\b|\bbudgets?\b|\bapprovals?\b|\bat most [a-z0-9]+ (calls|steps|tokens)\b",
        ("tools.boundary", "agents.gateway"),
    ),
    "error handling": (
        r"error|failure|fallback|exception",
        r"(tool|call|request|model)s? (fails?|failed|errors?|breaks)\b|\bfall ?back\b",
        ("agents.guardrails", "tools.boundary"),
    ),
    "audit": (r"audit|log(ging)?$|trace", r"\baudit|\blog (every|each|all|the)\b", ("logging",)),
    "compression and compaction": (
        r"compress|compact|summar|truncat|trim",
        r"\bcompress|\bcompact(ion|ing|ed)?\b|summari[sz]e (the |this |our )?(chat|conversation"
        r"|history)|context window",
        ("agents.prompts", "agents.turns"),
    ),
    "task management": (
        r"task|schedul|cron|job",
        r"\b(scheduled?|recurring|background) (tasks?|jobs?|runs?)\b|\bschedule\b",
        ("celery", "agents.tasks"),
    ),
    "history search": (
        r"history|recall|memory|search_",
        r"\b(search|look)\w* (in |through )?(the |your |past |earlier )*(history|conversations)"
        r"|\bremember what was said",
        ("agents.conversations",),
    ),
}


def named_fields(bundle: Mapping[str, Any]) -> set[str]:
    """Every field a file sets; those of its posture with their path."""
    posture = bundle.get("posture", {})
    return set(bundle) | {f"posture.{name}" for name in posture}


def definition_faults(name: str, bundle: Mapping[str, Any]) -> list[str]:
    """Fields outside the four categories, and words of the twelve concerns."""
    words = " ".join(f"{bundle.get('persona', '')} {bundle.get('description', '')}".split())
    return [f"{name} sets {each}" for each in sorted(named_fields(bundle) - ALLOWED)] + [
        f"{name} speaks of {concern}: {found[0]!r}"
        for concern, (_, speaking, _) in CONCERNS.items()
        if (found := re.search(speaking, words, re.IGNORECASE))
    ]


def schema_faults(fields: Iterable[str]) -> list[str]:
    """Fields of any definition that would carry a concern of the pipeline."""
    return [
        f"{field} is a matter of {concern}"
        for field in fields
        for concern, (naming, _, _) in CONCERNS.items()
        if re.search(naming, field, re.IGNORECASE)
    ]


def code_faults(sources: Iterable[Source]) -> list[str]:
    """Agent-specific code that reaches for what does a concern of the pipeline."""
    return [
        source.at(node, f"imports {name}, which is for {concern}")
        for source in sources
        if source.path in AGENT_SPECIFIC
        for node, name in imports(source)
        for concern, (_, _, modules) in CONCERNS.items()
        if within(name, *modules)
    ]


def slug_faults(sources: Iterable[Source], names: Iterable[str]) -> list[str]:
    """Decisions by an agent's name, slug or owner: compared, matched, looked up or asked for."""
    known = set(names)

    def gives_away(node: ast.AST) -> str | None:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                if inner.value in known or inner.value.startswith("bundle:"):
                    return inner.value
            elif isinstance(inner, ast.Call) and ast.unparse(inner.func).endswith(
                "default_agent_id"
            ):
                return "the default agent"
        return None

    return [
        source.at(node, f"decides by the agent {given!r}")
        for source in sources
        if source.path.startswith(("agents/", "tools/", "artifacts/", "packages_app/", "kaizen/"))
        and source.path not in (*BUNDLE_MODULES, *OTHER_DEFAULTS)
        for node in ast.walk(source.tree)
        for part in _deciding(node)
        if (given := gives_away(part))
    ]


def _deciding(node: ast.AST) -> list[ast.AST]:
    """The parts of a node that decide something."""
    if isinstance(node, ast.Compare):
        return [node]
    if isinstance(node, ast.match_case):
        return [node.pattern]
    if isinstance(node, ast.Dict):
        return [key for key in node.keys if key is not None]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in {"startswith", "endswith", "removeprefix"}:
            return list(node.args)
        if node.func.attr in {"filter", "exclude", "get"}:
            return [word.value for word in node.keywords if _of_an_agent(word.arg)]
    return []


def _of_an_agent(field: str | None) -> bool:
    return bool(re.search(r"slug|owner_principal|(^|__)name$", field or ""))


def bundles() -> dict[str, dict[str, Any]]:
    """What ships, by file."""
    return {
        path.name: tomllib.loads(path.read_text(encoding="utf-8"))
        for path in sorted((ROOT / BUNDLES).glob("*.toml"))
    }


def bundle_names() -> set[str]:
    return {str(bundle[field]) for bundle in bundles().values() for field in ("slug", "name")}


def page_faults(texts: Iterable[tuple[str, str]], names: Iterable[str]) -> list[str]:
    """Browser code and templates that compare with an agent's name or slug."""
    known = "|".join(re.escape(name) for name in sorted(names))
    deciding = re.compile(
        rf"(===?|!==?|\bcase|\bin)\s*[\"'`]({known})[\"'`]|[\"'`]({known})[\"'`]\s*(===?|!==?|\bin\b)"
    )
    return [
        f"{path}:{number} {line.strip():.100}"
        for path, text in texts
        for number, line in enumerate(text.split("\n"), 1)
        if deciding.search(line)
    ]


def pages() -> list[tuple[str, str]]:
    return [
        (path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8"))
        for pattern in ("static/ts/*.ts", "**/*.html")
        for path in sorted((ROOT / "templates").glob(pattern))
        if not {"node_modules", "build"} & set(path.parts)
    ]


@pytest.mark.req("AGT-002", "AGT-003")
def test_a_shipped_definition_sets_nothing_but_its_four_categories() -> None:
    shipped = bundles()
    assert shipped
    faults = [fault for each in shipped.items() for fault in definition_faults(*each)]
    assert faults == []
    assert [str(path) for path in (ROOT / BUNDLES).rglob("*") if path.suffix != ".toml"] == []


@pytest.mark.req("AGT-003")
def test_no_definition_has_room_for_a_concern_of_the_pipeline() -> None:
    assert len(CONCERNS) == 12
    assert schema_faults([*content.OPTIONAL, "name", "persona"]) == []


@pytest.mark.req("AGT-002", "AGT-003")
def test_agent_specific_code_does_nothing_of_the_pipeline() -> None:
    assert {source.path for source in runtime_sources()} >= set(AGENT_SPECIFIC)
    assert code_faults(runtime_sources()) == []


@pytest.mark.req("AGT-016")
def test_no_code_outside_the_bundles_decides_by_which_agent_runs() -> None:
    assert bundle_names() >= {"default", "agent-builder", "package-creator"}
    assert slug_faults(runtime_sources(), bundle_names()) == []
    assert page_faults(pages(), bundle_names()) == []


@pytest.mark.req("AGT-003")
@pytest.mark.parametrize(
    ("concern", "field", "sentence"),
    [
        ("streaming", "stream_options", "Stream your answer line by line."),
        ("journal projection", "journal", "Write every step into the journal."),
        ("retries and timeouts", "max_retries", "If nothing comes back, try again."),
        ("durability and recovery", "checkpoints", "After a crash, resume where you were."),
        ("grounding", "citations", "Cite all you say."),
        ("lifecycle", "hooks", "At the end of the turn, say goodbye."),
        ("policy, budgets and approvals", "approval", "Wait for approval of every step."),
        ("error handling", "error_text", "If a tool fails, say sorry."),
        ("audit", "audit", "Log every call."),
        ("compression and compaction", "compaction", "Summarise the conversation now and then."),
        ("task management", "schedule", "Put recurring work into scheduled tasks."),
        ("history search", "history", "Search past conversations first."),
    ],
)
def test_each_of_the_twelve_is_found_and_refused(concern: str, field: str, sentence: str) -> None:
    assert any(concern in fault for fault in definition_faults("x.toml", {"persona": sentence}))
    assert any(concern in fault for fault in schema_faults([field]))
    source = sample(AGENT_SPECIFIC[0], f"import {CONCERNS[concern][2][0]}")
    assert any(concern in fault for fault in code_faults([source]))
    assert definition_faults("x.toml", {field: 1}) == [f"x.toml sets {field}"]
    for definition in ({field: True}, {"posture": {field: True}}):
        with pytest.raises(Invalid) as refused:
            content.checked({"name": "Guide", "persona": "You guide.", **definition})
        assert refused.value.fields[0]["reason"] in {
            str(Reason.UNKNOWN_FIELD),
            str(Reason.INVALID_FIELD),
        }


@pytest.mark.req("AGT-016")
@pytest.mark.parametrize(
    "text",
    [
        "if agent.slug == 'scout': ...",
        "x = slug in {'scout', 'other'}",
        "match slug:\n    case 'scout': ...",
        "EXTRA = {'scout': 7}",
        "if owner.startswith('bundle:'): ...",
        "if agent.owner_principal == 'bundle:scout': ...",
        "if agent_id == default_agent_id(): ...",
        "Agent.objects.filter(owner_principal='bundle:scout')",
        "Agent.objects.get(name='scout')",
    ],
)
def test_a_decision_by_which_agent_runs_is_found(text: str) -> None:
    assert slug_faults([sample("agents/turns/x.py", text)], {"scout"})
    assert slug_faults([sample(BUNDLE_MODULES[0], text)], {"scout"}) == []


@pytest.mark.parametrize("line", ["if (agent.name === 'Scout')", '{% if agent.name == "Scout" %}'])
def test_a_page_that_decides_by_an_agents_name_is_found(line: str) -> None:
    assert page_faults([("x.ts", line)], {"Scout"})


@pytest.mark.parametrize(
    "text", ["say('scout')", "x = 'default'", "rows.get(id=default_agent_id())"]
)
def test_naming_an_agent_without_deciding_by_it_is_left_alone(text: str) -> None:
    assert slug_faults([sample("agents/web/x.py", text)], {"scout", "default"}) == []
