"""HTTP to a node, over its socket or over TCP with a token, found as the command line finds them."""

from __future__ import annotations

import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any, BinaryIO, Mapping, Optional, Union

from ._errors import ApiError, NoNode

SOCKET, TOKEN = "api.sock", "api.token"  # names in a node's data directory


def default_data_dir() -> Path:
    """Where a node keeps its data if nobody says otherwise: the XDG base directories."""
    base = os.environ.get("XDG_DATA_HOME")
    return Path(base) / "godwit" if base else Path.home() / ".local" / "share" / "godwit"


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: Optional[float]) -> None:
        super().__init__("node", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Transport:
    """Sends requests, each on a connection of its own. Safe for threads."""

    def __init__(self, data_dir: Union[str, Path, None], api: Optional[str], token_file: Union[str, Path, None],
                 timeout: Optional[float]) -> None:
        directory = Path(data_dir or os.environ.get("GODWIT_DATA_DIR") or default_data_dir())
        self._socket = directory / SOCKET
        self._addr = api or os.environ.get("GODWIT_API") or ""
        self._timeout = timeout
        self._headers: dict[str, str] = {}
        if self._addr:
            path = Path(token_file or os.environ.get("GODWIT_TOKEN_FILE") or directory / TOKEN)
            try:
                self._headers["Authorization"] = "Bearer " + path.read_text("ascii").strip()
            except (OSError, UnicodeError) as error:
                raise ApiError(f"reading the API's token: {error}", "auth", "name the file with token_file") from error

    def _connect(self) -> http.client.HTTPConnection:
        if self._addr:
            return http.client.HTTPConnection(self._addr, timeout=self._timeout)
        return _UnixConnection(str(self._socket), self._timeout)

    def open(self, method: str, path: str, body: Union[bytes, BinaryIO, None] = None,
             headers: Optional[Mapping[str, str]] = None) -> http.client.HTTPResponse:
        """Sends a request and returns its answer, to be read and closed. Raises what is not 2xx."""
        connection = self._connect()
        try:
            connection.request(method, path, body, {**self._headers, "Connection": "close", **(headers or {})})
            answer = connection.getresponse()
        except (ConnectionError, FileNotFoundError, socket.gaierror) as error:
            connection.close()
            where = self._addr or self._socket
            raise NoNode(f"no node answers at {where}: {error}; start one with `godwit up`") from error
        except (TimeoutError, socket.timeout) as error:  # one and the same since Python 3.10
            connection.close()
            raise NoNode(f"the node at {self._addr or self._socket} sent nothing for {self._timeout} s: it may be stopped") \
                from error
        except BaseException:
            connection.close()
            raise
        if answer.status // 100 == 2:
            return answer
        with answer:
            raise _refusal(answer)

    def json(self, method: str, path: str, value: Any = None) -> Any:
        """Sends a value in JSON, or nothing, and returns the answer's."""
        body = None if value is None else json.dumps(value).encode()
        with self.open(method, path, body) as answer:
            return json.load(answer)


def _refusal(answer: http.client.HTTPResponse) -> ApiError:
    try:
        said = json.load(answer)
        return ApiError(said["error"], said.get("kind", "internal"), said.get("hint", ""), answer.status)
    except (ValueError, KeyError, TypeError):
        return ApiError(f"the node answered {answer.status} {answer.reason}", status=answer.status)
