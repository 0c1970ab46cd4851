"""A small blocking client for the tools: sends requests to any broker, to a certain one or to the
controller, in the highest common version, and tries again until a deadline."""

import socket
import ssl
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from brokerd.cli.addresses import Address
from brokerd.cli.options import CliError
from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_response, encode_request

T = TypeVar("T")
Fields = Mapping[str, Any]

REQUEST_TIMEOUT_S = 30.0
CALL_TIMEOUT_S = 60.0
BOOTSTRAP_TIMEOUT_S = 10.0
"""For brokers that are just starting; if none listens, a minute is too long to wait."""
RETRY_PAUSE_S = 0.1
RESPONSE_BYTES_MAX = 100 << 20

VERSIONS = {
    ApiKey.LIST_OFFSETS: (1, 9),
    ApiKey.METADATA: (5, 12),
    ApiKey.OFFSET_COMMIT: (2, 8),
    ApiKey.OFFSET_FETCH: (8, 8),
    ApiKey.FIND_COORDINATOR: (4, 4),
    ApiKey.DESCRIBE_GROUPS: (1, 5),
    ApiKey.LIST_GROUPS: (0, 5),
    ApiKey.API_VERSIONS: (0, 0),
    ApiKey.CREATE_TOPICS: (2, 7),
    ApiKey.DELETE_TOPICS: (1, 5),
    ApiKey.DELETE_RECORDS: (0, 2),
    ApiKey.DESCRIBE_CONFIGS: (1, 4),
    ApiKey.DESCRIBE_LOG_DIRS: (1, 4),
    ApiKey.CREATE_PARTITIONS: (0, 3),
    ApiKey.DELETE_GROUPS: (0, 2),
    ApiKey.INCREMENTAL_ALTER_CONFIGS: (0, 1),
    ApiKey.LIST_PARTITION_REASSIGNMENTS: (0, 0),
    ApiKey.OFFSET_DELETE: (0, 0),
    ApiKey.DESCRIBE_CLIENT_QUOTAS: (0, 1),
    ApiKey.ALTER_CLIENT_QUOTAS: (0, 1),
    ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS: (0, 0),
    ApiKey.ALTER_USER_SCRAM_CREDENTIALS: (0, 0),
}
"""The lowest and highest version of each API that the tools use."""

LEADER_MOVED = {
    ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.UNKNOWN_LEADER_EPOCH,
    ErrorCode.REPLICA_NOT_AVAILABLE, ErrorCode.OFFSET_NOT_AVAILABLE,
}  # fmt: skip
"""Errors of a partition after which the metadata must be read again."""
_RETRIABLE = LEADER_MOVED | {
    ErrorCode.NOT_CONTROLLER, ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNSTABLE_OFFSET_COMMIT,
}  # fmt: skip
"""Errors that end by themselves, or once the metadata has been read again."""


class ConnectionLost(Exception):
    """No answer came; another try may get one."""


class NoBroker(CliError):
    """No broker answered before the deadline."""


class Connection:
    def __init__(
        self, address: Address, client_id: str, timeout_s: float, tls: ssl.SSLContext | None = None
    ) -> None:
        self.address = address
        self._client_id = client_id
        self._correlation_id = 0
        try:
            self._socket = socket.create_connection(address, timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if tls is not None:
                self._socket = tls.wrap_socket(self._socket, server_hostname=address[0])
        except OSError as error:
            raise _connection_error(address, error) from None
        self._received = self._socket.makefile("rb")
        self._served_versions: dict[int, tuple[int, int]] = {}
        answer = self.request(ApiKey.API_VERSIONS, {}, timeout_s)
        for each in answer.api_keys:
            self._served_versions[each.api_key] = (each.min_version, each.max_version)

    def request(self, api: ApiKey, fields: Fields, timeout_s: float) -> Any:
        """Returns the answer. Raises ConnectionLost, KafkaError if the API is not served."""
        version = self._version(api)
        self._correlation_id += 1
        request = encode_request(api, version, fields, self._correlation_id, self._client_id)
        try:
            self._socket.settimeout(timeout_s)
            self._socket.sendall(request)
            (size,) = struct.unpack(">i", self._read_exactly(4))
            if not 4 <= size <= RESPONSE_BYTES_MAX:
                raise ConnectionLost(
                    f"{address_text(self.address)} does not speak Kafka's protocol"
                )
            return decode_response(api, version, self._read_exactly(size))
        except OSError as error:  # with TLS 1.3 our certificate is refused only now
            raise _connection_error(self.address, error) from None

    def close(self) -> None:
        self._received.close()
        self._socket.close()

    def _version(self, api: ApiKey) -> int:
        low, high = VERSIONS[api]
        if api == ApiKey.API_VERSIONS:
            return high
        lowest, highest = self._served_versions.get(api, (1, 0))
        if max(low, lowest) > min(high, highest):
            raise KafkaError(
                ErrorCode.UNSUPPORTED_VERSION,
                f"The broker at {address_text(self.address)} does not support"
                f" {api.name} in a version from {low} to {high}",
            )
        return min(high, highest)

    def _read_exactly(self, size: int) -> bytes:
        data = self._received.read(size)
        if len(data) < size:
            raise ConnectionLost(f"{address_text(self.address)} closed the connection")
        return data


def _connection_error(address: Address, error: OSError) -> Exception:
    """ConnectionLost, or CliError if another try would not help."""
    where = address_text(address)
    if isinstance(error, TimeoutError):
        return ConnectionLost(f"{where} does not answer")
    if isinstance(error, ssl.SSLCertVerificationError):
        return CliError(f"{where}: its certificate is not accepted: {error.verify_message}")
    if isinstance(error, ssl.SSLEOFError):
        return CliError(f"{where} does not speak TLS, or ended it")
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or str(error)).lower().replace("_", " ")
        return CliError(f"{where}: TLS failed: {reason}")
    return ConnectionLost(f"{where}: {error.strerror or error}")


