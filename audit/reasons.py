"""The closed vocabularies of everything that is refused, fails or is recorded.

A `Reason` says why something was refused or ended; it is the `code` of an API error, the reason
of a turn's terminal and the reason of an audit row. An `Action` says what an audit row records.
Both grow by review of this file only: a retired entry stays, marked as retired, because old rows
and old clients still carry it. Texts for people are not kept here, and nothing here knows HTTP.
"""

from enum import StrEnum, auto


class Reason(StrEnum):
    # -- The one code that stands for any code outside this list; written in production instead of
    # raising.
    OVERFLOW = auto()

    # The request cannot be read at all: not strict JSON, or a malformed header, query or path
    # value.
    BAD_JSON = auto()
    BAD_REQUEST = auto()
    # The body, message or argument text is over its byte limit.
    BODY_TOO_LARGE = auto()
    # The body is not of a media type this door reads, or the answer of none the client accepts.
    UNSUPPORTED_MEDIA_TYPE = auto()
    NOT_ACCEPTABLE = auto()
    # The path exists, the method does not.
    METHOD_NOT_ALLOWED = auto()
    # The body was read and its shape is wrong; `fields` says where.
    INVALID_BODY = auto()
    # Reasons of single fields: wrong value or type, not known here, absent, too long or too short.
    INVALID_FIELD = auto()
    UNKNOWN_FIELD = auto()
    MISSING_FIELD = auto()
    TOO_LONG = auto()
    TOO_SHORT = auto()
    # A list cursor or replay position this server did not hand out.
    INVALID_CURSOR = auto()
    # Creating calls: the key is absent, has a wrong form, or came before with another body.
    IDEMPOTENCY_KEY_REQUIRED = auto()
    IDEMPOTENCY_KEY_INVALID = auto()
    IDEMPOTENCY_CONFLICT = auto()

    # Nobody is signed in, or the session or token no longer counts.
    NOT_AUTHENTICATED = auto()
    # Sign-in: name and password do not belong together (also for unknown names).
    BAD_CREDENTIALS = auto()
    # The account is switched off.
    ACCOUNT_INACTIVE = auto()
    # The token exists but has run out, was revoked, or lacks the scope of this call.
    TOKEN_EXPIRED = auto()
    TOKEN_REVOKED = auto()
    SCOPE_MISSING = auto()
    # The browser's proof of intent is missing, or the request comes from another origin.
    CSRF_FAILED = auto()
    ORIGIN_REFUSED = auto()

    # The object is missing or the caller may not see it; the two are never told apart.
    NOT_FOUND = auto()
    # The caller sees the object but may not do this to it.
    FORBIDDEN = auto()

    # The base version is no longer the current one.
    STALE_VERSION = auto()
    # The tag, digest or receipt that was named is not that of the content it was named for.
    CONTENT_MISMATCH = auto()
    # Another object of this kind already has the name, or the object already exists.
    NAME_TAKEN = auto()
    ALREADY_EXISTS = auto()
    # The object's state does not allow this step, and no narrower code says why.
    CONFLICT = auto()
    # A count that one person or conversation may reach is used up.
    LIMIT_REACHED = auto()
    # Too many calls in a time; the answer says when to come back.
    RATE_LIMITED = auto()
    # A budget of tokens, money or runs is used up.
    BUDGET_EXHAUSTED = auto()
    # Steer or stop: the named turn holds no live lease of this person.
    TURN_NOT_LIVE = auto()
    # A person took back what they had asked, or turned it into a message to a running turn.
    WITHDRAWN = auto()
    STEERED = auto()
    # The step needs a conversation without an open turn.
    TURN_OPEN = auto()
    # A decision on a call that was decided before, ran out, or shows other bytes than were asked
    # about.
    APPROVAL_SETTLED = auto()
    APPROVAL_EXPIRED = auto()
    APPROVAL_MISMATCH = auto()
    # A call that waits for its member's decision.
    APPROVAL_REQUIRED = auto()
    # Another worker has taken the run over; the caller must stop without writing.
    LEASE_LOST = auto()
    # The agent was deleted or is no longer shared with the person; no deployment can serve the
    # turn.
    AGENT_UNAVAILABLE = auto()
    MODEL_UNAVAILABLE = auto()
    # A deployment's secret is absent from the environment, or was entered for another origin.
    SECRET_MISSING = auto()
    SECRET_ORIGIN_CHANGED = auto()
    # A deployment's certificate bundle is absent from the environment.
    CERTIFICATES_MISSING = auto()

    # A tool call that must not run: these may be told to the model once per tool name.
    INVALID_ARGUMENTS = auto()
    TOOL_NOT_OFFERED = auto()
    POLICY_REFUSED = auto()
    # A tool call that must not run: these are final at once.
    MEMBER_DENIED = auto()
    RUN_EXPIRED = auto()
    DECISION_UNREACHABLE = auto()
    CALL_ID_REUSED = auto()
    QUEUE_REFUSED = auto()
    BATCH_STOPPED = auto()
    REQUIRED_TOOL_BLOCKED = auto()
    # The same input failed before and was refused, or its committed result was given again.
    REPEAT_REFUSED = auto()
    REPEAT_SUPPRESSED = auto()

    # Classes of failure of a tool or model call (the members of `ErrorClass` not named above).
    INVALID_ARGUMENT = auto()
    TIMEOUT = auto()
    PROVIDER_ERROR = auto()
    TOOL_ERROR = auto()
    # What exactly went wrong with a provider: no connection, refused by status, credentials
    # refused, cut off in the middle, an answer nobody can read, nothing in the answer, a tool
    # schema it cannot follow, context over its window.
    PROVIDER_UNREACHABLE = auto()
    PROVIDER_REFUSED = auto()
    PROVIDER_CREDENTIALS = auto()
    PROVIDER_CUT_OFF = auto()
    PROVIDER_GARBAGE = auto()
    PROVIDER_EMPTY_RESPONSE = auto()
    PROVIDER_GRAMMAR = auto()
    PROVIDER_EMPTY_RESPONSE_EXHAUSTED = auto()
    CONTEXT_TOO_LONG = auto()
    CONTENT_FILTERED = auto()

    # Why a turn ended otherwise than by a finished answer. Stopped by the person:
    STOPPED = auto()
    # The finite budgets of a turn: model steps, tool rounds, tokens, wall time, silence.
    STEP_LIMIT = auto()
    TOOL_ROUND_LIMIT = auto()
    TOKEN_LIMIT = auto()
    WALL_TIME_EXCEEDED = auto()
    INACTIVITY_TIMEOUT = auto()
    # The answer was cut at the output limit and what there is was kept.
    OUTPUT_TRUNCATED = auto()
    # Taken over from lost workers as often as allowed, or lost at a point that cannot be repeated.
    ATTEMPTS_EXHAUSTED = auto()
    INTERRUPTED = auto()
    # Every call of a batch was denied and none of the denials may be read back.
    DENIALS_EXHAUSTED = auto()
    # One input of one tool failed too often: the exact cause inside, and what the person is told.
    REPEATED_TOOL_FAILURE_EXHAUSTED = auto()
    REPEATED_TOOL_FAILURE = auto()
    # A failure that allowed neither another try nor another way was followed by another call.
    REPAIR_EXHAUSTED = auto()
    # Nothing but searches for tools, again and again.
    DISCOVERY_EXHAUSTED = auto()
    # A write whose outcome is unknown; it is never repeated.
    AMBIGUOUS_WRITE = auto()
    DEPENDENCY_INSTALL_FAILED = auto()

    # A socket that reads too slowly, or sends too fast.
    TOO_SLOW = auto()
    TOO_FAST = auto()
    # This process is going down, or a database, broker or worker it needs is not there.
    DRAINING = auto()
    UNAVAILABLE = auto()
    # A fault of ours; the details are in the log and nowhere else.
    INTERNAL_ERROR = auto()


