"""Agents, shares and artifacts in any number, made by the database itself.

Two readers: one may reach nearly everything, the other a few things among all the others. What is
made first stays when more is made, so the same readers are asked again on a larger world.
"""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import Group
from django.db import connection, connections

from agents.members import accounts, roles
from agents.members.models import Member

OTHERS: Final = 200
PASSWORD: Final = "correct horse battery staple"
LONG_AGENT: Final = "00000000-0000-4000-8000-a00000000000"  # the one with many versions
LONG_ARTIFACT: Final = "00000000-0000-4000-8000-b00000000000"
CONVERSATION: Final = "00000000-0000-4000-8000-c00000000000"

# Number n gives the same id in every world.
AGENT_ID: Final = "('00000000-0000-4000-8000-a' || lpad(to_hex(n), 11, '0'))::uuid"
ARTIFACT_ID: Final = "('00000000-0000-4000-8000-b' || lpad(to_hex(n), 11, '0'))::uuid"

# Of ten agents four are the far reader's own, three shared with them, two with a group of theirs
# and one is for everybody, whoever owns it. The near reader owns ten.
AGENTS: Final = f"""
INSERT INTO definitions_agent
       (id, name, description, mode, owner_id, owner_principal, protected, audience, head,
        created_at, updated_at)
SELECT {AGENT_ID}, 'Agent ' || n, CASE WHEN n < 20 THEN 'Knows zebras' ELSE 'Knows things' END,
       CASE WHEN n % 5 = 4 THEN 'search' ELSE 'chat' END, owner, 'member:' || owner, false,
       CASE WHEN n % 10 = 9 THEN 'everyone' ELSE 'private' END, 1,
       now() - n * interval '1 minute', now() - n * interval '1 minute'
  FROM (SELECT n, CASE WHEN n % 10 < 4 THEN %(far)s
                       WHEN n < 100 AND n % 10 = 8 THEN %(near)s
                       ELSE %(others)s + n %% {OTHERS} END AS owner
          FROM generate_series(%(first)s, %(last)s - 1) AS n) AS numbered
"""
AGENT_VERSIONS: Final = f"""
INSERT INTO definitions_agentversion
       (id, agent_id, number, content, digest, author_principal, created_at)
SELECT gen_random_uuid(), {AGENT_ID}, 1,
       jsonb_build_object('name', 'Agent ' || n, 'persona', repeat('You help. ', 100),
         'description', '', 'capability_ceiling', 'read', 'mode', 'chat', 'routing', '{{}}'::jsonb,
         'granted_package_ids', '[]'::jsonb, 'collection_ids', '[]'::jsonb,
         'prompt_ids', '[]'::jsonb, 'posture', '{{}}'::jsonb, 'meta', '{{}}'::jsonb),
       'sha256:' || repeat('0', 64), 'system:bench', now()
  FROM generate_series(%(first)s, %(last)s - 1) AS n
"""
MORE_AGENT_VERSIONS: Final = """
INSERT INTO definitions_agentversion
       (id, agent_id, number, content, digest, author_principal, created_at)
SELECT gen_random_uuid(), agent_id, n + 1, content, digest, author_principal, now()
  FROM definitions_agentversion, generate_series(greatest(%(first)s, 1), %(last)s - 1) AS n
 WHERE agent_id = %(long_agent)s AND number = 1
"""
FAR_SHARES: Final = f"""
INSERT INTO definitions_agentuserobjectpermission (user_id, permission_id, content_object_id)
SELECT %(far)s, %(use)s, {AGENT_ID} FROM generate_series(%(first)s, %(last)s - 1) AS n
 WHERE n %% 10 IN (4, 5, 6)
"""
GROUP_SHARES: Final = f"""
INSERT INTO definitions_agentgroupobjectpermission (group_id, permission_id, content_object_id)
SELECT %(group)s, %(use)s, {AGENT_ID} FROM generate_series(%(first)s, %(last)s - 1) AS n
 WHERE n %% 10 IN (7, 8)
"""
NEAR_SHARES: Final = f"""
INSERT INTO definitions_agentuserobjectpermission (user_id, permission_id, content_object_id)
SELECT %(near)s, %(use)s, {AGENT_ID} FROM generate_series(0, 99) AS n WHERE n %% 5 = 1
    ON CONFLICT DO NOTHING
"""
# The rest of the shares, spread evenly over everybody else and all agents.
OTHER_SHARES: Final = f"""
INSERT INTO definitions_agentuserobjectpermission (user_id, permission_id, content_object_id)
SELECT %(others)s + s %% {OTHERS}, %(use)s, {AGENT_ID}
  FROM (SELECT s, (s / {OTHERS}) * 7 %% %(last)s AS n
          FROM generate_series(1, %(other_shares)s) AS s) AS numbered
    ON CONFLICT DO NOTHING
"""
ARTIFACTS: Final = f"""
INSERT INTO artifacts_artifact
       (id, owner_id, title, kind, head, conversation_id, created_at, updated_at)
SELECT {ARTIFACT_ID}, CASE WHEN n %% 10 < 6 THEN %(far)s
                           WHEN n < 100 AND n %% 10 = 6 THEN %(near)s
                           ELSE %(others)s + n %% {OTHERS} END,
       CASE WHEN n < 20 THEN 'Zebra ' ELSE 'Plan ' END || n,
       CASE WHEN n %% 3 = 0 THEN 'code' ELSE 'markdown' END, 1,
       CASE WHEN n < 30 THEN %(conversation)s::uuid END,
       now() - n * interval '1 minute', now() - n * interval '1 minute'
  FROM generate_series(%(first)s, %(last)s - 1) AS n
"""
ARTIFACT_SHARES: Final = f"""
INSERT INTO artifacts_artifactuserobjectpermission (user_id, permission_id, content_object_id)
SELECT CASE WHEN n %% 10 < 9 THEN %(far)s ELSE %(others)s + n %% {OTHERS} END, %(read)s,
       {ARTIFACT_ID}
  FROM generate_series(%(first)s, %(last)s - 1) AS n WHERE n %% 10 >= 6
UNION ALL
SELECT %(near)s, %(read)s, {ARTIFACT_ID} FROM generate_series(%(first)s, %(last)s - 1) AS n
 WHERE n < 100 AND n %% 10 = 7
"""
ARTIFACT_VERSIONS: Final = f"""
INSERT INTO artifacts_artifactversion (id, artifact_id, number, content, language, digest,
       author_principal, call_id, created_at)
SELECT gen_random_uuid(), {ARTIFACT_ID}, number, 'Line ' || number, '',
       'sha256:' || repeat('0', 64), 'member:' || %(far)s, '', now()
  FROM generate_series(%(first)s, %(last)s - 1) AS n, generate_series(1, %(each)s) AS number
"""
MORE_ARTIFACT_VERSIONS: Final = """
INSERT INTO artifacts_artifactversion (id, artifact_id, number, content, language, digest,
       author_principal, call_id, created_at)
SELECT gen_random_uuid(), %(long_artifact)s, held.newest + n, 'Line ' || n, '',
       'sha256:' || repeat('0', 64), 'member:' || %(far)s, '', now()
  FROM (SELECT max(number) AS newest FROM artifacts_artifactversion
         WHERE artifact_id = %(long_artifact)s) AS held,
       generate_series(1, %(long_versions)s) AS n
"""
HEADS: Final = """
UPDATE definitions_agent SET head = (SELECT max(number) FROM definitions_agentversion
 WHERE agent_id = %(long_agent)s) WHERE id = %(long_agent)s
"""
ARTIFACT_HEADS: Final = """
UPDATE artifacts_artifact AS made SET head = (SELECT max(number) FROM artifacts_artifactversion
 WHERE artifact_id = made.id) WHERE head <> (SELECT max(number) FROM artifacts_artifactversion
 WHERE artifact_id = made.id)
"""
STATEMENTS: Final = (
    AGENTS,
    AGENT_VERSIONS,
    MORE_AGENT_VERSIONS,
    FAR_SHARES,
    GROUP_SHARES,
    NEAR_SHARES,
    OTHER_SHARES,
    ARTIFACTS,
    ARTIFACT_SHARES,
    ARTIFACT_VERSIONS,
    MORE_ARTIFACT_VERSIONS,
    HEADS,
    ARTIFACT_HEADS,
)


