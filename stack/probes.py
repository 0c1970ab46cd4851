"""Runs the readiness probes. A probe returns True or False; errors count as False."""

import asyncio
import contextlib
import json
from typing import Any
from urllib.parse import urlsplit

import redis.asyncio
from redis.exceptions import RedisError

from monitoring import redis_keys
from stack.process_table import Probe, ProbeKind

TIMEOUT_S = 3.0
_ANSWER_BYTES_MAX = 65_536


class Prober:
    """Runs probes. The variables in their targets must have been replaced."""

    def __init__(self, redis_url: str, cluster: str) -> None:
        self._redis_url = redis_url
        self._ticks_key = redis_keys.ticks(cluster)

    async def is_ready(self, probe: Probe, since_ms: int) -> bool:
        """True if ready. `since_ms`: when the process started (wall clock), for TICK only."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._send_probe(probe, since_ms)
        except (OSError, RedisError, ValueError, EOFError):
            return False  # TimeoutError is an OSError

    async def _send_probe(self, probe: Probe, since_ms: int) -> bool:
        match probe.kind:
            case ProbeKind.HTTP:
                return await self._http(probe.target)
            case ProbeKind.TCP:
                await _talk(int(probe.target), b"", 0)
                return True
            case ProbeKind.ZOOKEEPER:
                answer = await _talk(int(probe.target), b"srvr", 17)
                return answer.startswith(b"Zookeeper version")
            case ProbeKind.REDIS:
                async with redis.asyncio.from_url(self._redis_url) as client:
                    return bool(await client.ping())
            case ProbeKind.TICK:
                return await self._tick(int(probe.target), since_ms)
            case ProbeKind.NONE:
                return True
        return False  # EXIT and LINE: the supervisor checks them

    @staticmethod
    async def _http(url: str) -> bool:
        parts = urlsplit(url)
        request = f"GET {parts.path} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode()
        answer = await _talk(parts.port or 80, request, 12)
        return answer.startswith(b"HTTP/1.") and answer[9:12] == b"200"

    async def _tick(self, brokers: int, since_ms: int) -> bool:
        """Whether in a tick since `since_ms` at least `brokers` brokers are up."""
        async with redis.asyncio.from_url(self._redis_url) as client:
            entries: Any = await client.xrevrange(self._ticks_key, count=1)
        if not entries:
            return False
        meta = json.loads(entries[0][1][b"meta"])
        up = [broker for broker in meta["brokers"] if broker["up"]]
        return bool(meta["status"] == "ok" and meta["at_ms"] >= since_ms and len(up) >= brokers)


async def _talk(port: int, request: bytes, answer_bytes: int) -> bytes:
    """Send to 127.0.0.1:port and read at least `answer_bytes` of the answer."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_ANSWER_BYTES_MAX)
    try:
        writer.write(request)
        await writer.drain()
        return await reader.readexactly(answer_bytes)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
