#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""generator.py ROOT: a new field, metric, enumerator or snapshot text in the header reaches every language without
other edits, an unknown construct stops the generator with a message, and comments name only existing things."""
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(ROOT / "bindings"))
from generator import abi, agents, cpp, csharp, go, lua, python, swig  # noqa: E402
from generator.model import Model  # noqa: E402

HEADER = (ROOT / "include/hypomnesis.h").read_text(encoding="utf-8")
LAST_BIT = "#define HMN_POOL_HAS_UNATTRIBUTED HMN_PRESENCE(6)\n"
POOL = "} hmn_pool;"
LAST_STATE = "    HMN_RUN_STATE_UNKNOWN = 0,"
LAST_METRIC = "    HMN_METRIC_UNKNOWN = 0,"
LAST_TEXT = "    HMN_TEXT_PROCESS_NAME = 1,"
NEW_BIT = LAST_BIT + "#define HMN_POOL_HAS_PINNED HMN_PRESENCE(63)\n"


def edit_header(*edits):
    text = HEADER
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} is in the header {text.count(old)} times"
        text = text.replace(old, new)
    return text


def generate(text):
    """Returns path -> generated text for a header."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "hypomnesis.h")
        path.write_text(text, encoding="utf-8")
        model = Model(path)
        return {name: output for language in (swig, cpp, csharp, go, python, lua, abi, agents)
                for name, output in language.outputs(model)}


ADDITIONS = [
    ("a field", [(LAST_BIT, NEW_BIT), (POOL, "    uint64_t pinned_bytes; /* cannot be moved */\n" + POOL)], {
        "cpp/hypomnesis.hpp": ["  std::optional<std::uint64_t> pinned_bytes;  // cannot be moved",
                               "v.pinned_bytes = f.get(HMN_POOL_HAS_PINNED, &hmn_pool::pinned_bytes);"],
        "csharp/Hypomnesis/Generated/Records.cs": ["<summary>Cannot be moved.</summary>",
                                                   "PinnedBytes = from->PinnedBytes,"],
        "csharp/Hypomnesis/Generated/Constants.cs": ["Pinned = Raw.POOL_HAS_PINNED,"],
        "csharp/Hypomnesis/Interop/Generated/Records.cs": ["internal ulong? PinnedBytes => (present & 9223372036854775808ul) != 0"],
        "go/records.go": ['`json:"pinned_bytes"`', "optional(from.Present, PoolHasPinned, from.PinnedBytes),"],
        "go/internal/raw/records.go": ["PinnedBytes"],
        "python/hypomnesis/_records.py": ["    pinned_bytes: int | None  # cannot be moved"],
        "lua/hypomnesis/generated/types.lua": ["---@field pinned_bytes integer? cannot be moved"],
        "lua/hypomnesis/generated/records.lua": ["pinned_bytes = band(present, 9223372036854775808ULL) ~= 0 and unsigned("],
        "lua/hypomnesis/generated/cdef.lua": ["uint64_t pinned_bytes;"],
        "swig/records_lua.i": ["HMN_LUA_FIELD(u64, pinned_bytes);"],
        "../tests/bindings/c/records.c": ['{"pinned_bytes", U64, offsetof(hmn_pool, pinned_bytes), HMN_POOL_HAS_']}),
    ("a metric", [(LAST_METRIC, LAST_METRIC + "\n    HMN_METRIC_NOISE_DB = 99, /* dB; instance: HMN_SENSOR_* */")], {
        "cpp/hypomnesis.hpp": ["  noise_db = HMN_METRIC_NOISE_DB,  // dB; instance: sensor_id"],
        "csharp/Hypomnesis/Generated/Constants.cs": ['<summary>dB; instance: <see cref="Sensor"/>.</summary>',
                                                     "NoiseDb = Raw.METRIC_NOISE_DB,"],
        "go/constants.go": ["MetricNoiseDb", "// dB; instance: Sensor"],
        "python/hypomnesis/_constants.py": ["    NOISE_DB = raw.METRIC_NOISE_DB  # dB; instance: Sensor"],
        "lua/hypomnesis/generated/constants.lua": ["  METRIC_NOISE_DB = 99,"]}),
    ("an enumerator", [(LAST_STATE, LAST_STATE + "\n    HMN_RUN_STATE_BUSY = 9, /* at work */")], {
        "cpp/hypomnesis.hpp": ["  busy = HMN_RUN_STATE_BUSY,  // at work"],
        "csharp/Hypomnesis/Generated/Constants.cs": ["Busy = Raw.RUN_STATE_BUSY,"],
        "go/constants.go": ["StateBusy"],
        "python/hypomnesis/_constants.py": ["    BUSY = raw.RUN_STATE_BUSY  # at work"],
        "lua/hypomnesis/generated/constants.lua": ["  RUN_STATE_BUSY = 9,"]}),
    ("a text", [(LAST_TEXT, "    HMN_TEXT_PROCESS_USER = 7, /* of usage i: its user */\n" + LAST_TEXT)], {
        "cpp/hypomnesis.hpp": ["process_user;  // in a snapshot: its user",
                               "v.process_user = text(HMN_TEXT_PROCESS_USER);"],
        "csharp/Hypomnesis/Generated/Records.cs": ["ProcessUser = text(Raw.TEXT_PROCESS_USER),"],
        "go/records.go": ["{textProcessUser, func(of *Usage) *Optional[string] { return &of.User }},"],
        "python/hypomnesis/_records.py": ["    process_user: str | None = None  # in a snapshot: its user"],
        "lua/hypomnesis/generated/records.lua": ['    {"user", 7},'],
        "swig/records_lua.i": ['{HMN_TEXT_PROCESS_USER, "user"},']}),
]
REFUSALS = [
    ([(POOL, "    hmn_flags traits; /* what it can do */\n" + POOL)], "hmn_pool.traits is a set of bits: begin its"),
    ([(POOL, "    float share;\n" + POOL)], "hmn_pool.share is float: give SIZES"),
    ([(POOL, "    uint32_t mood; /* HMN_MOOD_* */\n" + POOL)], "the comment of mood names HMN_MOOD_*"),
    ([(LAST_BIT, NEW_BIT)], "HMN_POOL_HAS_PINNED names no field of hmn_pool: name the bit like its field"),
    ([(LAST_TEXT, "    HMN_TEXT_MOTTO = 7, /* its motto */\n" + LAST_TEXT)], "begin the comment of HMN_TEXT_MOTTO"),
    ([(LAST_STATE, LAST_STATE + "\n    HMN_RUN_STATE_NEW = 9,")], "HMN_RUN_STATE_NEW would be called new, a keyword of C++"),
    ([(POOL, POOL + "\nenum { HMN_POOL_COLD = 1, HMN_POOL_WARM = 2 };")], "two enumerations in hypomnesis.h begin with"),
]


