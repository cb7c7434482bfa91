"""What can go wrong, by what the caller can do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._job import Task


class GodwitError(Exception):
    """Whatever this package raises."""


class NoNode(GodwitError):
    """No node answers where one was expected."""


class ApiError(GodwitError):
    """What the node answered when it refused. kind is one of input, not-found, refused, unreachable, internal, auth."""

    def __init__(self, message: str, kind: str = "internal", hint: str = "", status: int = 0) -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message, self.kind, self.hint, self.status = message, kind, hint, status


class TaskFailed(GodwitError):
    """A task ended without a result. task tells how: its outcome, exit_code, reason and outputs."""

    def __init__(self, task: Task) -> None:
        said = task.reason or task.message or task.outcome
        last = task.text("stderr").strip().splitlines()[-1:] if "stderr" in task.outputs else []
        super().__init__(f"task {task.index} failed: {said}" + "".join(f": {line}" for line in last))
        self.task = task
