"""`brokerd start`: one broker in the foreground, or with -daemon in the background."""

import asyncio
import contextlib
import logging
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from brokerd.cli import signals
from brokerd.cluster.membership.broker_id_znode import ClusterError
from brokerd.config.broker_config import BrokerConfig, ConfigError, parse
from brokerd.log.dirs.log_dir import LogDirError
from brokerd.logging_line_format import LineFormatter, line_of
from brokerd.metric_counters import LoopTimes
from brokerd.security.admin_token import TokenError
from brokerd.security.jaas import JaasError
from brokerd.security.ssl_engine_factory import TlsError, problems_of
from brokerd.server.broker import Broker
from brokerd.server.network.listener_sockets import BindError
from brokerd.server.network.timed_selector import TimedSelector

READY_TIMEOUT_S = 120
START_ERRORS = (BindError, LogDirError, ClusterError, TlsError, TokenError, JaasError, OSError)

logger = logging.getLogger("brokerd")


def load_config(path: str, overrides: Sequence[str]) -> BrokerConfig:
    """The configuration of a properties file and `key=value` overrides; ConfigError."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError([f"cannot read {path}: {error.strerror}"]) from error
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise ConfigError([f"cannot read {path}: line {line} is not UTF-8"]) from error
    pairs = {}
    for override in overrides:
        key, separator, value = override.partition("=")
        if not separator:
            raise ConfigError([f"--override {override}: it is not key=value"])
        pairs[key.strip()] = value.strip()
    return parse(text, pairs)


def start(path: str, overrides: Sequence[str], *, daemon: bool) -> int:
    try:
        config = load_config(path, overrides)
        problems = problems_of(config.tls.values())
    except ConfigError as error:
        problems = list(error.problems)
    if problems:
        for problem in problems:
            _print_error(problem)
        return 1
    if daemon:
        return _start_daemon(path, overrides, config)
    _log_to_standard_error()
    for warning in config.warnings:
        logger.warning("%s", warning)
    _raise_open_files_limit()
    try:
        times = LoopTimes()
        with asyncio.Runner(loop_factory=lambda: _loop(times)) as runner:
            return runner.run(_serve(config, times))
    except START_ERRORS as error:
        _print_error(error)
        return 1


def _print_error(problem: object) -> None:
    print(f"brokerd: {line_of(str(problem))}", file=sys.stderr)


def _log_to_standard_error() -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler])
    logging.getLogger("kazoo").setLevel(logging.ERROR)


def _loop(times: LoopTimes) -> asyncio.AbstractEventLoop:
    return asyncio.SelectorEventLoop(TimedSelector(times))


def _raise_open_files_limit() -> None:
    """Raises the limit of open files to the hard limit: connections and log files take one each."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


async def _serve(config: BrokerConfig, times: LoopTimes) -> int:
    """Serves until SIGTERM, SIGINT or SIGHUP (0), or until the membership ends by an error (1)."""
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def end(code: int) -> None:
        if not ended.done():
            ended.set_result(code)

    def fatal(error: Exception) -> None:
        _print_error(error)
        end(1)

    loop = asyncio.get_running_loop()
    for number in signals.stop_signals():
        loop.add_signal_handler(number, end, 0)
    broker = Broker(config, fatal, loop_times=times)
    try:
        starting = asyncio.ensure_future(broker.start())
        await asyncio.wait((starting, ended), return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await starting
        else:
            await starting
            _print_ready(broker)
        return await ended
    finally:
        await broker.stop()


def _print_ready(broker: Broker) -> None:
    config = broker.settings.config
    listeners = ", ".join(str(each) for each in config.advertised_listeners.values())
    print(
        f"brokerd {config.broker_id} is ready: {listeners},"
        f" admin http://127.0.0.1:{broker.admin_port}",
        flush=True,
    )


def _output_file(config: BrokerConfig) -> Path | None:
    """Where a broker in the background writes: the first log directory that can be written."""
    for path in map(Path, config.log_dirs):
        with contextlib.suppress(OSError):
            path.mkdir(parents=True, exist_ok=True)
            output = path / "brokerd.out"
            output.open("ab").close()
            return output
    return None


def _start_daemon(path: str, overrides: Sequence[str], config: BrokerConfig) -> int:
    """Starts the same command detached, and returns once it is ready or has failed."""
    output = _output_file(config)
    if output is None:
        _print_error(f"log.dirs: cannot write into {', '.join(config.log_dirs)}")
        return 1
    command = [sys.executable, "-m", "brokerd", "start", path]
    for override in overrides:
        command += ("--override", override)
    with output.open("ab") as file:
        begin = file.tell()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
        )
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        output_text = output.read_bytes()[begin:].decode(errors="replace")
        ready = next((line for line in output_text.splitlines() if " is ready: " in line), None)
        if ready is not None:
            print(f"{ready} (pid {process.pid}, output in {output})")
            return 0
        time.sleep(0.05)
    process.terminate()
    sys.stderr.write(output.read_bytes()[begin:].decode(errors="replace"))
    return 1
