"""Makes the wheel (PEP 517), of the standard library alone, so that pip needs no network for it."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any, Optional

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "godwit"


def _field(name: str) -> str:
    """Returns a field of pyproject.toml; tomllib is there from Python 3.11 on only."""
    found = re.search(rf'^{name} = "([^"]*)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    if not found:
        raise ValueError(f"pyproject.toml has no {name}")
    return found.group(1)


def _names() -> tuple[str, str]:
    base = f"{PACKAGE}-{_field('version')}"
    return base, f"{base}.dist-info"


def _metadata() -> str:
    return "\n".join([
        "Metadata-Version: 2.1",
        f"Name: {_field('name')}",
        f"Version: {_field('version')}",
        f"Summary: {_field('description')}",
        f"Requires-Python: {_field('requires-python')}",
        "License: Apache-2.0",
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / "README.md").read_text("utf-8"),
    ])


def _files(editable: bool) -> dict[str, bytes]:
    _, info = _names()
    files: dict[str, bytes] = {}
    if editable:
        files[f"{PACKAGE}.pth"] = f"{ROOT}\n".encode()
    else:
        for path in sorted((ROOT / PACKAGE).rglob("*")):
            if path.suffix in (".py", ".typed"):
                files[path.relative_to(ROOT).as_posix()] = path.read_bytes()
    files[f"{info}/METADATA"] = _metadata().encode()
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: godwit_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    return files


def _write(directory: str, editable: bool) -> str:
    base, info = _names()
    name = f"{base}-py3-none-any.whl"
    rows = []
    with zipfile.ZipFile(Path(directory) / name, "w", zipfile.ZIP_DEFLATED) as out:
        for path, content in _files(editable).items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{path},sha256={digest},{len(content)}")
            out.writestr(zipfile.ZipInfo(path), content)
        rows.append(f"{info}/RECORD,,")
        out.writestr(zipfile.ZipInfo(f"{info}/RECORD"), "\n".join(rows) + "\n")
    return name


def build_wheel(directory: str, config_settings: Optional[dict[str, Any]] = None,
                metadata_directory: Optional[str] = None) -> str:
    return _write(directory, editable=False)


def build_editable(directory: str, config_settings: Optional[dict[str, Any]] = None,
                   metadata_directory: Optional[str] = None) -> str:
    return _write(directory, editable=True)


def build_sdist(directory: str, config_settings: Optional[dict[str, Any]] = None) -> str:
    base, _ = _names()
    name = f"{base}.tar.gz"
    with tarfile.open(Path(directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as out:
        for part in ("pyproject.toml", "README.md", "backend", PACKAGE, "tests"):
            for path in sorted([ROOT / part, *(ROOT / part).rglob("*")]):
                if path.is_file() and path.suffix != ".pyc":
                    out.add(path, f"{base}/{path.relative_to(ROOT).as_posix()}")
        info = tarfile.TarInfo(f"{base}/PKG-INFO")
        content = _metadata().encode()
        info.size = len(content)
        out.addfile(info, io.BytesIO(content))
    return name
