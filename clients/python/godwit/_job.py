"""A job that was handed in, its tasks and what they put out."""

from __future__ import annotations

import base64
import fnmatch
import json
import time
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from . import _wire as wire
from ._errors import GodwitError, NoNode, TaskFailed
from ._progress import Bar

if TYPE_CHECKING:
    from ._transport import Transport

Status = wire.Job
Progress = Union[bool, Callable[[Status], None]]

PATIENCE = 120.0  # seconds for which a node that went away is waited for: it may be started again


@dataclass(frozen=True)
class Output:
    """One output of a task: stdout, stderr or a file."""

    name: str
    cid: str
    size: int
    _read: Callable[[], bytes] = field(repr=False, compare=False)

    def read(self) -> bytes:
        return self._read()


@dataclass(frozen=True)
class Task:
    """A task that has ended."""

    index: int
    params: Dict[str, str]
    failed: bool
    outcome: str
    exit_code: int
    reason: str
    message: str
    workers: List[str]
    outputs: Dict[str, Output] = field(repr=False)

    def read(self, name: str = "stdout") -> bytes:
        """Returns what an output holds."""
        try:
            return self.outputs[name].read()
        except KeyError:
            has = ", ".join(self.outputs) or "none"
            raise GodwitError(f"task {self.index} has no output {name!r}; it has {has}") from None

    def text(self, name: str = "stdout") -> str:
        """Returns what an output holds as text."""
        return self.read(name).decode("utf-8", "replace")


class Job:
    """A job that the swarm has accepted: it outlives this program. Get one from Client.submit or Client.job."""

    def __init__(self, transport: Transport, ref: str) -> None:
        self._transport, self.id = transport, ref
        self._path = "/v1/jobs/" + quote(ref, safe="").replace(".", "%2E")

    def __repr__(self) -> str:
        return f"Job({self.id!r})"

    def status(self) -> Status:
        """Returns how far the job is, without its tasks."""
        status: Status = self._transport.json("GET", self._path + "?limit=0")
        return status

    def why(self, index: Optional[int] = None) -> wire.Why:
        """Returns why tasks wait, or are where they are: all of them, or one."""
        path = self._path + "/why" + ("" if index is None else f"?index={index}")
        why: wire.Why = self._transport.json("GET", path)
        return why

    def cancel(self, soon: bool = False, tasks: Optional[Iterable[int]] = None) -> None:
        """Ends the job; with soon what runs goes on to its end, and no more is begun. With tasks only these end, at most
        10,000 at once; those that have ended stay."""
        query = "?soon=true" if soon else ""
        if tasks is not None:
            query += ("&" if soon else "?") + "tasks=" + ",".join(str(i) for i in sorted(set(tasks)))
        self._transport.json("POST", self._path + "/cancel" + query)

    def add(self, sweep: Optional[Mapping[str, Sequence[object]]] = None, trials: int = 0,
            points: Optional[Mapping[str, Sequence[object]]] = None) -> Job:
        """Adds tasks to the job and returns the job that has them. sweep has new values of axes, and trials is the number
        of trials of each new point, 0 for as many as the others have. Without sweep, trials is the number of further
        trials of each point, or of those that points selects by values of axes."""
        request: wire.AddRequest = {"trials": trials}
        if sweep:
            request["sweep"] = {axis: [str(v) for v in values] for axis, values in sweep.items()}
        if points:
            request["points"] = {axis: [str(v) for v in values] for axis, values in points.items()}
        added: wire.Added = self._transport.json("POST", self._path + "/tasks", request)
        return Job(self._transport, added["id"])

    def forget(self) -> None:
        """Drops a job that is over, and its results."""
        self._transport.json("DELETE", self._path + "/results")

    def watch(self) -> Iterator[Status]:
        """Yields the job's status each time that it changed, until the node has all results and has checked them. A
        node that is started again meanwhile is waited for."""
        lost: Optional[float] = None
        while True:
            try:
                with self._transport.open("GET", self._path + "/watch") as lines:
                    for line in lines:
                        status = json.loads(line)
                        lost = None
                        yield status
                        if _settled(status):
                            return
            except (NoNode, OSError):
                now = time.monotonic()
                lost = lost or now
                if now - lost > PATIENCE:
                    raise
                time.sleep(0.5)

    def wait(self, progress: Progress = False) -> Status:
        """Waits until the job is over and returns its status. That tasks failed is no error: see its state."""
        bar = Bar() if progress is True else None
        status = Status()
        for status in self.watch():
            if bar:
                bar.show(status)
            elif callable(progress):
                progress(status)
        if bar:
            bar.close()
        return status

    def ended(self, start: int = 0) -> Iterator[Task]:
        """Yields the tasks that have ended until now, failed ones too, in order from an index on."""
        while True:
            page: wire.OutputPage = self._transport.json("GET", f"{self._path}/outputs?from={start}")
            for t in page["tasks"]:
                yield self._task(t)
            start = page["next"]
            if start >= page["total"]:
                return

    def as_completed(self) -> Iterator[Task]:
        """Yields each task once, soon after it ended, failed ones too."""
        seen: set[int] = set()
        first, held = 0, -1  # all tasks before first were yielded
        while True:
            for status in self.watch():
                if status["held"] == held and not _settled(status):
                    continue
                held = status["held"]
                try:
                    tasks = [t for t in self.ended(first) if t.index not in seen]
                except (NoNode, OSError):  # it may be started again: watch waits for that
                    held = -1
                    continue
                for task in tasks:
                    seen.add(task.index)
                    yield task
                while first in seen:
                    seen.remove(first)
                    first += 1
            if held >= 0:
                return

    def results(self, progress: Progress = False) -> List[Task]:
        """Waits for the job and returns its tasks in order. Raises TaskFailed for the first that failed."""
        self.wait(progress)
        tasks = list(self.ended())
        for task in tasks:
            if task.failed:
                raise TaskFailed(task)
        return tasks

    def save(self, directory: Union[str, Path], only: str = "*") -> List[Path]:
        """Writes the outputs of tasks that have ended to DIRECTORY/INDEX/NAME, those whose names match only, and
        returns what it wrote. Nothing is written over; names that lead out of the directory are refused."""
        written = []
        for task in self.ended():
            for output in task.outputs.values():
                if task.failed or not fnmatch.fnmatch(output.name, only):
                    continue
                parts = PurePosixPath(output.name).parts
                if not parts or output.name.startswith("/") or any(p == ".." or "\\" in p or ":" in p for p in parts):
                    raise GodwitError(f"task {task.index}: an output is called {output.name!r}")
                path = Path(directory, str(task.index), *parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "xb") as file:
                    file.write(output.read())
                written.append(path)
        return written

    def _task(self, t: wire.TaskOutputs) -> Task:
        outputs = {o["name"]: Output(o["name"], o["cid"], o["size"], self._reader(t["index"], o)) for o in t["outputs"]}
        return Task(t["index"], t["params"], t["failed"], t["outcome"], t["exit_code"], t.get("reason", ""),
                    t.get("message", ""), t["workers"], outputs)

    def _reader(self, index: int, output: wire.OutputContent) -> Callable[[], bytes]:
        if "content" in output or output["size"] == 0:
            content = base64.b64decode(output.get("content", ""))
            return lambda: content
        path = f"{self._path}/tasks/{index}/outputs/" + quote(output["name"]).replace(".", "%2E")

        def read() -> bytes:
            with self._transport.open("GET", path) as answer:
                return answer.read()
        return read


def _settled(status: Status) -> bool:
    checks = status.get("checks")
    return bool(status["final"]) and (not checks or checks["due"] == 0)
