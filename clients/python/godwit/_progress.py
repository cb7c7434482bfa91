"""One line that says how far a job is: in a terminal and in a notebook alike."""

from __future__ import annotations

import sys
import time
from typing import Any, Dict, Optional, TextIO

WIDTH = 24  # of the bar, in characters


class Bar:
    """Shows a status of a job, or counts, over and over on one line of standard error."""

    def __init__(self, to: Optional[TextIO] = None) -> None:
        self._to, self._began, self._length = to or sys.stderr, time.monotonic(), 0

    def show(self, status: Dict[str, Any]) -> None:
        tasks = status["tasks"]
        self.count(tasks["total"], tasks["done"], tasks["failed"], tasks["running"])

    def count(self, total: int, done: int, failed: int, running: int) -> None:
        ended = done + failed
        filled = WIDTH * ended // total if total else 0
        rate = ended / max(time.monotonic() - self._began, 1e-3)
        line = f"[{'#' * filled}{'.' * (WIDTH - filled)}] {ended} of {total} done, {running} running, {rate:.1f}/s"
        if failed:
            line += f", {failed} failed"
        self._to.write("\r" + line.ljust(self._length))
        self._to.flush()
        self._length = len(line)

    def close(self) -> None:
        if self._length:
            self._to.write("\n")
            self._to.flush()
