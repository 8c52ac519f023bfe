#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""behaviour.py [--exact-to N] [--wine] [--only TEXT] [--list] AGENT...: runs the cases of cases.json through one language.

AGENT is a program that uses the public package of its language. It reads requests from its standard input,
one per line, words separated by tabs, and answers each on its standard output with lines `key<TAB>value`
and then an empty line:

  a record    one line per field of the C struct, by its name there, without struct_size, present, reserved
  one value   value<TAB>...
  nothing     value<TAB>null
  done        no line, for requests that only do something (open, close, set_path, take, drop)
  a failure   error<TAB>HMN_E_... and message<TAB>"...
  misuse      error<TAB>closed: the context or snapshot was closed or dropped before
  a number that the language cannot hold exactly: error<TAB>inexact, or inexact instead of the field's value

Absent is null; text follows a double quote, with \\t \\n \\r \\\\ for tab, line ends and the backslash.

--exact-to N: the language holds whole numbers exactly up to N alone: larger ones, and only those, may be
inexact, never rounded or negative.

--wine: the agent is a program of Windows under Wine, for which the root folder is drive Z.

A case is a machine and steps; with `linux` it asks for paths or sources of Linux alone. A step has `do` (the
request) and one expectation:
  record   fields and their values. A field that is not named is absent, or 0 or "" where it is always there, but
           backend, which is simulated, and ages and times, which may be any
  value    of a single value
  error    HMN_E_... or closed; `says` is a part of its message
  json     JSON pointers into the text that came as value, and what is there; /x/# is the length of x
  done     true: it is no failure
