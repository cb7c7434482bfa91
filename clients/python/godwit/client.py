"""Clients of one node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Union
from urllib.parse import quote

from . import _wire as wire
from ._errors import GodwitError
from ._inputs import Content, Inputs
from ._job import Job, Status
from ._transport import Transport

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

    def check(self, job: Mapping[str, Any]) -> wire.CheckedFile:
        """Returns what a job file names: its module, inputs and number of tasks. Nothing is handed in."""
        return self._check("job", json.dumps(dict(job), ensure_ascii=False))

    def _check(self, name: str, text: str, tables: Optional[Mapping[str, wire.Table]] = None,
               key: str = "") -> wire.CheckedFile:
        request: Dict[str, Any] = {"file_name": name, "file": text}
        if tables:
            request["tables"] = tables
            if key:
                request["key"] = key
        said: wire.CheckedFile = self._transport.json("POST", "/v1/jobs/check", request)
        return said

    def submit(self, job: JobFile, args: Iterable[Any] = (), *, files: Optional[Mapping[str, Content]] = None,
               module: Optional[Content] = None, overlay: str = "") -> Job:
        """Hands in a job and returns it once it is accepted: then it outlives this program.

        job is the path of a job file, or of a .wasm module that is run once with args, or a mapping of what a job file
        says, such as {"module": "sim.wasm", "args": ["{{.seed}}"], "sweep": {"seed": {"from": 1, "to": 100}}}. Files
        that it names are read from the directory of the job file, or the working directory, if files does not have
        them; so is the module."""
        request: Dict[str, Any] = {"overlay": overlay}
        directory = Path()
        if isinstance(job, Mapping):
            request["file_name"], request["file"] = "job", json.dumps(dict(job), ensure_ascii=False)
        elif str(job).endswith(".wasm"):
            request["file_name"], request["args"] = Path(job).name, [str(a) for a in args]
            module = module if module is not None else Path(job)
        else:
            directory, request["file_name"] = Path(job).parent, Path(job).name
            request["file"] = Path(job).read_text("utf-8")
        if "file" not in request:
            assert module is not None
            request["module"], request["inputs"] = self.put(module)["cid"], []
            return Job(self._transport, self._transport.json("POST", "/v1/jobs", request)["id"])
        if list(args):
            raise GodwitError("args go with a module; a job file has its own")
        inputs = Inputs(directory, files or {})
        said = self._check(request["file_name"], request["file"])
        tables = said.get("tables") or {}
        names = sorted(inputs.of(said))  # before anything is stored: what is not there is told at once
        if names or tables:
            request["key"] = self.new_key(overlay)
        if tables:
            request["tables"] = {a: self._put_table(inputs, of, request["key"]) for a, of in tables.items()}
            said = self._check(request["file_name"], request["file"], request["tables"], request["key"])
            names = sorted(inputs.of(said))
        inputs.refuse_others()
        if said.get("modules"):
            request["modules"] = {stage: self.put(directory / path)["cid"] for stage, path in said["modules"].items()}
        else:
            request["module"] = self.put(module if module is not None else directory / said["module"])["cid"]
        request["inputs"] = [{"name": n, **self.put(inputs.content(n), request["key"])} for n in names]
        return Job(self._transport, self._transport.json("POST", "/v1/jobs", request)["id"])

    def _put_table(self, inputs: Inputs, source: Mapping[str, str], key: str) -> wire.Table:
        """Stores the rows of an axis and returns its table."""
        content: Any
        if source["kind"] == "files":
            content = "".join(name + "\n" for name in sorted(inputs.matching(source["file"]))).encode()
        else:
            content = inputs.content(source["file"])
            if isinstance(content, (str, Path)):
                content = Path(content).read_bytes()
        headers = {"Godwit-Key": key} if key else {}
        with self._transport.open("POST", "/v1/tables?kind=" + source["kind"], content, headers) as answer:
            table: wire.Table = json.load(answer)
            return table

    def map(self, module: Union[str, Path], values: Iterable[Any], args: Iterable[str] = ("{{.value}}",),
            **job: Any) -> Job:
        """Hands in one job with a task for each value, which stands for {{.value}} in args. Further keywords are
        fields of the job file, such as memory="64MiB", verify="5%" or name="sweep"."""
        texts = [str(v) for v in values]
        if not texts:
            raise GodwitError("there are no values")
        return self.submit({"module": str(module), "args": list(args), **job, "sweep": {"value": texts}})
