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


def parse_labels(text):
    labels, position = {}, 0
    while text and position < len(text):
        match = LABEL.match(text, position)
        assert match, f"malformed labels: {text!r}"
        name, value = match[1], re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        assert name not in labels, f"duplicate label: {text!r}"
        labels[name] = value
        position = match.end()
        assert position == len(text) or text[position] == ",", f"malformed labels: {text!r}"
        position += 1
    return labels


def parse_number(text):
    assert NUMBER.fullmatch(text), f"malformed number: {text!r}"
    return float(text.replace("Inf", "inf"))


def sample_names(name, kind, openmetrics):
    """Returns the names that samples of a family may have."""
    if not openmetrics:
        return {name}
    return {"counter": {name + "_total", name + "_created"}, "info": {name + "_info"}}.get(kind, {name})


def parse(text, openmetrics=False):
    """Returns a Family for each name; its samples map a frozenset of labels to a number."""
    families, current = {}, None
    assert text.endswith("\n")
    lines = text[:-1].split("\n")
    if openmetrics:
        assert lines.pop() == "# EOF", "no end"
    for line in lines:
        if line.startswith("# "):
            _, word, name, content = line.split(" ", 3)
            assert word in ("HELP", "TYPE"), line
            if word == "HELP":
                assert name not in families, f"duplicate family: {name}"
                current = name
                families[name] = Family(None, content, {})
            else:
                assert current == name and families[name].kind is None, line
                families[name] = families[name]._replace(kind=content)
            continue
        match = SAMPLE.fullmatch(line)
        assert match, f"malformed line: {line!r}"
        family = families[current]
        assert match[1] in sample_names(current, family.kind, openmetrics), f"{match[1]} below {current}"
        key = frozenset(parse_labels(match[2]).items())
        assert key not in family.samples, f"duplicate sample: {line!r}"
        number = parse_number(match[3])
        assert family.kind != "counter" or (number >= 0 and not math.isnan(number)), line
        family.samples[key] = number
    return families


def values(families, name, /, **labels):
    """Returns the numbers of the samples that have these labels, in the order of the text."""
    pairs = set(labels.items())
    return [number for key, number in families[name].samples.items() if pairs <= key] if name in families else []


def value(families, name, /, **labels):
    matches = values(families, name, **labels)
    assert len(matches) == 1, (name, labels, matches)
    return matches[0]
