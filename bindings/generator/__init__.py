# SPDX-License-Identifier: MIT OR Apache-2.0
"""Generators of the files that follow from include/hypomnesis.h. All of them read model.py; each language has a
module with outputs(model), which yields pairs of a path below bindings/ and its text."""
import pathlib

BINDINGS = pathlib.Path(__file__).resolve().parents[1]
ROOT = BINDINGS.parent
