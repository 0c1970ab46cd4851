"""`brokerd COMMAND`, each in a process of its own that is forked from one with all imports done.

    brokerd("topics", "--bootstrap-server", address, "--list").ok().lines

An interpreter and its imports cost ten times what most commands do.
"""

import base64
import gc
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from brokerd.cli.main import main
from tests.support.warm import Said, WarmProcess

_warm = WarmProcess(sys.executable, "-m", "tests.support.brokerd_tools")


def brokerd(*arguments: str | Path, stdin: bytes = b"") -> Said:
    """`brokerd` with these arguments."""
    said = _warm.ask(stdin, *(str(each).encode() for each in arguments))
    assert "Traceback" not in said.err, said.err
    return said


def _serve() -> None:
    """The process that is forked from; returns in a child, whose turn it then is."""
    for line in sys.stdin.buffer:
        stdin, *arguments = map(base64.b64decode, line.rstrip(b"\n").split(b" "))
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
        ):
            given.write(stdin)
            given.seek(0)
            child = os.fork()
            if child == 0:
                for number, file in enumerate((given, out, err)):
                    os.dup2(file.fileno(), number)
                sys.argv = ["brokerd", *map(bytes.decode, arguments)]
                return
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            told = [file.seek(0) or base64.b64encode(file.read()) for file in (out, err)]
        print(code, *map(bytes.decode, told), flush=True)
    os._exit(0)


if __name__ == "__main__":
    import_module("tests.support.brokerd_imports")
    gc.freeze()  # nothing of this is looked at, and so copied, in a child
    _serve()
    sys.stdin = open(0)  # noqa: SIM115
    try:
        code = main()
    except SystemExit as end:
        code = int(end.code or 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # without taking all modules down, which takes longer than most commands