def find_members(text, enumeration, member, separator):
    """Returns the qualified members of a language's enumerations."""
    return {f"{match[1]}{separator}{name}" for match in re.finditer(enumeration, text, re.M | re.S)
            for name in re.findall(member, match[2], re.M)}


def find_misnamed(outputs):
    """Yields names in comments that the language does not have. The C# compiler checks its own comments."""
    constants, records = outputs["python/hypomnesis/_constants.py"], outputs["python/hypomnesis/_records.py"]
    members = find_members(constants, r"^class (\w+)\((.*?)(?=^class |\Z)", r"^    (\w+) = raw\.", ".")
    comments = "\n".join(re.findall(r'#.*|^ *""".*?"""', constants + records, re.M | re.S))
    yield from set(re.findall(r"\b[A-Z]\w*\.[A-Z][A-Z\d_]*\b", comments)) - members
    header = outputs["cpp/hypomnesis.hpp"]
    members = find_members(header, r"^enum class (\w+) : [\w:]+ \{(.*?)^\};", r"^  (\w+) =", "::")
    types = {name.split("::")[0] for name in members}
    yield from {name for line in re.findall(r"//.*", header) for name in re.findall(r"(?<!:)\b\w+::\w+\b", line)
                if name.split("::")[0] in types} - members
    lua_names = re.findall(r"^  (\w+) =", outputs["lua/hypomnesis/generated/constants.lua"], re.M)
    for name in set(re.findall(r"\b[A-Z]{2,}\w*_[A-Z\d_]*\*?", outputs["lua/hypomnesis/generated/types.lua"])):
        if not any(lua_name == name or name.endswith("*") and lua_name.startswith(name[:-1]) for lua_name in lua_names):
            yield name
    for path, text in outputs.items():
        for match in re.finditer(r"\b(\w+)(\.|::)\1\2\w+|\b([A-Z][a-z]+)\3[A-Z]\w*|\b([A-Z]+_)\4\w+", text):
            yield f"{match[0]} in {path}"


def find_problems():
    for label, edits, expected in ADDITIONS:
        outputs = generate(edit_header(*edits))
        for path, lines in expected.items():
            for line in lines:
                if line not in outputs[path]:
                    yield f"{label} of the header is not in {path}: {line}"
    for name in find_misnamed(generate(HEADER)):
        yield f"a comment names {name}"
    for edits, expected in REFUSALS:
        try:
            generate(edit_header(*edits))
            yield f"the generator was not stopped by: {expected}"
        except (SystemExit, ValueError) as reason:
            if not str(reason).removeprefix("generate: ").startswith(expected):
                yield f"stopped by '{reason}', not by '{expected}'"


def main():
    problems = list(find_problems())
    print(*problems, sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
