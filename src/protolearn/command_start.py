"""Ctrl-C while the command ``protolearn`` is imported: a sentence in place of a traceback."""

import os
import signal
import sys
from typing import Any


def stop_at_once(number: int, frame: Any) -> None:
    """End the command, which has not begun to work."""
    os.write(2, b"protolearn: stopped before it began.\n")
    os._exit(1)


program = getattr(sys.modules["__main__"], "__file__", None) or ""
if os.path.basename(program) == "protolearn" and signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
    signal.signal(signal.SIGINT, stop_at_once)  # until the command sets its own