@dataclass(frozen=True)
class Size:
    """How much there is; half of the artifact versions are those of one artifact."""

    agents: int
    shares: int
    versions: int


SMALL: Final = Size(agents=100, shares=100, versions=100)
LARGE: Final = Size(agents=10_000, shares=100_000, versions=100_000)


@dataclass
class Shelves:
    """The world as it stands, and its two readers."""

    far: Member
    near: Member
    group: Group
    first_other: int
    agents: int = 0
    artifacts: int = 0

    @classmethod
    def built(cls) -> "Shelves":
        """People, and nothing else yet."""
        far, near = (_person(name) for name in ("far", "near"))
        group = Group.objects.create(name="bench readers")
        far.groups.add(group)
        Member.objects.bulk_create(
            [Member(username=f"other-{number}", password="!") for number in range(OTHERS)]
        )
        first = Member.objects.filter(username__startswith="other-").order_by("pk").first()
        assert first is not None
        return cls(far, near, group, first.pk)

    def grow(self, size: Size) -> None:
        """Add what is missing to the size, and let the database look at it."""
        artifacts = min(size.versions // 2, 10_000)
        each = size.versions // 2 // artifacts
        values: dict[str, Any] = {
            "far": self.far.pk,
            "near": self.near.pk,
            "others": self.first_other,
            "group": self.group.pk,
            "use": _permission("use_agent"),
            "read": _permission("view_shared_artifact"),
            "long_agent": LONG_AGENT,
            "long_artifact": LONG_ARTIFACT,
            "conversation": CONVERSATION,
        }
        with connection.cursor() as cursor:
            for statement in STATEMENTS:
                of_artifacts = "artifacts_" in statement
                cursor.execute(
                    statement.replace("n % ", "n %% "),
                    {
                        **values,
                        "first": self.artifacts if of_artifacts else self.agents,
                        "last": artifacts if of_artifacts else size.agents,
                        "other_shares": max(0, size.shares - size.agents // 2 - 20),
                        "each": each,
                        "long_versions": size.versions - each * artifacts,
                    },
                )
        self.agents, self.artifacts = size.agents, artifacts
        with connections["owner"].cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def _person(name: str) -> Member:
    return accounts.create(
        actor="system:bench",
        username=name,
        password=PASSWORD,
        role=roles.MEMBER,
        display_name=name.capitalize(),
    )


def _permission(codename: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM auth_permission WHERE codename = %s", [codename])
        return int(cursor.fetchone()[0])
