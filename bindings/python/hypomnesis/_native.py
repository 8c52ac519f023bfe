# SPDX-License-Identifier: MIT OR Apache-2.0
"""The native library, and the extension module that is linked to it."""
from __future__ import annotations

import importlib.util
import os
import sys

__all__ = ["raw"]

IS_MACOS = sys.platform == "darwin"
SONAME = "libhypomnesis.0.1.dylib" if IS_MACOS else "libhypomnesis.so.0.1"
VARIABLE = "HYPOMNESIS_LIBRARY"
FOLDERS = "DYLD_LIBRARY_PATH" if IS_MACOS else "LD_LIBRARY_PATH"


def _library_from_environment() -> str | None:
    """The library that the environment names; None in a set-user-id program."""
    value = os.environ.get(VARIABLE)
    if not value:
        return None
    from . import _loader
    return None if _loader.is_privileged() else value


def _load_first(path: str) -> None:
    """Loads a library; the extension then uses it, as its soname is loaded already."""
    from . import _loader
    if not os.path.isabs(path):
        raise ImportError(f"{VARIABLE} is {path!r}, not the absolute path of {SONAME}")
    try:
        _loader.load(path)
    except OSError as error:
        raise ImportError(f"{VARIABLE} is {path!r}, which cannot be loaded: {error}") from error


def _list_places() -> str:
    """The places where the loader looks for the library, in order."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), SONAME)
    places = [f"next to the extension module ({path})", "the system's library folders"]
    if os.environ.get(FOLDERS):
        places.insert(0, f"{FOLDERS} ({os.environ[FOLDERS]})")
    return ", ".join(places)


def _explain(error: ImportError) -> str:
    if importlib.util.find_spec(f"{__package__}._raw") is None:
        return (f"hypomnesis: the extension module is not built for this Python "
                f"({sys.implementation.cache_tag}). Install the package with its pip.")
    return (f"hypomnesis: the native library {SONAME} cannot be loaded: {error}. "
            f"It was looked for in: {_list_places()}. Install libhypomnesis, or set {VARIABLE} to the "
            f"absolute path of {SONAME}.")


def _require_library(path: str, loaded_path: str | None) -> None:
    if loaded_path is None or not os.path.samefile(path, loaded_path):
        raise ImportError(f"{VARIABLE} is {path!r}, which is not {SONAME}: {loaded_path} was loaded")


_path = _library_from_environment()
if _path is not None:
    _load_first(_path)
try:
    from . import _proxy as raw
except ImportError as _failure:
    raise ImportError(_explain(_failure), name=__package__) from _failure
if _path is not None:
    _require_library(_path, raw.library_path())
