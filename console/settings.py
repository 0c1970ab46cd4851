"""Django's settings; those that differ between installations come from the environment.

docs/operating.md explains each variable. Importing this module reads files (the secret key,
the Redis password) but writes none: `manage.py up` creates them first.
"""

import hashlib
import os
import secrets
from pathlib import Path
from typing import Any

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from console import environment_checks as rules
from console import stack_ports
from console.environment import Environment
from monitoring.tcp_ports import ADMIN_PORT_ABOVE

_env = Environment(os.environ)

BASE_DIR = Path(__file__).resolve().parent.parent
DEBUG = _env.flag("AERIE_DEBUG")

# --- Paths, ports, external services ------------------------------------------------------------
AERIE_DATA = _env.path("AERIE_DATA", BASE_DIR / "data", rules.data_folder)
AERIE_LOGS = AERIE_DATA / "logs"
AERIE_PORT = _env.port("AERIE_PORT", 8000)
BROKERD_COUNT = 3
# Broker N of the embedded stack: Kafka port base + N - 1, admin port ADMIN_PORT_ABOVE above it.
BROKERD_PORT_BASE = _env.port("BROKERD_PORT_BASE", 9092, count=ADMIN_PORT_ABOVE + BROKERD_COUNT)
BROKERD_ADMIN_TOKEN_FILE = AERIE_DATA / "brokerd-admin.token"
ZOOKEEPER_PORT = _env.port("ZOOKEEPER_PORT", 2181)
ZOOKEEPER_HEAP = _env.checked("ZOOKEEPER_HEAP", rules.heap, "128m")
REDIS_PORT = _env.port("REDIS_PORT", 6379)
SPARK_CONNECT_PORT = _env.port("SPARK_CONNECT_PORT", 15002)

# Used in monitoring/spark/server_config.py and monitoring/history/root_folder.py.
SPARK_MASTER = _env.checked("SPARK_MASTER", rules.spark_master, "local[2]")
HISTORY_URL = _env.checked("HISTORY_URL", rules.history_url, f"file://{AERIE_DATA}/history")

# Each of these names an external service; the embedded one is then not started.
ZOOKEEPER_CONNECT = _env.checked("ZOOKEEPER_CONNECT", rules.zookeeper_connect)
SPARK_REMOTE = _env.checked("SPARK_REMOTE", rules.spark_remote)
REDIS_URL = _env.checked("REDIS_URL", rules.redis_url)

AERIE_EMBEDDED_ZOOKEEPER = not ZOOKEEPER_CONNECT
AERIE_EMBEDDED_REDIS = not REDIS_URL
AERIE_EMBEDDED_SPARK = not SPARK_REMOTE
ZOOKEEPER_CONNECT = ZOOKEEPER_CONNECT or f"127.0.0.1:{ZOOKEEPER_PORT}/aerie"
REDIS_PASSWORD_FILE = AERIE_DATA / "redis.password"

# The processes of the Procfile that run, set by the supervisor. Empty = unknown.
AERIE_PROCESSES = _env.words("AERIE_PROCESSES", lambda name: "")

# --- How often clusters are sampled: monitoring/background/periodic_tasks.py -------------------
AERIE_TICK_SECONDS = _env.integer("AERIE_TICK_SECONDS", 5, lowest=1, highest=3600)

# --- The limit of one cluster's samples in Redis: monitoring/ticks/tick_stream.py --------------
AERIE_LIVE_BYTES_MAX = _env.integer(
    "AERIE_LIVE_BYTES_MAX", 192 * 2**20, lowest=2**20, highest=2**36
)

# --- How long each level of the history is kept: monitoring/history/levels.py ------------------
# 0 = for good. monitoring/pipeline/delete_expired_history.py deletes what is older.
AERIE_HISTORY_RAW_HOURS = _env.integer("AERIE_HISTORY_RAW_HOURS", 48, lowest=0, highest=24 * 366)
AERIE_HISTORY_MINUTE_DAYS = _env.integer("AERIE_HISTORY_MINUTE_DAYS", 14, lowest=0, highest=3660)
AERIE_HISTORY_HOUR_DAYS = _env.integer("AERIE_HISTORY_HOUR_DAYS", 396, lowest=0, highest=36600)
AERIE_HISTORY_DAY_DAYS = _env.integer("AERIE_HISTORY_DAY_DAYS", 0, lowest=0, highest=36600)
_env.problems += rules.retention_order(
    {
        "AERIE_HISTORY_RAW_HOURS": AERIE_HISTORY_RAW_HOURS,
        "AERIE_HISTORY_MINUTE_DAYS": AERIE_HISTORY_MINUTE_DAYS * 24,
        "AERIE_HISTORY_HOUR_DAYS": AERIE_HISTORY_HOUR_DAYS * 24,
        "AERIE_HISTORY_DAY_DAYS": AERIE_HISTORY_DAY_DAYS * 24,
    }
)

