"""The supervisor's side of the fork server (fork_server.py)."""

import asyncio
import json
import os
import signal
import socket
from typing import Protocol


class Child(Protocol):
    """A process that the supervisor started."""

    @property
    def pid(self) -> int: ...

    async def wait(self) -> int:
        """Its exit status; negative: minus the signal's number."""


class ForkedChild:
    """A process that the fork server started."""

    def __init__(
        self, pid: int, answers: asyncio.StreamReader, transport: asyncio.BaseTransport
    ) -> None:
        self.pid = pid
        self._answers = answers
        self._transport = transport

    async def wait(self) -> int:
        """Its exit status; that of a killed process if the fork server has ended."""
        answer = await self._answers.readline()
        self._transport.close()
        return int(answer) if answer else -signal.SIGKILL


class ForkClient:
    """Sends requests to the fork server that runs now."""

    def __init__(self) -> None:
        self._requests: socket.socket | None = None

    def open(self) -> socket.socket:
        """The standard input for a new server. Requests wait in it until the server is ready; they
        fail if the server ends before that."""
        self.close()
        self._requests, of_server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests.setblocking(False)
        return of_server

    def close(self) -> None:
        if self._requests is not None:
            self._requests.close()
        self._requests = None

    async def start(self, command: list[str], output: int) -> ForkedChild:
        """Have the server fork a process for the command. Raises OSError if no server answers."""
        if self._requests is None:
            raise ConnectionError("the fork server does not run")
        answers, report = os.pipe()
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(answers, "rb", 0)
        )
        try:
            socket.send_fds(self._requests, [json.dumps(command).encode()], [output, report])
        except OSError:
            transport.close()
            raise
        finally:
            os.close(report)
        pid = await reader.readline()
        if not pid:
            transport.close()
            raise ConnectionError("the fork server has ended or could not fork")
        return ForkedChild(int(pid), reader, transport)