@dataclass
class Client:
    """Sends requests to the brokers of one cluster. Not thread-safe."""

    bootstrap: Sequence[Address]
    client_id: str = "brokerd-cli"
    timeout_s: float = CALL_TIMEOUT_S
    tls: ssl.SSLContext | None = None
    _connections: dict[Address, Connection] = field(default_factory=dict)
    _brokers: dict[int, Address] = field(default_factory=dict)
    _controller: int = -1
    _metadata_is_current: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in self._connections.values():
            connection.close()

    @property
    def brokers(self) -> dict[int, Address]:
        return self.with_retries(self._known_brokers)

    def metadata(self, topics: Sequence[str] | None) -> Any:
        """Brokers, controller and these topics (None: all of them); no topic is created."""
        asked = None if topics is None else [{"topic_id": None, "name": each} for each in topics]
        return self.with_retries(lambda: self._metadata(asked))

    def to_any(self, api: ApiKey, fields: Fields) -> Any:
        """The answer of whichever broker can be reached."""
        return self.with_retries(lambda: self._to_any(api, fields))

    def to_broker(self, broker_id: int, api: ApiKey, fields: Fields) -> Any:
        """The answer of one broker; for use under `with_retries`."""
        address = self._known_brokers().get(broker_id)
        if address is None:
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"Broker {broker_id} is not there.")
        return self._request(address, api, fields)

    def to_controller(self, api: ApiKey, fields: Fields) -> Any:
        """The answer of the controller; for use under `with_retries`."""
        self._known_brokers()
        if self._controller < 0:
            raise KafkaError(ErrorCode.NOT_CONTROLLER, "The cluster has no controller.")
        return self.to_broker(self._controller, api, fields)

    def with_retries(self, attempt: Callable[[], T]) -> T:
        """Calls `attempt` until the deadline. Raises NoBroker, or the KafkaError of `attempt`."""
        begun = time.monotonic()
        while True:
            try:
                return attempt()
            except ConnectionLost as error:
                never = not self._brokers
                limit_s = min(BOOTSTRAP_TIMEOUT_S, self.timeout_s) if never else self.timeout_s
                if time.monotonic() - begun > limit_s:
                    raise NoBroker(f"No broker could be asked: {error}") from None
            except KafkaError as error:
                if error.code not in _RETRIABLE or time.monotonic() - begun > self.timeout_s:
                    raise
            time.sleep(RETRY_PAUSE_S)
            self._metadata_is_current = False

    def _known_brokers(self) -> dict[int, Address]:
        """The brokers of the last metadata, which is read again after a failure."""
        if not self._metadata_is_current:
            self._metadata([])
        return self._brokers

    def _metadata(self, asked: list[dict[str, Any]] | None) -> Any:
        answer = self._to_any(
            ApiKey.METADATA, {"topics": asked, "allow_auto_topic_creation": False}
        )
        self._brokers = {each.node_id: (each.host, each.port) for each in answer.brokers}
        self._controller = answer.controller_id
        self._metadata_is_current = True
        return answer

    def _to_any(self, api: ApiKey, fields: Fields) -> Any:
        connection = self._any_connection()
        return self._request(connection.address, api, fields)

    def _any_connection(self) -> Connection:
        """A connection to some broker, if possible one that is open."""
        lost: ConnectionLost | None = None
        addresses = [*self._connections, *self._brokers.values(), *self.bootstrap]
        for address in dict.fromkeys(addresses):
            try:
                return self._connection_to(address)
            except ConnectionLost as error:
                lost = error
        assert lost is not None
        raise lost

    def _request(self, address: Address, api: ApiKey, fields: Fields) -> Any:
        try:
            return self._connection_to(address).request(
                api, fields, min(REQUEST_TIMEOUT_S, self.timeout_s)
            )
        except ConnectionLost:
            broken = self._connections.pop(address, None)
            if broken is not None:
                broken.close()
            raise

    def _connection_to(self, address: Address) -> Connection:
        if address not in self._connections:
            timeout_s = min(BOOTSTRAP_TIMEOUT_S, self.timeout_s)
            self._connections[address] = Connection(address, self.client_id, timeout_s, self.tls)
        return self._connections[address]


def address_text(address: Address) -> str:
    """host:port."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