# --- The demo traffic: stack/demo/management/commands/demo.py ----------------------------------
AERIE_DEMO_RATE = _env.integer("AERIE_DEMO_RATE", 50, lowest=10, highest=2000)

# --- The account of the first admin: stack/seeding.py ------------------------------------------
AERIE_ADMIN_PASSWORD = _env.secret("AERIE_ADMIN_PASSWORD", rules.password)
AERIE_ADMIN_PASSWORD_FILE = AERIE_DATA / "admin.password"

# --- Private targets of outgoing requests: monitoring/egress/url_checks.py ---------------------
AERIE_EGRESS_ALLOW = _env.words("AERIE_EGRESS_ALLOW", rules.network)

# --- Log directories of brokers: monitoring/gateway/log_directory/ ------------------------------
# (slug of the cluster, broker id) → paths. Only this setting names paths, no page does.
AERIE_LOG_DIRS = rules.log_directories(
    _env.words("AERIE_LOG_DIRS", rules.log_directory, separator=None)
)

# --- Checks of the values above, and what follows from them ------------------------------------
_ports = stack_ports.of_stack(
    AERIE_PORT, BROKERD_PORT_BASE, BROKERD_COUNT, ZOOKEEPER_PORT, REDIS_PORT, SPARK_CONNECT_PORT
)
_external = {
    name
    for name, is_embedded in (
        ("zookeeper", AERIE_EMBEDDED_ZOOKEEPER),
        ("redis", AERIE_EMBEDDED_REDIS),
        ("spark", AERIE_EMBEDDED_SPARK),
    )
    if not is_embedded
}
_env.problems += stack_ports.conflicts(
    port for name, listed in _ports.items() if name not in _external for port in listed
)
if os.path.exists(AERIE_DATA) and not os.path.isdir(AERIE_DATA):
    _env.problems.append(f"AERIE_DATA={AERIE_DATA} is a file: name a folder")
if AERIE_EMBEDDED_REDIS:
    _password = _env.content("AERIE_DATA", REDIS_PASSWORD_FILE).split("\n", 1)[0].strip()
    REDIS_URL = f"redis://:{_password}@127.0.0.1:{REDIS_PORT}/0"
# Timeouts of the cache, Channels and Celery, so that no page waits for a Redis that hangs.
# monitoring/redis_client.py has its own.
REDIS_OPTIONS = {
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "health_check_interval": 30,
}

# --- Secrets ----------------------------------------------------------------------------------
# One Fernet key per line, newest first; monitoring/encryption.py encrypts with them. Django's key
# is derived from them, so that a leaked Django key decrypts no secret.
AERIE_SECRET_KEY_FILE = _env.path("AERIE_SECRET_KEY_FILE", AERIE_DATA / "secret.key")
_keys = _env.content("AERIE_SECRET_KEY_FILE", AERIE_SECRET_KEY_FILE, rules.secret_keys).split()
_derived = [hashlib.sha256(b"aerie django " + key.encode()).hexdigest() for key in _keys]
# Before the first start of the stack there is no key yet: a random one will do.
SECRET_KEY = _derived[0] if _derived else secrets.token_urlsafe(48)
SECRET_KEY_FALLBACKS = _derived[1:]

# --- Django -----------------------------------------------------------------------------------
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "channels",
    "monitoring",
    "console.accounts",
    "console.audit",
    "console.clusters",
    "console.dashboard",
    "console.brokers",
    "console.topics",
    "console.reassignments",
    "console.quotas",
    "console.schemas",
    "console.egress",
    "console.records",
    "console.produce",
    "console.segments",
    "console.groups",
    "console.charts",
    "console.alerts",
    "console.reports",
    "console.pipeline",
    "console.saved_queries",
    "console.search",
    "console.live",
    "console.actions",
    "console.ui",
    "console.layout",
    "stack",
    "stack.demo",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "console.accounts.middleware.SecureCookiesMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "console.audit.access_log.AccessLogMiddleware",
    # GZipMiddleware adds random bytes, so that the length of a page does not tell its secrets
    # (BREACH).
    "django.middleware.gzip.GZipMiddleware",
    "csp.middleware.CSPMiddleware",
    "console.layout.trailing_slash.TrailingSlashMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "console.accounts.middleware.SignInMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "console.clusters.middleware.ClusterMiddleware",
]

FORM_RENDERER = "console.ui.form_renderer.FormRenderer"
ROOT_URLCONF = "console.urls"
ASGI_APPLICATION = "console.asgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "console.layout.menu.page",
            ],
            "builtins": [
                "django.templatetags.i18n",
                "django.templatetags.static",
                "console.ui.templatetags.ui",
                "console.ui.templatetags.components",
            ],
        },
    }
]