class Action(StrEnum):
    # -- Stands for any action outside this list; written in production instead of raising.
    OVERFLOW = auto()

    # People and their keys.
    SIGN_IN = auto()
    SIGN_IN_FAILED = auto()
    SIGN_OUT = auto()
    PASSWORD_CHANGED = auto()
    TOKEN_CREATED = auto()
    TOKEN_REVOKED = auto()
    # Accounts, groups and their members, and administration that has no narrower name.
    MEMBER_CHANGED = auto()
    GROUP_CHANGED = auto()
    ADMIN_CHANGED = auto()

    # Agent definitions: every version, and who may use, duplicate or edit them.
    AGENT_CREATED = auto()
    AGENT_VERSION_APPENDED = auto()
    AGENT_DELETED = auto()
    AGENT_SHARED = auto()
    AGENT_UNSHARED = auto()
    # A bundled definition was brought in line with its file.
    BUNDLE_RECONCILED = auto()

    # Conversations: created, renamed or archived, deleted, and what people ask in them.
    CONVERSATION_CREATED = auto()
    CONVERSATION_CHANGED = auto()
    CONVERSATION_DELETED = auto()
    INPUT_ACCEPTED = auto()
    INPUT_REFUSED = auto()
    STEER_ACCEPTED = auto()
    STOP_REQUESTED = auto()

    # Turns. `ROUTED` records which agent, deployment and controller admission chose.
    TURN_STARTED = auto()
    TURN_ROUTED = auto()
    TURN_TAKEN_OVER = auto()
    TURN_ENDED = auto()
    TURN_STOPPED = auto()

    # Tool calls: one row for each, by the boundary. Denied calls never ran. A call that may change
    # something is authorised by a row of its own before it starts, or it does not start.
    TOOL_CALLED = auto()
    TOOL_DENIED = auto()
    TOOL_AUTHORISED = auto()
    # An administrator switched a family of tools on or off, or wants its calls approved.
    TOOL_POLICY_CHANGED = auto()
    APPROVAL_REQUESTED = auto()
    APPROVAL_SETTLED = auto()

    # Model calls: one row for each, by the gateway, with the outcome and the class of failure.
    MODEL_CALLED = auto()
    DEPLOYMENT_CREATED = auto()
    DEPLOYMENT_CHANGED = auto()
    DEPLOYMENT_DELETED = auto()
    DEPLOYMENT_TESTED = auto()
    BUDGET_CREATED = auto()
    BUDGET_CHANGED = auto()
    MODEL_ROLE_CHANGED = auto()

    # What agents and people make.
    ARTIFACT_CREATED = auto()
    ARTIFACT_UPDATED = auto()
    ARTIFACT_DELETED = auto()
    ARTIFACT_SHARED = auto()
    # A run began to write one part by part; it gave that up, or left it behind when it ended.
    ARTIFACT_STAGED = auto()
    ARTIFACT_UNSTAGED = auto()
    DOCUMENT_UPLOADED = auto()
    DOCUMENT_DELETED = auto()

    # Packages, by their reviewed lifecycle.
    PACKAGE_PROPOSED = auto()
    PACKAGE_TESTED = auto()
    PACKAGE_SUBMITTED = auto()
    PACKAGE_REVIEWED = auto()
    PACKAGE_CHANGED = auto()
    # Which controller works a scope, and switches of lifecycle extensions.
    PIPELINE_ASSIGNED = auto()

    # Tasks and their runs.
    TASK_CREATED = auto()
    TASK_CHANGED = auto()
    TASK_RUN_STARTED = auto()
    TASK_RUN_ENDED = auto()

    # Rows of the audit left the house as a file.
    AUDIT_EXPORTED = auto()

    # A page or call was refused for missing rights; recorded where guessing must leave a trace.
    ACCESS_DENIED = auto()


class Outcome(StrEnum):
    """How the recorded action came out; also the labels of the `tool_run` metric."""

    SUCCESS = auto()
    # It failed, and the reason says how.
    ERROR = auto()
    # It was not allowed to happen.
    DENIED = auto()
    CANCELLED = auto()
    TIMEOUT = auto()
    # Staged, waiting for a person's decision.
    PENDING_CONFIRMATION = auto()
    # The committed result of an identical call was given again.
    REPEAT_SUPPRESSED = auto()


class ErrorClass(StrEnum):
    """What kind of failure a tool or model call ended in. Every member is also a `Reason`."""

    # The caller's input is wrong.
    INVALID_ARGUMENT = auto()
    # What the input names is not there, or not for this person.
    NOT_FOUND = auto()
    # Known, and not allowed.
    FORBIDDEN = auto()
    RATE_LIMITED = auto()
    TIMEOUT = auto()
    # The model provider failed.
    PROVIDER_ERROR = auto()
    # The tool failed, or reports a failure of what it ran.
    TOOL_ERROR = auto()
