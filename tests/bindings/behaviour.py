#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""behaviour.py [--exact-to N] [--wine] [--only TEXT] [--list] AGENT...: runs the cases of cases.json in one language.

AGENT is a program that uses the public package of its language. It reads requests from its standard input,
one per line, words separated by tabs, and answers each on its standard output with lines `key<TAB>value`
and then an empty line:

  a record    one line per field of the C struct, under its C name, without struct_size, present, reserved
  one value   value<TAB>...
  nothing     value<TAB>null
  done        no line, for requests without a result (open, close, set_path, take, drop)
  a failure   error<TAB>HMN_E_... and message<TAB>"...
  misuse      error<TAB>closed: the context or snapshot was closed or dropped before
  a number that the language cannot hold exactly: error<TAB>inexact, or inexact instead of the field's value

Absent is null; text follows a double quote, with \\t \\n \\r \\\\ for tab, line ends and the backslash.

--exact-to N: the language holds whole numbers exactly only up to N: larger ones, and only those, may be
inexact, never rounded or negative.

--wine: the agent is a Windows program under Wine, which sees the root folder as drive Z.

A case is a machine and steps; a case with `linux` requests paths or sources that only Linux has. A step has `do` (the
request) and one expectation:
  record   fields and their values. A field that is not named is absent, or 0 or "" where it is always present;
           backend is simulated, and ages and times may have any value
  value    a single value
  error    HMN_E_... or closed; `says` is part of the message
  json     JSON pointers into the answer's text, and the values there; /x/# is the length of x
  done     true: the request succeeds
A value may be a rule: {"any": true}, {"self": true} (the agent's process id), {"has": "part of a text"},
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
TIMEOUT_S = 60

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
VARYING_COUNTS = ("age_ns", "unix_time_ns", "monotonic_ns", "duration_ns", "elapsed_ns", "device_generation")
HIDDEN_FIELDS = ("struct_size", "present", "reserved0")
SIMULATED = 16
RECENT_NS = 1 << 60  # less than any time since 1970 that is reported
INEXACT = object()
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}


def unescape(text):
    parts = iter(text)
    return "".join(ESCAPES[next(parts)] if part == "\\" else part for part in parts)


def parse_value(text):
    """Returns the value that an agent wrote."""
    if text == "null":
        return None
    if text == "inexact":
        return INEXACT
    if text.startswith('"'):
        return unescape(text[1:])
    try:
        return int(text)
    except ValueError:
        return float(text)