# --- Stores -----------------------------------------------------------------------------------
_DATABASE_URL = _env.checked("DATABASE_URL", rules.database_url)
AERIE_EMBEDDED_DATABASE = not _DATABASE_URL
if rules.needs_postgres_driver(_DATABASE_URL):
    try:
        import psycopg  # noqa: F401
    except ImportError:
        _env.problems.append(
            "DATABASE_URL names a PostgreSQL, but its driver psycopg cannot be loaded: "
            "`make up` installs it (without make: python -m pip install 'psycopg[binary]')"
        )
        _DATABASE_URL = ""
_database: dict[str, Any] = (
    {**dj_database_url.parse(_DATABASE_URL)}
    if _DATABASE_URL
    else {"ENGINE": "django.db.backends.sqlite3", "NAME": AERIE_DATA / "db.sqlite3"}
)
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {
        # Without IMMEDIATE, processes that read before they write fail with "locked".
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # Seconds; see console/http_handler.py. A PostgreSQL has a limited number of connections.
    _database["CONN_MAX_AGE"] = 60
else:
    _database["OPTIONS"] = {"connect_timeout": 5, **_database.get("OPTIONS", {})}
DATABASES = {"default": _database}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "aerie:cache",
        "OPTIONS": REDIS_OPTIONS,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

CHANNEL_LAYERS = {
    "default": {
        # Messages only announce ticks, so they may be lost.
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{**REDIS_OPTIONS, "address": REDIS_URL}],
            "prefix": "aerie:channels",
        },
    }
}

# --- Celery (monitoring/celery.py reads the CELERY_ namespace) ----------------------------------
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_TRANSPORT_OPTIONS = {
    **REDIS_OPTIONS,
    "global_keyprefix": "aerie:celery:",
    "socket_timeout": 2,  # longer than a worker waits for a task (1 s)
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "history"  # monitoring/background/queues.py routes each task
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# --- Language and time --------------------------------------------------------------------------
LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]  # made by `manage.py makemessages -l xx`
USE_I18N = True
TIME_ZONE = "UTC"
USE_TZ = True

# --- Static files: collected into the data folder at each start (console/static_files.py) ---------
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = AERIE_DATA / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "console.static_files.HashedStorage",
        # Only for the owner, as all files in the data folder.
        "OPTIONS": {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700},
    },
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# In development, each request reads the file. Without collected files, the finders are used.
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_USE_FINDERS = DEBUG or not (STATIC_ROOT / "staticfiles.json").exists()

# --- Security -----------------------------------------------------------------------------------
_allowed_hosts = _env.words("AERIE_ALLOWED_HOSTS", rules.host_name)
# Trust the forwarded headers only with a proxy; else clients could fake their address.
AERIE_IS_BEHIND_PROXY = bool(_allowed_hosts)
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]", *_allowed_hosts]
CSRF_TRUSTED_ORIGINS = [
    f"https://{host.replace('.', '*.', 1) if host.startswith('.') else host}"
    for host in _allowed_hosts
    if host != "*"
]
LOGIN_URL = "login"
CSRF_FAILURE_VIEW = "console.layout.error_pages.csrf_failure"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"
# Django sends this header only over HTTPS (console/accounts/middleware.py: Secure cookies, too).
SECURE_HSTS_SECONDS = _env.integer(
    "AERIE_HSTS_SECONDS", 365 * 86_400, lowest=0, highest=2 * 365 * 86_400
)
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": rules.PASSWORD_LENGTH_MIN},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "console.accounts.user_name_validator.UserNameValidator"},
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "form-action": [SELF],
    }
}

# --- Logs: one line each on standard output; the supervisor names, colours and stores them --------
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "class": "brokerd.logging_line_format.LineFormatter",
            "format": "{levelname} {name}: {message}",
            "style": "{",
        }
    },
    "filters": {"expected": {"()": "console.log_filter.ExpectedErrorFilter"}},
    "handlers": {
        "stdout": {
            "filters": ["expected"],
            "class": "logging.StreamHandler",
            "stream": "ext://sys.stdout",
            "formatter": "line",
        }
    },
    "root": {"handlers": ["stdout"], "level": "DEBUG" if DEBUG else "INFO"},
    "loggers": {
        "django.channels.server": {"level": "WARNING"},
        # The handlers of uvicorn are removed: they do not escape text from clients.
        "uvicorn": {"handlers": [], "propagate": True, "level": "WARNING"},
        "kazoo.client": {"level": "WARNING"},
        "httpx": {"level": "WARNING"},
        # channels_redis logs a traceback every second while Redis is down. The status line reports
        # that already.
        "channels_redis.pubsub": {"level": "CRITICAL"},
        # Deprecation warnings of libraries.
        "py.warnings": {"level": "ERROR"},
        # Celery would log a line per task.
        "celery.app.trace": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
    },
}

if _env.problems:
    raise ImproperlyConfigured("\n".join(_env.problems))
