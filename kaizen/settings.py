"""Django settings. Every value an operator may change comes from the environment."""

import sys
from pathlib import Path
from urllib.parse import urlsplit

from kaizen import databases, environment, flags

BASE_DIR = Path(__file__).resolve().parent.parent
KAIZEN_HOME = environment.path("KAIZEN_HOME", BASE_DIR / ".kaizen")

# `local` relaxes only what plain HTTP on loopback needs.
PROFILE = environment.choice(
    "KAIZEN_PROFILE", "production", among=frozenset({"local", "production"})
)
LOCAL = PROFILE == "local"
DEBUG = False
FLAGS = flags.read()
SECRET_KEY = environment.text("DJANGO_SECRET_KEY")
if len(SECRET_KEY) < 40:
    raise environment.InvalidSetting("DJANGO_SECRET_KEY", "must have at least 40 characters")

PORT = environment.integer("PORT", 8000, minimum=1, maximum=65_535)
BIND = environment.text("KAIZEN_BIND", "127.0.0.1")
PUBLIC_ORIGIN = environment.url(
    "KAIZEN_PUBLIC_ORIGIN",
    f"http://localhost:{PORT}" if LOCAL else "",
    schemes=frozenset({"http", "https"}),
).rstrip("/")
# Where previews of generated documents are moved to; this very server, under another host name.
ARTIFACT_ORIGIN = environment.origin("ARTIFACT_ORIGIN", "")
if ARTIFACT_ORIGIN and ARTIFACT_ORIGIN == PUBLIC_ORIGIN:
    raise environment.InvalidSetting("ARTIFACT_ORIGIN", "must differ from KAIZEN_PUBLIC_ORIGIN")
ALLOWED_HOSTS = environment.words(
    "KAIZEN_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]" if LOCAL else ""
)
if ARTIFACT_ORIGIN:
    ALLOWED_HOSTS.append(urlsplit(ARTIFACT_ORIGIN).hostname or "")
CSRF_TRUSTED_ORIGINS = [PUBLIC_ORIGIN] if PUBLIC_ORIGIN else []
METRICS_TOKEN = environment.text("KAIZEN_METRICS_TOKEN", "")
# Set where several processes of one machine add their counters up (prometheus_client's own name).
METRICS_ARE_SHARED = bool(environment.text("PROMETHEUS_MULTIPROC_DIR", ""))

# Model secrets by full variable name; everything else refers to them by name only.
SECRETS = environment.prefixed("KAIZEN_SECRET_")
# Paths of certificate bundles of model servers, referred to by name in the same way.
CA_BUNDLES = environment.prefixed("KAIZEN_CA_BUNDLE_")
MODEL_BASE_URL = environment.url(
    "KAIZEN_MODEL_BASE_URL", "", schemes=frozenset({"http", "https", "unix"})
)
MODEL_NAME = environment.text("KAIZEN_MODEL_NAME", "")
# A server behind a Unix socket is the local one: held to a JSON schema unless told otherwise.
MODEL_TOOL_CALLS = environment.choice(
    "KAIZEN_MODEL_TOOL_CALLS",
    "constrained" if MODEL_BASE_URL.startswith("unix:") else "native",
    among=frozenset({"native", "constrained", "none"}),
)
if environment.text("KAIZEN_MODEL_API_KEY", ""):
    SECRETS["KAIZEN_MODEL_API_KEY"] = environment.text("KAIZEN_MODEL_API_KEY")

DATABASE_URL = environment.text("DATABASE_URL")
DATABASE_OWNER_URL = environment.text("DATABASE_OWNER_URL", DATABASE_URL)
REDIS_URL = environment.url("REDIS_URL", schemes=frozenset({"redis", "rediss", "unix"}))

INSTALLED_APPS = [
    "kaizen.apps.KaizenConfig",
    "audit.apps.AuditConfig",
    "tools.effects.apps.EffectsConfig",
    "tools.boundary.apps.BoundaryConfig",
    "artifacts.apps.ArtifactsConfig",
    "agents.members.apps.MembersConfig",
    "agents.journal.apps.JournalConfig",
    "agents.definitions.apps.DefinitionsConfig",
    "agents.conversations.apps.ConversationsConfig",
    "agents.gateway.apps.GatewayConfig",
    "agents.turns.apps.TurnsConfig",
    "agents.streaming.apps.StreamingConfig",
    "agents.web.apps.WebConfig",
    "agents.api.apps.ApiConfig",
    "guardian",
    "rest_framework",
    "drf_spectacular",
    "channels",
    "kaizen.apps.KaizenAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "kaizen.headers.SecurityHeadersMiddleware",
    "kaizen.headers.artifact_origin",
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "kaizen.urls"
ASGI_APPLICATION = "kaizen.asgi.application"
APPEND_SLASH = False
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
# Answers with every declared limit; the page that shows them lies below what declares them.
LIMITS_SHOWN = "kaizen.limits.shown"
# Answers with what a turn did, without content; the explorer of the audit lies below turns.
RUN_FACTS = "agents.turns.facts.of_run"

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "templates" / "static"]
STATIC_ROOT = KAIZEN_HOME / "static"