class Agent:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, words):
        """Returns key -> text of the answer; kills an agent that does not answer."""
        timer = threading.Timer(TIMEOUT_S, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(("\t".join(words) + "\n").encode())
            self.process.stdin.flush()
            return self.read_answer()
        except BrokenPipeError:
            raise EOFError("the agent has ended") from None
        finally:
            timer.cancel()

    def read_answer(self):
        fields = {}
        while True:
            line = self.process.stdout.readline().decode()
            if not line.endswith("\n"):
                raise EOFError("the agent ended before its answer did")
            line = line.rstrip("\r\n")
            if not line:
                return fields
            key, _, text = line.partition("\t")
            if key in fields:
                raise ValueError(f"{key} was answered twice")
            fields[key] = text

    def end(self):
        self.process.stdin.write(b"quit\n")
        self.process.stdin.close()
        return self.process.wait(TIMEOUT_S)


class Judge:
    """Compares answers with expectations; problems are texts."""

    def __init__(self, abi, own_pid=None, exact_to=None):
        self.abi = abi
        self.own_pid = own_pid
        self.exact_to = exact_to

    def may_be_inexact(self, expected):
        whole = isinstance(expected, int) and not isinstance(expected, bool)
        return self.exact_to is not None and whole and abs(expected) > self.exact_to

    def check_value(self, label, expected, answer):
        if answer is INEXACT:
            if not self.may_be_inexact(expected):
                yield f"{label} is inexact, not {expected!r}"
        elif isinstance(expected, dict):
            yield from self.check_rule(label, expected, answer)
        elif isinstance(expected, float):
            if not isinstance(answer, (int, float)) or answer != expected:
                yield f"{label} is {answer!r}, not {expected!r}"
        elif type(answer) is not type(expected) or answer != expected:
            yield f"{label} is {answer!r}, not {expected!r}"

    def check_rule(self, label, rule, answer):
        (name, operand), = rule.items()
        holds = {"any": lambda: answer is not None, "self": lambda: answer == self.own_pid,
                 "has": lambda: operand in answer, "least": lambda: answer >= operand,
                 "maybe": lambda: answer is None or answer == operand,
                 "version": lambda: answer == self.abi["version"]}[name]
        try:
            if not holds():
                yield f"{label} is {answer!r}, not {rule}"
        except TypeError:
            yield f"{label} is {answer!r}, not {rule}"

    def check_unnamed(self, label, field, answer):
        """Checks a field that the case does not name."""
        if field["name"] in VARYING_COUNTS and field["present"] is None:
            if answer is INEXACT and field["name"] == "unix_time_ns":
                yield from self.check_value(label, RECENT_NS, answer)
            elif not isinstance(answer, int) or answer < 0:
                yield f"{label} is {answer!r}, not a count"
        elif field["present"]:
            if answer is not None:
                yield f"{label} is {answer!r}, and not absent"
        elif field["name"] == "backend":
            yield from self.check_value(label, SIMULATED, answer)
        else:
            yield from self.check_value(label, "" if field["count"] else 0, answer)

    def check_record(self, struct, expected, answer):
        fields = {f["name"]: f for f in self.abi["structs"][struct]["fields"] if f["name"] not in HIDDEN_FIELDS}
        for name in sorted((set(expected) | set(answer)) - set(fields)):
            yield f"{struct} has no field {name}"
        for name in sorted(set(fields) - set(answer)):
            yield f"{struct}.{name} was not answered"
        for name in sorted(set(fields) & set(answer)):
            label, value = f"{struct}.{name}", parse_value(answer[name])
            if name in expected:
                expected_value = expected[name]
                if fields[name]["type"] == "double" and isinstance(expected_value, int):
                    expected_value = float(expected_value)
                yield from self.check_value(label, expected_value, value)
            else:
                yield from self.check_unnamed(label, fields[name], value)

    def check_json(self, expected, text):
        document = json.loads(text)
        for pointer, expected_value in expected.items():
            try:
                value = resolve_pointer(document, pointer)
            except (KeyError, IndexError, TypeError):
                yield f"{pointer} is not there"
                continue
            if isinstance(expected_value, dict):
                yield from self.check_rule(pointer, expected_value, value)
            elif value != expected_value or isinstance(value, bool) != isinstance(expected_value, bool):
                yield f"{pointer} is {value!r}, not {expected_value!r}"

    def check_failure(self, step, answer):
        if answer.get("error") != step["error"]:
            yield f"{answer}, not {step['error']}"
        elif step["error"] != "closed":
            message = parse_value(answer.get("message", "null"))
            if not message or step.get("says", "") not in message:
                yield f"the message is {message!r}, and does not say {step.get('says')!r}"

    def check_step(self, step, answer):
        if "error" in step:
            yield from self.check_failure(step, answer)
        elif "error" in answer:
            yield f"{answer.get('error')}: {answer.get('message')}"
        elif "record" in step:
            yield from self.check_record(f"hmn_{RECORDS[step['do'][0]]}", step["record"], answer)
        elif "value" in step:
            yield from self.check_value("value", step["value"], parse_value(answer.get("value", '"no value')))
        elif "json" in step:
            yield from self.check_json(step["json"], parse_value(answer.get("value", '"no value')))


def resolve_pointer(document, pointer):
    for part in pointer.split("/")[1:]:
        if part == "#":
            return len(document)
        document = document[int(part) if isinstance(document, list) else part]
    return document


def find_largest(expected):
    """Returns the largest whole number of an expectation."""
    if isinstance(expected, dict):
        return max(map(find_largest, expected.values()), default=0)
    return abs(expected) if isinstance(expected, int) else 0


def find_widest(case, step):
    """Returns the largest whole number in a request or its answer."""
    if step["do"][0] == "take":
        return case.get("widest", 0)
    request_number = max((int(word) for word in step["do"] if word.isdecimal()), default=0)
    return max(request_number, find_largest(step.get("record", 0)), RECENT_NS if step["do"][0] == "info" else 0)


def is_excused(judge, case, step, answer, inexact_snapshots):
    """True if a number too wide for the language explains the missing record or snapshot."""
    if judge.exact_to is None:
        return False
    if inexact_snapshots & set(step["do"][1:3]):
        return "error" in answer
    return answer.get("error") == "inexact" and find_widest(case, step) > judge.exact_to


def format_windows_path(path):
    return "Z:" + str(path).replace("/", "\\")


def find_machine(format_path, case):
    return format_path(MACHINES / case["machine"]) if "machine" in case else "-"


def run_case(agent, judge, case, format_path):
    inexact_snapshots = set()  # snapshots that could not be taken exactly
    open_request = ["open", str(case.get("flags", 0)), str(case.get("deadline_ms", TIMEOUT_S * 1000)),
                    str(case.get("max_age_ms", 0)), find_machine(format_path, case)]
    for step in [{"do": open_request, **case.get("open", {})}, *case["steps"]]:
        answer = agent.ask(step["do"])
        if is_excused(judge, case, step, answer, inexact_snapshots):
            if step["do"][0] == "take":
                inexact_snapshots.add(step["do"][1])
            continue
        for problem in judge.check_step(step, answer):
            yield f"{case['name']}: {' '.join(step['do'])}: {problem}"


def read_cases(path):
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    for case in cases:
        for step in case["steps"]:
            if isinstance(step["do"], str):
                step["do"] = step["do"].split()
            step["do"] = [str(word) for word in step["do"]]
    return cases


def read_own_pid(agent, format_path):
    agent.ask(["open", "0", "0", "0", format_path(MACHINES / "small.json")])
    return int(agent.ask(["own_memory", "0"])["pid"])


def run(arguments, abi, cases):
    format_path = format_windows_path if arguments.wine else str
    agent = Agent(arguments.agent)
    judge = Judge(abi, read_own_pid(agent, format_path), arguments.exact_to)
    problems = []
    for case in cases:
        if arguments.wine and case.get("linux"):
            continue
        try:
            problems += run_case(agent, judge, case, format_path)
        except (EOFError, ValueError, KeyError) as failure:
            problems.append(f"{case['name']}: {type(failure).__name__}: {failure}")
            if isinstance(failure, EOFError):
                return problems
    status = agent.end()
    if status != 0:
        problems.append(f"the agent ended with {status}")
    return problems


def self_test():
    """Checks that wrong answers fail and right ones pass."""
    abi = {"version": "1.2", "structs": {"hmn_pool": {"fields": [
        {"name": "struct_size", "type": "uint32_t", "count": None, "present": None},
        {"name": "backend", "type": "uint32_t", "count": None, "present": None},
        {"name": "total_bytes", "type": "uint64_t", "count": None, "present": "BIT"},
        {"name": "share", "type": "double", "count": None, "present": "BIT"}]}}}
    exact, lua = Judge(abi), Judge(abi, exact_to=2 ** 53)
    record = {"backend": "16", "total_bytes": "9007199254740993", "share": "null"}
    step = {"do": ["pool"], "record": {"total_bytes": 2 ** 53 + 1}}
    refusal = {"do": ["pool"], "error": "HMN_E_RANGE", "says": "past"}
    value = {"do": ["x"], "value": 'a"\n'}
    passes = [(exact, step, record), (lua, step, {**record, "total_bytes": "inexact"}),
              (exact, refusal, {"error": "HMN_E_RANGE", "message": '"4 is past the end'}),
              (exact, value, {"value": '"a"\\n'}),
              (exact, {"do": ["j"], "json": {"/a/1": None, "/a/#": 2}}, {"value": '"{"a":[1,null]}'}),
              (exact, {"do": ["pool"], "record": {"total_bytes": None, "share": 2}},
               {**record, "total_bytes": "null", "share": "2.0"})]
    fails = [(exact, step, {**record, "total_bytes": "9007199254740992"}),
             (exact, step, {**record, "total_bytes": "9007199254740993.0"}),
             (exact, step, {**record, "total_bytes": "inexact"}), (exact, step, {**record, "share": "0"}),
             (exact, step, {**record, "backend": "1"}), (exact, step, {**record, "extra": "1"}),
             (exact, step, {"backend": "16", "total_bytes": "9007199254740993"}),
             (lua, {"do": ["pool"], "record": {"total_bytes": 5}}, {**record, "total_bytes": "inexact"}),
             (exact, step, {"error": "HMN_E_RANGE", "message": '"past'}), (exact, refusal, record),
             (exact, refusal, {"error": "HMN_E_RANGE", "message": '"'}),
             (exact, refusal, {"error": "HMN_E_STATE", "message": '"past'}),
             (exact, value, {"value": "null"}), (exact, value, {}),
             (exact, {"do": ["j"], "json": {"/a/1": 0}}, {"value": '"{"a":[1,null]}'}),
             (exact, {"do": ["j"], "json": {"/a/2": None}}, {"value": '"{"a":[1,null]}'})]
    for judge, expectation, answer in passes:
        problems = list(judge.check_step(expectation, answer))
        assert not problems, (expectation, answer, problems)
    for judge, expectation, answer in fails:
        assert list(judge.check_step(expectation, answer)), (expectation, answer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--exact-to", type=int)
    parser.add_argument("--wine", action="store_true")
    parser.add_argument("--only", help="only cases whose name contains TEXT")
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
