"""A concurrent.futures.Executor whose functions are modules: many calls become few jobs."""

from __future__ import annotations

import json
import queue
import threading
import time
from concurrent.futures import Executor as BaseExecutor
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar, Union

from ._errors import ApiError, GodwitError, TaskFailed
from ._job import Job
from ._progress import Bar
from .client import Client, Content

T = TypeVar("T")

LINGER = 0.05  # seconds for which further calls are waited for before a job is made of them
MOST_CALLS = 10_000  # of a job: its first results are then there while others are still handed in
MOST_BYTES = 700_000  # of their arguments in JSON: a job file has 1 MiB at most
MOST_ARG = 4096  # bytes of an argument, as of any value of a sweep


@dataclass(frozen=True)
class Module(Generic[T]):
    """A program that an Executor calls: each call is a task with the call's arguments, as text, behind args.

    result makes a value of what the task printed, without the last line's end: str by default, int, json.loads. job has
    further fields of the job file, such as {"memory": "64MiB", "verify": "5%"}; files are inputs of all calls."""

    path: Union[str, Path]
    args: Tuple[str, ...] = ()
    result: Callable[[str], T] = str  # type: ignore[assignment]
    job: Mapping[str, Any] = field(default_factory=dict, hash=False)
    files: Mapping[str, Content] = field(default_factory=dict, hash=False)


@dataclass
class _Call:
    module: Module[Any]
    args: Tuple[str, ...]
    future: "Future[Any]"
    size: int