Instead of a value stand {"any": true}, {"self": true} (the agent's process id), {"has": "part of a text"},
{"least": number}, {"maybe": a value that may be absent}, {"version": true} (the header's).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import threading

HERE = pathlib.Path(__file__).resolve().parent
MACHINES = HERE / "machines"
PATIENCE_S = 60

RECORDS = {
    "backend": "backend_info", "own_memory": "process_memory", "process_memory": "process_memory",
    "memory": "process_memory", "system_memory": "system_memory", "system": "system_memory",
    "device": "device", "snapshot_device": "device", "pool": "pool", "snapshot_pool": "pool",
    "telemetry": "telemetry", "snapshot_telemetry": "telemetry", "metric": "metric", "snapshot_metric": "metric",
    "snapshot_group": "group",
    "usage": "usage", "own_usage": "usage",
    "self": "usage", "snapshot_usage": "usage", "info": "snapshot_info", "diagnostic": "diagnostic",
    "reason": "diagnostic",
    "delta": "delta", "sample_info": "sampler_info", "sample_pool": "pool",
    "sample_telemetry": "telemetry", "sample_peak": "peak", "sample_device_peak": "peak",
    "track_info": "tracker_info", "track_read_tag": "tag",
    "spill_info": "spill_info", "spill_episode": "episode"}
ANY_COUNT = ("age_ns", "unix_time_ns", "monotonic_ns", "duration_ns", "elapsed_ns", "device_generation")
UNSEEN = ("struct_size", "present", "reserved0")
SIMULATED = 16
NOW_NS = 1 << 60  # less than any time since 1970 that is reported
INEXACT = object()
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def unescaped(text):
    parts = iter(text)
    return "".join(ESCAPES[next(parts)] if part == "\\" else part for part in parts)


def parsed(text):
    """The value that an agent wrote."""
    if text == "null":
        return None
    if text == "inexact":
        return INEXACT
    if text.startswith('"'):
        return unescaped(text[1:])
    try:
        return int(text)
    except ValueError:
        return float(text)


class Agent:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, words):
        """key -> text of the answer; the agent is ended when it does not answer."""
        timer = threading.Timer(PATIENCE_S, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(("\t".join(words) + "\n").encode())
            self.process.stdin.flush()
            return self.answer()
        except BrokenPipeError:
            raise EOFError("the agent has ended") from None
        finally:
            timer.cancel()

    def answer(self):
        found = {}
        while True:
            line = self.process.stdout.readline().decode()
            if not line.endswith("\n"):
                raise EOFError("the agent ended before its answer did")
            line = line.rstrip("\r\n")
            if not line:
                return found
            key, _, text = line.partition("\t")
            if key in found:
                raise ValueError(f"{key} was answered twice")
            found[key] = text

    def end(self):
        self.process.stdin.write(b"quit\n")
        self.process.stdin.close()
        return self.process.wait(PATIENCE_S)


class Judge:
    """Holds answers against expectations; problems are texts."""

    def __init__(self, abi, own_pid=None, exact_to=None):
        self.abi = abi
        self.own_pid = own_pid
        self.exact_to = exact_to

    def may_be_inexact(self, expected):
        whole = isinstance(expected, int) and not isinstance(expected, bool)
        return self.exact_to is not None and whole and abs(expected) > self.exact_to

    def value(self, what, expected, answer):
        if answer is INEXACT:
            if not self.may_be_inexact(expected):
                yield f"{what} is inexact, not {expected!r}"
        elif isinstance(expected, dict):
            yield from self.rule(what, expected, answer)
        elif isinstance(expected, float):
            if not isinstance(answer, (int, float)) or answer != expected:
                yield f"{what} is {answer!r}, not {expected!r}"
        elif type(answer) is not type(expected) or answer != expected:
            yield f"{what} is {answer!r}, not {expected!r}"

    def rule(self, what, rule, answer):
        (name, wanted), = rule.items()
        good = {"any": lambda: answer is not None, "self": lambda: answer == self.own_pid,
                "has": lambda: wanted in answer, "least": lambda: answer >= wanted,
                "maybe": lambda: answer is None or answer == wanted,
                "version": lambda: answer == self.abi["version"]}[name]
        try:
            if not good():
                yield f"{what} is {answer!r}, not {rule}"
        except TypeError:
            yield f"{what} is {answer!r}, not {rule}"

    def unnamed(self, what, field, answer):
        """A field that the case does not name."""
        if field["name"] in ANY_COUNT and field["present"] is None:
            if answer is INEXACT and field["name"] == "unix_time_ns":
                yield from self.value(what, NOW_NS, answer)
            elif not isinstance(answer, int) or answer < 0:
                yield f"{what} is {answer!r}, not a count"
        elif field["present"]:
            if answer is not None:
                yield f"{what} is {answer!r}, and not absent"
        elif field["name"] == "backend":
            yield from self.value(what, SIMULATED, answer)
        else:
            yield from self.value(what, "" if field["count"] else 0, answer)

    def record(self, struct, expected, answer):
        fields = {f["name"]: f for f in self.abi["structs"][struct]["fields"] if f["name"] not in UNSEEN}
        for name in sorted((set(expected) | set(answer)) - set(fields)):
            yield f"{struct} has no field {name}"
        for name in sorted(set(fields) - set(answer)):
            yield f"{struct}.{name} was not answered"
        for name in sorted(set(fields) & set(answer)):
            what, value = f"{struct}.{name}", parsed(answer[name])
            if name in expected:
                wanted = expected[name]
                if fields[name]["type"] == "double" and isinstance(wanted, int):
                    wanted = float(wanted)
                yield from self.value(what, wanted, value)
            else:
                yield from self.unnamed(what, fields[name], value)

    def json(self, expected, text):
        document = json.loads(text)
        for pointer, wanted in expected.items():
            try:
                found = at_pointer(document, pointer)
            except (KeyError, IndexError, TypeError):
                yield f"{pointer} is not there"
                continue
            if isinstance(wanted, dict):
                yield from self.rule(pointer, wanted, found)
            elif found != wanted or isinstance(found, bool) != isinstance(wanted, bool):
                yield f"{pointer} is {found!r}, not {wanted!r}"

    def failure(self, step, answer):
        if answer.get("error") != step["error"]:
            yield f"{answer}, not {step['error']}"
        elif step["error"] != "closed":
            message = parsed(answer.get("message", "null"))
            if not message or step.get("says", "") not in message:
                yield f"the message is {message!r}, and does not say {step.get('says')!r}"

    def step(self, step, answer):
        if "error" in step:
            yield from self.failure(step, answer)
        elif "error" in answer:
            yield f"{answer.get('error')}: {answer.get('message')}"
        elif "record" in step:
            yield from self.record(f"hmn_{RECORDS[step['do'][0]]}", step["record"], answer)
        elif "value" in step:
            yield from self.value("value", step["value"], parsed(answer.get("value", '"no value')))
        elif "json" in step:
            yield from self.json(step["json"], parsed(answer.get("value", '"no value')))


def at_pointer(document, pointer):
    for part in pointer.split("/")[1:]:
        if part == "#":
            return len(document)
        document = document[int(part) if isinstance(document, list) else part]
    return document


def largest(expected):
    """The largest whole number of an expectation."""
    if isinstance(expected, dict):
        return max(map(largest, expected.values()), default=0)
    return abs(expected) if isinstance(expected, int) else 0


def widest_of(case, step):
    """The largest whole number that a request or its answer has."""
    if step["do"][0] == "take":
        return case.get("widest", 0)
    asked = max((int(word) for word in step["do"] if word.isdecimal()), default=0)
    return max(asked, largest(step.get("record", 0)), NOW_NS if step["do"][0] == "info" else 0)


def is_excused(judge, case, step, answer, lost):
    """Whether a number too wide for the language explains that there is no record, or no snapshot."""
    if judge.exact_to is None:
        return False
    if lost & set(step["do"][1:3]):
        return "error" in answer
    return answer.get("error") == "inexact" and widest_of(case, step) > judge.exact_to


def path_of_windows(path):
    return "Z:" + str(path).replace("/", "\\")


def machine_of(name_of, case):
    return name_of(MACHINES / case["machine"]) if "machine" in case else "-"


def run_case(agent, judge, case, name_of):
    lost = set()  # snapshots that could not be taken exactly
    opening = ["open", str(case.get("flags", 0)), str(case.get("deadline_ms", PATIENCE_S * 1000)),
               str(case.get("max_age_ms", 0)), machine_of(name_of, case)]
    for step in [{"do": opening, **case.get("open", {})}, *case["steps"]]:
        answer = agent.ask(step["do"])
        if is_excused(judge, case, step, answer, lost):
            if step["do"][0] == "take":
                lost.add(step["do"][1])
            continue
        for problem in judge.step(step, answer):
            yield f"{case['name']}: {' '.join(step['do'])}: {problem}"


def read_cases(path):
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        for step in case["steps"]:
            if isinstance(step["do"], str):
                step["do"] = step["do"].split()
            step["do"] = [str(word) for word in step["do"]]
    return cases


def own_pid(agent, name_of):
    agent.ask(["open", "0", "0", "0", name_of(MACHINES / "small.json")])
    return int(agent.ask(["own_memory", "0"])["pid"])


def run(arguments, abi, cases):
    name_of = path_of_windows if arguments.wine else str
    agent = Agent(arguments.agent)
    judge = Judge(abi, own_pid(agent, name_of), arguments.exact_to)
    problems = []
    for case in cases:
        if arguments.wine and case.get("linux"):
            continue
        try:
            problems += run_case(agent, judge, case, name_of)
        except (EOFError, ValueError, KeyError) as failure:
            problems.append(f"{case['name']}: {type(failure).__name__}: {failure}")
            if isinstance(failure, EOFError):
                return problems
    status = agent.end()
    if status != 0:
        problems.append(f"the agent ended with {status}")
    return problems


def self_test():
    """What must not pass does not."""
    abi = {"version": "1.2", "structs": {"hmn_pool": {"fields": [
        {"name": "struct_size", "type": "uint32_t", "count": None, "present": None},
        {"name": "backend", "type": "uint32_t", "count": None, "present": None},
        {"name": "total_bytes", "type": "uint64_t", "count": None, "present": "BIT"},
        {"name": "share", "type": "double", "count": None, "present": "BIT"}]}}}
    exact, lua = Judge(abi), Judge(abi, exact_to=2 ** 53)
    good = {"backend": "16", "total_bytes": "9007199254740993", "share": "null"}
    step = {"do": ["pool"], "record": {"total_bytes": 2 ** 53 + 1}}
    refusal = {"do": ["pool"], "error": "HMN_E_RANGE", "says": "past"}
    value = {"do": ["x"], "value": 'a"\n'}
    passes = [(exact, step, good), (lua, step, {**good, "total_bytes": "inexact"}),
              (exact, refusal, {"error": "HMN_E_RANGE", "message": '"4 is past the end'}),
              (exact, value, {"value": '"a"\\n'}),
              (exact, {"do": ["j"], "json": {"/a/1": None, "/a/#": 2}}, {"value": '"{"a":[1,null]}'}),
              (exact, {"do": ["pool"], "record": {"total_bytes": None, "share": 2}},
               {**good, "total_bytes": "null", "share": "2.0"})]
    fails = [(exact, step, {**good, "total_bytes": "9007199254740992"}),
             (exact, step, {**good, "total_bytes": "9007199254740993.0"}),
             (exact, step, {**good, "total_bytes": "inexact"}), (exact, step, {**good, "share": "0"}),
             (exact, step, {**good, "backend": "1"}), (exact, step, {**good, "extra": "1"}),
             (exact, step, {"backend": "16", "total_bytes": "9007199254740993"}),
             (lua, {"do": ["pool"], "record": {"total_bytes": 5}}, {**good, "total_bytes": "inexact"}),
             (exact, step, {"error": "HMN_E_RANGE", "message": '"past'}), (exact, refusal, good),
             (exact, refusal, {"error": "HMN_E_RANGE", "message": '"'}),
             (exact, refusal, {"error": "HMN_E_STATE", "message": '"past'}),
             (exact, value, {"value": "null"}), (exact, value, {}),
             (exact, {"do": ["j"], "json": {"/a/1": 0}}, {"value": '"{"a":[1,null]}'}),
             (exact, {"do": ["j"], "json": {"/a/2": None}}, {"value": '"{"a":[1,null]}'})]
    for judge, wanted, answer in passes:
        problems = list(judge.step(wanted, answer))
        assert not problems, (wanted, answer, problems)
    for judge, wanted, answer in fails:
        assert list(judge.step(wanted, answer)), (wanted, answer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact-to", type=int)
    parser.add_argument("--wine", action="store_true")
    parser.add_argument("--only", help="cases whose name has this")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("agent", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    self_test()
    abi = json.loads((HERE / "../../bindings/abi.json").read_text())
    cases = [case for case in read_cases(HERE / "cases.json") if (arguments.only or "") in case["name"]]
    if arguments.list:
        print(*(case["name"] for case in cases), sep="\n")
        return 0
    problems = run(arguments, abi, cases)
    print(*problems, sep="\n")
    print(f"{len(cases)} cases, {sum(len(case['steps']) for case in cases)} steps, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
