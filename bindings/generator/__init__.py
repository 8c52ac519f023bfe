# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writers of what the bindings take from include/hypomnesis.h. model.py is what all of them read; each
language has a module of its own with outputs(model): pairs of a path below bindings/ and its text."""
import pathlib

BINDINGS = pathlib.Path(__file__).resolve().parents[1]
ROOT = BINDINGS.parent