class Executor(BaseExecutor):
    """Runs calls of modules as tasks of a swarm. submit and map are those of concurrent.futures, with a Module or the
    path of one in place of the function. A call that fails raises TaskFailed.

    Calls that are made within moments become one job. As with other executors, leaving the with statement waits for all
    calls; the jobs outlive this program, whatever becomes of it."""

    def __init__(self, client: Optional[Client] = None, *, overlay: str = "", progress: bool = False) -> None:
        self._client, self._overlay = client or Client(), overlay
        self._calls: "queue.SimpleQueue[Optional[_Call]]" = queue.SimpleQueue()
        self._modules: Dict[str, Module[Any]] = {}  # those called by their paths
        self._knows_zip: Optional[bool] = None
        self._lock = threading.Lock()
        self._shut = self._drop = False
        self._tally = _Tally(Bar() if progress else None)
        self._followers: List[threading.Thread] = []
        self._batcher = threading.Thread(target=self._batch, name="godwit-batch", daemon=True)
        self._batcher.start()

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        """Calls a module with arguments, which become text. There are no keyword arguments."""
        if isinstance(fn, (str, Path)):
            fn = self._modules.setdefault(str(fn), Module(fn))
        if not isinstance(fn, Module):
            raise TypeError(f"{fn!r} is no module: give the path of a .wasm file, or a godwit.Module")
        if kwargs:
            raise TypeError("a module has no keyword arguments")
        texts = tuple(str(a) for a in args)
        for text in texts:
            if len(text.encode()) > MOST_ARG or "\0" in text:
                raise ValueError(f"an argument has more than {MOST_ARG} bytes or a zero byte: use an input file")
        call = _Call(fn, texts, Future(), sum(len(json.dumps(t)) + 1 for t in texts))
        with self._lock:
            if self._shut:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._tally.called()
            self._calls.put(call)
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Takes no more calls. cancel_futures cancels those that are not handed in yet."""
        with self._lock:
            first, self._shut = not self._shut, True
            self._drop = self._drop or cancel_futures
            if first:
                self._calls.put(None)
        if wait:
            self._batcher.join()
            for follower in self._followers:
                follower.join()
            self._tally.close()

    def _batch(self) -> None:
        """Takes calls and makes jobs of them until shutdown."""
        over = False
        while not over:
            calls: List[_Call] = []
            size = 0
            until: Optional[float] = None
            while len(calls) < MOST_CALLS and size < MOST_BYTES:
                try:
                    wait = None if until is None else max(0.0, until - time.monotonic())
                    call = self._calls.get(timeout=wait)
                except queue.Empty:
                    break
                if call is None:
                    over = True
                    break
                until = until or time.monotonic() + LINGER
                if self._drop:
                    call.future.cancel()
                if call.future.set_running_or_notify_cancel():
                    calls.append(call)
                    size += call.size
                else:
                    self._tally.ended(failed=True)
            for group in _alike(calls, self._zips):
                self._hand_in(group)

    def _zips(self) -> bool:
        """Says whether the node knows axes that go together; asked once, when there is a need."""
        if self._knows_zip is None:
            try:
                sweep = {"a": [1, 2], "b": [1, 2]}
                said = self._client.check({"module": "m", "args": ["{{.a}}{{.b}}"], "sweep": sweep, "zip": ["a", "b"]})
                self._knows_zip = said["tasks"] == 2
            except GodwitError:
                self._knows_zip = False
        return self._knows_zip

    def _hand_in(self, calls: List[_Call]) -> None:
        """Makes a job of calls that fit one. Of calls that are refused each is tried alone in the end, so that one
        that is wrong does not take others with it."""
        try:
            module = calls[0].module
            job = self._client.submit(_job_of(calls), files=module.files, module=Path(module.path),
                                      overlay=self._overlay)
        except ApiError as error:
            if error.kind == "input" and len(calls) > 1:
                half = len(calls) // 2
                self._hand_in(calls[:half])
                self._hand_in(calls[half:])
                return
            self._fail(calls, error)
        except Exception as error:  # pylint: disable=broad-except
            self._fail(calls, error)
        else:
            follower = threading.Thread(target=self._follow, args=(job, calls), name="godwit-follow", daemon=True)
            self._followers.append(follower)
            follower.start()

    def _follow(self, job: Job, calls: List[_Call]) -> None:
        """Gives each call its result when its task has ended."""
        try:
            for task in job.as_completed():
                call = calls[task.index]
                try:
                    if task.failed:
                        raise TaskFailed(task)
                    text = task.text()
                    call.future.set_result(call.module.result(text[:-1] if text.endswith("\n") else text))
                except Exception as error:  # pylint: disable=broad-except
                    call.future.set_exception(error)
                self._tally.ended(failed=task.failed)
            raise GodwitError(f"job {job.id} ended without this task: it was cancelled, or its deadline passed")
        except Exception as error:  # pylint: disable=broad-except
            self._fail([c for c in calls if not c.future.done()], error)

    def _fail(self, calls: Iterable[_Call], error: Exception) -> None:
        for call in calls:
            call.future.set_exception(error)
            self._tally.ended(failed=True)


class _Tally:
    """Counts calls, and shows them where there is a bar."""

    def __init__(self, bar: Optional[Bar]) -> None:
        self._bar, self._lock = bar, threading.Lock()
        self._total = self._done = self._failed = 0

    def called(self) -> None:
        with self._lock:
            self._total += 1

    def ended(self, failed: bool) -> None:
        with self._lock:
            self._failed += failed
            self._done += not failed
            if self._bar:
                self._bar.count(self._total, self._done, self._failed, self._total - self._done - self._failed)

    def close(self) -> None:
        if self._bar:
            self._bar.close()


def _alike(calls: List[_Call], zips: Callable[[], bool]) -> Iterator[List[_Call]]:
    """Divides calls into groups of which each is one job: of one module, and if the node knows no axes that go together
    with at most one argument that differs."""
    by_module: Dict[Tuple[int, int], List[_Call]] = {}
    for call in calls:
        by_module.setdefault((id(call.module), len(call.args)), []).append(call)
    for group in by_module.values():
        kinds = [len({c.args[i] for c in group}) for i in range(len(group[0].args))]
        if sum(k > 1 for k in kinds) < 2 or zips():
            yield group
            continue
        varies = kinds.index(max(kinds))
        by_rest: Dict[Tuple[str, ...], List[_Call]] = {}
        for call in group:
            by_rest.setdefault(call.args[:varies] + call.args[varies + 1:], []).append(call)
        yield from by_rest.values()


def _job_of(calls: List[_Call]) -> Dict[str, Any]:
    """Returns the job file of calls that _alike put together: an axis for each argument that differs."""
    module, first = calls[0].module, calls[0].args
    args = [a.replace("{{", '{{"{{"}}') for a in (*module.args, *first)]
    sweep: Dict[str, Any] = {}
    for i, text in enumerate(first):
        if any(c.args[i] != text for c in calls):
            args[len(module.args) + i] = "{{.arg%d}}" % i
            sweep[f"arg{i}"] = [c.args[i] for c in calls]
    job: Dict[str, Any] = {"module": Path(module.path).name, "args": args, "outputs": ["stdout", "stderr"],
                           **module.job}
    if module.files:
        job.setdefault("files", list(module.files))
    if len(sweep) > 1:
        job["zip"] = list(sweep)
    if len(calls) > 1:
        job["sweep"] = sweep or {"repeat": len(calls)}
    return job
