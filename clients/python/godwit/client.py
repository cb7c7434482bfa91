"""Clients of one node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO, Dict, Iterable, List, Mapping, Optional, Union
from urllib.parse import quote

from ._errors import GodwitError
from ._job import Job, Status
from ._transport import Transport

Content = Union[bytes, str, Path, BinaryIO]  # bytes, or the path of a file, or a file
JobFile = Union[str, Path, Mapping[str, Any]]  # the path of a job file or a module, or what a job file says


class Client:
    """Talks to the node of a data directory by its socket, or with api to a TCP address with a token. What is not said
    is as for the command line: GODWIT_DATA_DIR, GODWIT_API and GODWIT_TOKEN_FILE, then the usual data directory."""

    def __init__(self, data_dir: Union[str, Path, None] = None, *, api: Optional[str] = None,
                 token_file: Union[str, Path, None] = None, timeout: Optional[float] = 300.0) -> None:
        self._transport = Transport(data_dir, api, token_file, timeout)

    def status(self) -> Dict[str, Any]:
        """Returns the node's state and why it is so."""
        return dict(self._transport.json("GET", "/v1/status"))

    def peers(self, overlay: str = "") -> List[Dict[str, Any]]:
        """Returns the members of an overlay, or of all that the node serves."""
        query = f"?overlay={quote(overlay, safe='')}" if overlay else ""
        return list(self._transport.json("GET", "/v1/peers" + query))

    def jobs(self) -> List[Status]:
        """Returns the jobs that the node knows, the newest first."""
        return list(self._transport.json("GET", "/v1/jobs"))

    def job(self, ref: str) -> Job:
        """Returns a job by its ID, by enough of the ID's end, or by its name."""
        job = Job(self._transport, ref)
        return Job(self._transport, job.status()["id"])

    def put(self, content: Content, key: str = "") -> Dict[str, Any]:
        """Stores content at the node and returns its cid and size. key is one that new_key returned."""
        headers = {"Godwit-Key": key} if key else {}
        if isinstance(content, (str, Path)):
            with open(content, "rb") as file:
                return self.put(file, key)
        with self._transport.open("POST", "/v1/files", content, headers) as answer:
            return dict(json.load(answer))

    def new_key(self, overlay: str = "") -> str:
        """Returns a key for the inputs of a job for an overlay, in base64; "" where jobs are not sealed."""
        path = "/v1/keys" + (f"?overlay={quote(overlay, safe='')}" if overlay else "")
        return str(self._transport.json("POST", path).get("key", ""))

    def check(self, job: Mapping[str, Any]) -> Dict[str, Any]:
        """Returns what a job file names: its module, inputs and number of tasks. Nothing is handed in."""
        return dict(self._check("job", json.dumps(dict(job), ensure_ascii=False)))

    def _check(self, name: str, text: str) -> Any:
        return self._transport.json("POST", "/v1/jobs/check", {"file_name": name, "file": text})

    def submit(self, job: JobFile, args: Iterable[Any] = (), *, files: Optional[Mapping[str, Content]] = None,
               module: Optional[Content] = None, overlay: str = "") -> Job:
        """Hands in a job and returns it once it is accepted: then it outlives this program.

        job is the path of a job file, or of a .wasm module that is run once with args, or a mapping of what a job file
        says, such as {"module": "sim.wasm", "args": ["{{.seed}}"], "sweep": {"seed": {"from": 1, "to": 100}}}. Files
        that it names are read from the directory of the job file, or the working directory, if files does not have
        them; so is the module."""
        request: Dict[str, Any] = {"overlay": overlay}
        directory = Path()
        names: List[str] = []
        if isinstance(job, Mapping):
            request["file_name"], request["file"] = "job", json.dumps(dict(job), ensure_ascii=False)
        elif str(job).endswith(".wasm"):
            request["file_name"], request["args"] = Path(job).name, [str(a) for a in args]
            module = module if module is not None else Path(job)
        else:
            directory, request["file_name"] = Path(job).parent, Path(job).name
            request["file"] = Path(job).read_text("utf-8")
        if "file" in request:
            if list(args):
                raise GodwitError("args go with a module; a job file has its own")
            said = self._check(request["file_name"], request["file"])
            if any(said.get(key) for key in ("directories", "patterns", "tables")):
                raise GodwitError("the job file names directories, patterns or tables: hand it in with `godwit run`")
            names = said["inputs"]
            module = module if module is not None else directory / said["module"]
        assert module is not None
        given = files or {}
        unknown = sorted(set(given) - set(names))
        if unknown:
            raise GodwitError(f"the job names no file {unknown[0]!r}; it names {', '.join(names) or 'none'}")
        found = {name: given[name] if name in given else _below(directory, name) for name in names}
        request["module"] = self.put(module)["cid"]
        if names:
            request["key"] = self.new_key(overlay)
        request["inputs"] = [{"name": n, **self.put(c, request["key"])} for n, c in found.items()]
        return Job(self._transport, self._transport.json("POST", "/v1/jobs", request)["id"])

    def map(self, module: Union[str, Path], values: Iterable[Any], args: Iterable[str] = ("{{.value}}",),
            **job: Any) -> Job:
        """Hands in one job with a task for each value, which stands for {{.value}} in args. Further keywords are
        fields of the job file, such as memory="64MiB", verify="5%" or name="sweep"."""
        texts = [str(v) for v in values]
        if not texts:
            raise GodwitError("there are no values")
        return self.submit({"module": str(module), "args": list(args), **job, "sweep": {"value": texts}})


def _below(directory: Path, name: str) -> Path:
    path = directory / name
    if not path.is_file():
        raise GodwitError(f"the job names the file {name!r}, and {path} is none: give its content in files")
    if not path.resolve().is_relative_to(directory.resolve()):
        raise GodwitError(f"the job names the file {name!r}, which leads out of {directory}")
    return path