_WORKER = any(word in sys.argv for word in ("turns", "jobs", "celery"))
_TIMEOUTS = {
    "statement_timeout_ms": 60_000 if _WORKER else 15_000,
    "lock_timeout_ms": 5_000 if _WORKER else 3_000,
}
DATABASES = {
    "default": databases.connection("DATABASE_URL", DATABASE_URL, pooled=True, **_TIMEOUTS),
    "owner": databases.connection(
        "DATABASE_OWNER_URL", DATABASE_OWNER_URL, pooled=False, **_TIMEOUTS
    ),
}
# What the runtime role may do with tables is granted after each migration.
RUNTIME_ROLE = DATABASES["default"]["USER"]
# Strict: a code outside the vocabularies raises. Otherwise it is recorded as `overflow`.
AUDIT_STRICT = environment.boolean("KAIZEN_AUDIT_STRICT", False)
# Anchors of the audit chains always go to the log; a file on another disk proves more.
_ANCHOR_FILE = environment.text("KAIZEN_AUDIT_ANCHOR_FILE", "")
AUDIT_ANCHOR_FILE = Path(_ANCHOR_FILE) if _ANCHOR_FILE else None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "members.Member"
AUTHENTICATION_BACKENDS = [
    "agents.members.backends.ThrottledModelBackend",
    "guardian.backends.ObjectPermissionBackend",
]
ANONYMOUS_USER_NAME = None  # guardian: no row stands for everybody
LOGIN_URL = "/sign-in"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

SESSION_ENGINE = "agents.members.sessions"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = not LOCAL
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 14 * 24 * 3600
SECURE_SSL_REDIRECT = not LOCAL
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 0 if LOCAL else 31_536_000
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = not LOCAL
# With "no-referrer" browsers send `Origin: null` with every form, which the CSRF check refuses.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
if environment.boolean("KAIZEN_BEHIND_TLS_PROXY", False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_048_576
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200
DATA_UPLOAD_MAX_NUMBER_FILES = 20

TURN_WORKER = {
    "capacity": environment.integer("KAIZEN_TURNS", 256, minimum=1, maximum=2_000),
    "lease_s": environment.integer("KAIZEN_LEASE_SECONDS", 30, minimum=2, maximum=600),
}

CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {
            # redis-py 8 times idle sockets out after 5 s; the layer blocks for 5 s.
            "hosts": [{"address": REDIS_URL, "socket_timeout": None}],
            "capacity": 1_000,
            "expiry": 10,
            "group_expiry": 6 * 3600,
            "symmetric_encryption_keys": [SECRET_KEY],
            "prefix": "kaizen",
        },
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "agents.api.authentication.AccessTokenAuthentication",
        "agents.api.authentication.BrowserSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["agents.api.permissions.SignedInWithinScope"],
    "DEFAULT_PARSER_CLASSES": ["agents.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["agents.api.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "agents.api.schema.KaizenSchema",
    "EXCEPTION_HANDLER": "agents.api.errors.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Kaizen",
    "VERSION": "1",
    "DESCRIPTION": "The public interface of Kaizen.",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": "/api/",
    "PATH_CONVERTER_OVERRIDES": {
        "id": {"type": "string", "format": "uuid"},
        "number": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    },
    "POSTPROCESSING_HOOKS": [
        "agents.api.schema.bound",
    ],
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"redact": {"()": "kaizen.logs.RedactSecrets"}},
    "formatters": {"plain": {"format": "%(levelname)s %(name)s: %(message)s"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "plain",
            "filters": ["redact"],
        }
    },
    "root": {"handlers": ["console"], "level": environment.text("KAIZEN_LOG_LEVEL", "INFO")},
    "loggers": {
        "django": {"handlers": ["console"], "level": "INFO", "propagate": False},
        "django.request": {"level": "ERROR"},
        "uvicorn.error": {"level": "WARNING"},  # two lines a socket otherwise
    },
}
SILENCED_SYSTEM_CHECKS = [
    "guardian.W001",  # the object permission back end is configured through its own module
]
