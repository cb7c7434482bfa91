"""The files that a job reads: by name, all of a directory, all that match a pattern, and those that rows name."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, BinaryIO, Iterator, Mapping, Set, Union

from ._errors import GodwitError
from ._globs import matches

Content = Union[bytes, str, Path, BinaryIO]  # bytes, or the path of a file, or a file


class Inputs:
    """Files of a job: those that are given by name, and those below a directory."""

    def __init__(self, directory: Path, given: Mapping[str, Content]) -> None:
        self._directory, self._given = directory, given
        self._named: Set[str] = set()

    def of(self, said: Mapping[str, Any]) -> Set[str]:
        """Returns the names of all files that the answer of POST /v1/jobs/check asks for. Each is there."""
        names = set(said["inputs"])
        if not any(said.get(more) for more in ("directories", "patterns", "tables")):
            self._named |= names
            self.refuse_others()
        for name in names:
            self.content(name)
        for pattern in [*(said.get("directories") or []), *(said.get("patterns") or [])]:
            names |= self.matching(pattern)
        self._named |= names
        return names

    def content(self, name: str) -> Content:
        """Returns what a file holds, or its path. It is in the directory, or given."""
        self._named.add(name)
        if name in self._given:
            return self._given[name]
        path = self._directory / name
        if not path.is_file():
            raise GodwitError(f"the job names the file {name!r}, and {path} is none: give its content in files")
        if not path.resolve().is_relative_to(self._directory.resolve()):
            raise GodwitError(f"the job names the file {name!r}, which leads out of {self._directory}")
        return path

    def matching(self, pattern: str) -> Set[str]:
        """Returns the names of the files that a pattern matches, or that are below a directory: NAME/."""
        if pattern in self._given or (not pattern.endswith("/") and (self._directory / pattern).is_file()):
            self.content(pattern)
            return {pattern}
        base = pattern if pattern.endswith("/") else "/".join(re.split(r"[*?\[]", pattern)[0].split("/")[:-1])
        base = base.strip("/")
        names = {*self._below(base), *(n for n in self._given if n.startswith(base + "/" if base else ""))}
        parts = pattern.split("/")
        found = {n for n in names if pattern.endswith("/") or matches(parts, n.split("/"))}
        if not found:
            raise GodwitError(f"the job names {pattern!r}, and no file matches; files are looked up in "
                              f"{self._directory.resolve()}")
        for name in found:
            self.content(name)
        return found

    def _below(self, base: str) -> Iterator[str]:
        """Yields the names of all files below a directory. Links to directories are not followed."""
        if ".." in base.split("/") or base.startswith("/"):
            raise GodwitError(f"the job names {base!r}, which leads out of {self._directory}")
        for at, _, files in os.walk(self._directory / base):
            for file in files:
                yield Path(at, file).relative_to(self._directory).as_posix()

    def refuse_others(self) -> None:
        """Raises an error for a file that was given and that the job does not name."""
        unknown = sorted(set(self._given) - self._named)
        if unknown:
            names = ", ".join(sorted(self._named)) or "none"
            raise GodwitError(f"the job names no file {unknown[0]!r}; it names {names}")
