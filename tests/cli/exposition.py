# SPDX-License-Identifier: MIT OR Apache-2.0
"""A strict parser of both text formats of metrics, written from their specifications."""
import collections
import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\n"])*)"')
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|NaN|[+-]Inf")

Family = collections.namedtuple("Family", "kind help samples")


def labels_of(text):
    labels, at = {}, 0
    while text and at < len(text):
        found = LABEL.match(text, at)
        assert found, f"malformed labels: {text!r}"
        name, value = found[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], found[2])
        assert name not in labels, f"label twice: {text!r}"
        labels[name] = value
        at = found.end()
        assert at == len(text) or text[at] == ",", f"malformed labels: {text!r}"
        at += 1
    return labels


def number_of(text):
    assert NUMBER.fullmatch(text), f"malformed number: {text!r}"
    return float(text.replace("Inf", "inf"))


def sample_names(name, kind, openmetrics):
    """The names that samples of a family may have."""
    if not openmetrics:
        return {name}
    return {"counter": {name + "_total", name + "_created"}, "info": {name + "_info"}}.get(kind, {name})


def parse(text, openmetrics=False):
    """name of HELP and TYPE -> Family; samples: frozenset of labels -> number."""
    families, current = {}, None
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    if openmetrics:
        assert lines.pop() == "# EOF", "no end"
    for line in lines:
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            assert word in ("HELP", "TYPE"), line
            if word == "HELP":
                assert name not in families, f"family in two places: {name}"
                current = name
                families[name] = Family(None, rest, {})
            else:
                assert current == name and families[name].kind is None, line
                families[name] = families[name]._replace(kind=rest)
            continue
        found = SAMPLE.fullmatch(line)
        assert found, f"malformed line: {line!r}"
        family = families[current]
        assert found[1] in sample_names(current, family.kind, openmetrics), f"{found[1]} below {current}"
        key = frozenset(labels_of(found[2]).items())
        assert key not in family.samples, f"sample twice: {line!r}"
        number = number_of(found[3])
        assert family.kind != "counter" or (number >= 0 and not math.isnan(number)), line
        family.samples[key] = number
    return families


def values(families, name, /, **labels):
    """The numbers of the samples that have these labels, in the order of the text."""
    wanted = set(labels.items())
    return [number for key, number in families[name].samples.items() if wanted <= key] if name in families else []


def value(families, name, /, **labels):
    found = values(families, name, **labels)
    assert len(found) == 1, (name, labels, found)
    return found[0]
