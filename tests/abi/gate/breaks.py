#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""breaks.py ROOT BUILD CC CXX [PATTERN]: a table of defects that the suites of the public interface must find. Each row is
planted in a copy of the source in BUILD, the library is built, and the row's suite must fail.
breaks.py ROOT: each row fits the source exactly once, its suite exists, and each status has a row. No build.

Defects of the header, the map or the library's file are planted by rehearsal.py and canaries.py."""
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

import header as headers

FOLDERS = ("CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "abi", "bindings", "cmake", "include", "pkgconfig", "scripts",
           "src", "tests")

# (rule, default, unit, name or status; file; text; replacement; suite that must fail, and a pattern of its tests)
BREAKS = (
    ("default: deadline_ns", "src/core/limits.hpp", "deadline_ns = 1000 *", "deadline_ns = 2000 *", "defaults a_call_waits_a_second"),
    ("default: open_deadline_ns", "src/core/limits.hpp", "10'000 *", "5'000 *", "defaults a_call_waits_as*"),
    ("default: stale_ns", "src/core/limits.hpp", "stale_ns = 5000 *", "stale_ns = 3000 *", "defaults a_call_waits_as*"),
    ("default: max_age_ns", "src/core/limits.hpp", "max_age_ns = 0", "max_age_ns = 60'000'000'000", "deadline"),
    ("default: idle_close_ns", "src/source/settings.hpp", "idle_close_ns = 2'000'000'000", "idle_close_ns = 1'000'000'000", "defaults a_library*"),
    ("default: rescan_ns", "src/source/settings.hpp", "rescan_ns = 2'000'000'000", "rescan_ns = 1'000'000'000", "defaults processes_are*"),
    ("idle_close_ns is ignored", "src/api/context.cpp", "{\"idle_close_ns\", options.idle_close_ns, settings.idle_close_ns},", "", "defaults a_library*"),
    ("open_deadline_ns is ignored", "src/api/context.cpp", "{\"open_deadline_ns\", options.open_deadline_ns, limits.open_deadline_ns},", "",
     "defaults a_call_waits_as*"),
    ("rescan_ns is ignored", "src/api/context.cpp", "{\"rescan_ns\", options.rescan_ns, settings.rescan_ns},", "", "defaults processes_are*"),
    ("rescan_percent is ignored", "src/api/context.cpp", "if (options.rescan_percent != 0) settings.rescan_percent = options.rescan_percent;", "",
     "defaults scans_take*"),
    ("max_age_ns is ignored", "src/api/context.cpp", "{\"max_age_ns\", options.max_age_ns, limits.max_age_ns},", "", "times"),
    ("stale_ns is ignored", "src/api/context.cpp", "{\"stale_ns\", options.stale_ns, limits.stale_ns},", "", "times"),
    ("backends_off is ignored", "src/api/context.cpp", "settings.disabled_sources = options.backends_off;", "", "context"),
    ("a snapshot's deadline_ns is ignored", "src/api/snapshot.cpp", "if (options.deadline_ns != 0) {", "if (false) {", "times"),
    ("default: collect", "src/api/snapshot.cpp", "subject::memory | subject::devices | subject::pools | subject::self;",
     "subject::memory | subject::devices | subject::pools;", "defaults a_snapshot*"),
    ("default: a sampler's collect", "src/api/sampler.cpp", "subject::devices | subject::pools | subject::telemetry;",
     "subject::devices | subject::pools;", "defaults a_snapshot*"),
    ("default: interval_ns", "src/api/sampler.cpp", "settings.interval_ns = settings.process_interval_ns = default_interval_ns;",
     "settings.interval_ns = 2 * (settings.process_interval_ns = default_interval_ns);", "defaults a_sampler_takes*"),
    ("default: process_interval_ns", "src/api/sampler.cpp", "settings.interval_ns = settings.process_interval_ns = default_interval_ns;",
     "settings.process_interval_ns = 2 * (settings.interval_ns = default_interval_ns);", "defaults a_sampler_scans*"),
    ("default: capacity", "src/api/sampler.cpp", "default_capacity = 64;", "default_capacity = 32;", "defaults a_sampler_keeps*"),
    ("capacity is ignored", "src/api/sampler.cpp", "options.capacity != 0 ? options.capacity : default_capacity", "default_capacity", "sampler"),
    ("default: tag_capacity", "src/api/tracker.cpp", "default_tag_capacity = 64;", "default_tag_capacity = 65;", "defaults a_tracker*"),
    ("default: flags of a tracker", "src/api/tracker.cpp", "options.limit_bytes = unlimited;", "", "defaults a_tracker*"),
    ("a limit of 0 is none", "src/api/tracker.cpp", "device_index,\n        full_options.limit_bytes, full_options.tag_capacity",
     "device_index, full_options.limit_bytes != 0 ? full_options.limit_bytes : unlimited, full_options.tag_capacity", "tracker"),
    ("a limit that is set to 0 is none", "src/api/tracker.cpp", "tracker.set_limit(limit_bytes)",
     "tracker.set_limit(limit_bytes != 0 ? limit_bytes : unlimited)", "tracker"),
    ("8: a limit without its flag is ignored", "src/api/tracker.cpp", "if (options.limit_bytes != 0) {", "if (options.limit_bytes == UINT64_MAX) {", "tracker"),
    ("default: episode_capacity", "src/core/spill.hpp", "capacity = 1024;", "capacity = 1000;", "defaults a_detector*"),
    ("default: growth_bytes", "src/core/spill.hpp", "{256} << 20U", "{255} << 20U", "defaults a_spill*"),
    ("default: dedicated_threshold_bytes", "src/core/spill.cpp", "/ 100 * 85", "/ 100 * 90", "defaults a_spill*"),
    ("default: batch", "src/api/estimate.cpp", "attention.batch != 0 ? attention.batch : 1", "attention.batch != 0 ? attention.batch : 2", "defaults an_estimate*"),
    ("default: kv_heads", "src/api/estimate.cpp", "attention.kv_heads != 0 ? attention.kv_heads : attention.heads", "attention.kv_heads != 0 ? attention.kv_heads : 1", "defaults an_estimate*"),
    ("default: per_thousand", "src/api/estimate.cpp", "per_thousand != 0 ? per_thousand : default_overhead",
     "per_thousand != 0 ? per_thousand : 1000", "defaults an_estimate*"),
    ("unit: duration_ns in µs", "src/core/snapshot_builder.cpp", "snapshot_->duration_ns = platform::monotonic_ns() - snapshot_->monotonic_ns;",
     "snapshot_->duration_ns = (platform::monotonic_ns() - snapshot_->monotonic_ns) / 1000;", "semantics"),
    ("unit: age_ns in ms", "src/core/answer.hpp", "r.age_ns += now_ns; });", "r.age_ns = (r.age_ns + now_ns) / 1000000; });", "semantics"),
    ("unit: age_ns always 0", "src/core/answer.hpp", "r.age_ns += now_ns; });", "r.age_ns = 0 * now_ns; });", "semantics"),
    ("unit: age_ns of the latest values", "src/core/latest_board.cpp", "out.age_ns = now > out.age_ns ? now - out.age_ns : 0;",
     "out.age_ns = 0 * now;", "semantics"),
    ("unit: unix_time_ns in µs", "src/api/snapshot.cpp", "out.unix_time_ns = snapshot.unix_time_ns;", "out.unix_time_ns = snapshot.unix_time_ns / 1000;",
     "semantics"),
    ("unit: elapsed_ns", "src/api/format.cpp", "out.elapsed_ns = delta.elapsed_ns;", "out.elapsed_ns = delta.elapsed_ns / 1000;", "semantics"),
    ("unit: duration_ns of a call", "src/api/snapshot.cpp", "out.duration_ns, diagnostic.duration_ns);",
     "out.duration_ns, diagnostic.duration_ns);\n  out.duration_ns /= 1000;", "semantics"),
    ("unit: duration_ns of an episode", "src/api/spill.cpp", "out.duration_ns = episode.duration_ns();", "out.duration_ns = episode.duration_ns() / 1000;",
     "semantics"),
    ("unit: used_monotonic_ns", "src/api/sampler.cpp", "out.used_monotonic_ns = peak.used_monotonic_ns;",
     "out.used_monotonic_ns = peak.used_monotonic_ns / 1000;", "semantics"),
    ("name: a backend", "src/model/enums.def", 'HMN_BACKEND_NVIDIA_SMI, "nvidia-smi")', 'HMN_BACKEND_NVIDIA_SMI, "nvidia_smi")', "semantics"),
    ("name: an instance", "src/model/enums.def", 'HMN_SENSOR_HOTSPOT, "hotspot")', 'HMN_SENSOR_HOTSPOT, "junction")', "semantics"),
    ("name: a reason", "src/model/enums.def", 'HMN_REASON_LOST, "lost")', 'HMN_REASON_LOST, "gone")', "semantics"),
    ("name: an unknown metric", "src/api/device.cpp", "info->name : \"unknown\"", "info->name : \"none\"", "semantics"),
    ("unit of a metric", "src/model/metrics.def", 'X(clock_mhz, CLOCK_MHZ, "MHz"', 'X(clock_mhz, CLOCK_MHZ, "GHz"', "semantics"),
    ("text: a report", "src/core/report.cpp", '"  |  VRAM "', '" | VRAM "', "semantics"),
    ("6: a size below V1 is taken", "src/api/sized.hpp", "size >= v1 &&", "size + 8 >= v1 &&", "sizes"),
    ("7: a size above 64 KiB is taken", "src/api/sized.hpp", "size <= largest_struct &&", "size <= 2 * largest_struct &&", "sizes"),
    ("7: a size that is no multiple of 8 is taken", "src/api/sized.hpp", "size % 8 == 0;", "size % 4 == 0;", "sizes"),
    ("7: a byte past struct_size is written", "src/api/sized.cpp", "std::memset(bytes + common_size, 0, size() - common_size);",
     "std::memset(bytes + common_size, 0, size() - common_size + 1);", "sizes"),
    ("7: a byte of struct_size is not written", "src/api/sized.cpp", "std::memset(bytes + common_size, 0, size() - common_size);", "", "sizes"),
    ("7: a failed call leaves a result", "src/api/sized.hpp", "if (!is_written_) out_.clear();", "", "sizes"),
    ("7: a handle that failed is not NULL", "src/api/guard.hpp", "if (out != nullptr) *out = T{};", "static_cast<void>(out);", "options"),
    ("8: a byte that is not known is ignored", "src/api/sized.cpp", "[](unsigned char b) { return b != 0; }",
     "[](unsigned char) { return false; }", "options"),
    ("8: an unknown flag is ignored", "src/api/context.cpp", "check_flags(options.flags, context_flags)", "check_flags(options.flags, ~0U)", "options"),
    ("8: an unknown field bit is ignored", "src/api/guard.cpp", "const std::uint64_t unknown_bits = bits & ~known_bits;",
     "const std::uint64_t unknown_bits = bits & ~known_bits & 0;", "options"),
    ("8: a filter without its flag is ignored", "src/api/snapshot.cpp", "} else if (options.device_index != 0) {",
     "} else if (options.device_index > 999) {", "options"),
    ("8: reserved0 is ignored", "src/api/sampler.cpp", "check_reserved(options.reserved0)", "check_reserved(options.reserved0 * 0)", "options"),
    ("10: a value without its presence bit", "src/model/record.cpp", "result.present |= field.bit;", "result.present |= field.bit & ~4U;", "semantics"),
    ("10: a stale value is not marked", "src/core/answer.hpp", "if (!is_fresh) r.notes |= note::stale;", "", "deadline"),
    ("10: a missing field is not noted", "src/api/device.cpp", "copy_to_c(*pool, result, fields);", "copy_to_c(*pool, result, 0);", "pool"),
    ("12: an error keeps its last text", "src/api/guard.cpp", "      clear_error(error);\n      return HMN_OK;", "      return HMN_OK;", "error"),
    ("12: the reason is left out", "src/api/guard.cpp", "full_error.reason = static_cast<std::uint32_t>(derive_call_reason(failure));",
     "static_cast<void>(derive_call_reason(failure));", "reason"),
    ("12: the native code is left out", "src/api/guard.cpp", "full_error.native_code = failure.native.code;", "", "pool"),
    ("14: NULL is taken", "src/api/guard.cpp", "if (handle == nullptr) return make_null_failure(\"snapshot is NULL\");\n    return read(object(handle), result);",
     "if (handle == nullptr) return {};\n    return read(object(handle), result);", "null"),
    ("14: an exception is another status", "src/api/guard.cpp", "refuse(error, Status::no_memory, \"no memory\")",
     "refuse(error, Status::internal, \"no memory\")", "torture"),
    ("15: a device that is gone keeps its state", "src/core/device_table.cpp", "if (!is_listed) entry.identity.state = State::lost;", "", "device"),
    ("15: the generation stays", "src/core/device_table.cpp", "if (is_changed) ++generation_;", "", "device"),
    ("17: a fork goes unnoticed", "src/api/guard.cpp", "if (!is_forked) return {};", "if (!is_forked || exists) return {};", "fork"),
    ("18: signals stay blocked", "src/platform/posix/thread.cpp", "pthread_sigmask(SIG_SETMASK, &before, nullptr);",
     "if (error != 0) pthread_sigmask(SIG_SETMASK, &before, nullptr);", "signals"),
    ("18: a kept descriptor is inherited", "src/platform/linux/thread.cpp", "EFD_CLOEXEC | EFD_NONBLOCK", "EFD_NONBLOCK", "descriptors"),
    ("18: a descriptor is inherited during a call", "src/platform/posix/file.cpp", "O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK",
     "O_RDONLY | O_NOCTTY | O_NONBLOCK", "output"),
    ("18: a call prints", "src/platform/posix/thread.cpp", "  pthread_setcancelstate(state_, nullptr);",
     "  pthread_setcancelstate(state_, nullptr);\n  static_cast<void>(write(2, \"!\", 1) == 1);", "output"),
    ("7: a handle that cannot be made is 0", "src/api/sampler.cpp", "const Result<std::int64_t> native_handle = sampler.handle();",
     "const Result<std::int64_t> native_handle = sampler.handle();\n    *out = 0;", "handle"),
    ("7: a handle of no sampler is 0", "src/api/sampler.cpp", "if (out != nullptr) *out = -1;", "if (out != nullptr) *out = 0;", "handle"),
    ("18: threads take signals", "src/platform/posix/thread.cpp", "  sigfillset(&all);", "  sigemptyset(&all);", "signals"),
    ("16: a reader spins while another thread writes", "src/core/spill.cpp", "spill.mutex_.lock();", "while (!spill.mutex_.try_lock()) sched_yield();",
     "spill"),
    ("18: errno changes", "src/platform/posix/thread.cpp", "  errno = errno_;", "  errno = 5;", "process"),
    ("19: destroy waits for a driver", "src/core/worker.cpp", "current_thread_->should_quit = true;\n  shared_state_->work_ready.notify_all();\n}",
     "  current_thread_->should_quit = true;\n  shared_state_->work_ready.notify_all();\n  if (current_thread_->is_busy) platform::sleep_ns(2'000'000'000);\n}", "deadline"),
    ("19: opening has no deadline of its own", "src/core/worker.cpp", "current_thread_->opening_time_ns(now), charged_ns);",
     "std::uint64_t{0}, charged_ns);", "deadline"),
    ("status: HMN_E_ARGUMENT", "src/api/guard.cpp", "return make_failure(Status::argument, message);", "return make_failure(Status::range, message);", "null"),
    ("status: HMN_E_STRUCT_SIZE", "src/api/sized.cpp", "return make_failure(Status::struct_size,\n                      {", "return make_failure(Status::range, {",
     "sizes"),
    ("status: HMN_E_UNKNOWN_FLAG", "src/api/guard.cpp", "return make_failure(Status::unknown_flag, {message", "return make_failure(Status::argument, {message",
     "options"),
    ("status: HMN_E_RANGE", "src/api/snapshot.cpp", "return make_failure(Status::range,\n                      {\"position", "return make_failure(Status::empty, {\"position",
     "snapshot"),
    ("status: HMN_E_UNSUPPORTED", "src/core/direct_reading.cpp", "return make_failure(Status::unsupported, {\"device",
     "return make_failure(Status::empty, {\"device", "pool"),
    ("status: HMN_E_NO_SOURCE", "src/core/spill.cpp", "{Status::no_source, Source::none, {}, \"the detector has no context",
     "{Status::unsupported, Source::none, {}, \"the detector has no context", "spill"),
    ("status: HMN_E_NO_DEVICE", "src/api/sampler.cpp", "return make_failure(Status::no_device, {\"no snapshot", "return make_failure(Status::range, {\"no snapshot",
     "sampler"),
    ("status: HMN_E_NO_PROCESS", "src/api/sampler.cpp", "return make_failure(Status::no_process,", "return make_failure(Status::empty,", "sampler"),
    ("status: HMN_E_TIMEOUT", "src/core/answer.hpp", "return {Status::timeout, source, {}, \"the driver", "return {Status::backend, source, {}, \"the driver",
     "deadline"),
    ("status: HMN_E_DEVICE_LOST", "src/backends/simulated/driver.cpp", "make_simulated_failure(Status::device_lost,\n                                    \"the device was here",
     "make_simulated_failure(Status::backend, \"the device was here", "pool"),
    ("status: HMN_E_LIMIT", "src/api/tracker.cpp", "return make_failure(Status::limit,\n                        {\"limit_bytes", "return make_failure(Status::range, {\"limit_bytes",
     "tracker"),
    ("status: HMN_E_OVERFLOW", "src/api/estimate.cpp", "make_failure(Status::overflow, \"the result", "make_failure(Status::range, \"the result", "estimate"),
    ("status: HMN_E_FORKED", "src/api/guard.cpp", "return make_failure(Status::forked,", "return make_failure(Status::state,", "fork"),
    ("status: HMN_E_BUFFER", "src/api/guard.cpp", "return make_failure(Status::buffer,", "return make_failure(Status::range,", "format"),
    ("status: HMN_E_EMPTY", "src/core/reason.cpp", "return make_failure(Status::empty, \"the snapshot was",
     "return make_failure(Status::range, \"the snapshot was", "snapshot"),
    ("status: HMN_E_CANCELLED", "src/core/answer.hpp", "return make_failure(Status::cancelled,", "return make_failure(Status::state,", "context"),
    ("status: HMN_E_ASLEEP", "src/backends/simulated/driver.cpp", "make_simulated_failure(Status::asleep,\n                                    \"the device", "make_simulated_failure(Status::backend, \"the device",
     "pool"),
    ("status: HMN_E_STATE", "src/core/sampler.cpp", "return make_failure(Status::state, message);", "return make_failure(Status::range, message);", "sampler"),
)

# Rules and statuses without a row, and the reasons.
GAPS = {
    "HMN_E_PERMISSION": "returned by sources: tests/backends plants it in their fakes",
    "HMN_E_BACKEND": "returned by sources: tests/backends plants it in their fakes",
    "HMN_E_NO_MEMORY": "row 14: an exception is another status",
    "HMN_E_INTERNAL": "no caller can cause it",
    "default: rescan_percent": "the share of a core cannot be measured precisely; a row plants that it is ignored",
    "11: a source of its own for each value": "backends and tests/unit/core compare them",
    "16, 20: threads, a stuck worker": "tsan and abi.deadline; no patch makes a race fail every time",
}


def check(root):
    suites = {path.stem.removesuffix("_test") for path in (root / "tests/abi").glob("*_test.c")}
    for rule, path, old, new, suite in BREAKS:
        count = (root / path).read_text(encoding="utf-8").count(old)
        if count != 1:
            yield f"{rule}: \"{old}\" is in {path} {count} times, not once"
        name, *tests = suite.split()
        code = (root / f"tests/abi/{name}_test.c").read_text() if tests else ""
        if tests and not fnmatch.filter(re.findall(r"void (\w+)\(void\*\* state\)", code), tests[0]):
            yield f"{rule}: abi.{name} has no test {tests[0]}"
        if name not in suites:
            yield f"{rule}: there is no suite abi.{suite}"
        if old == new:
            yield f"{rule}: nothing is changed"
    rows = {row[0] for row in BREAKS}
    for name in headers.parse(root / "include/hypomnesis.h").constants:
        if name.startswith("HMN_E_") and f"status: {name}" not in rows and name not in GAPS:
            yield f"{name} has no row"


def run(*command, timeout=None):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, check=False, timeout=timeout)
    return result.returncode, result.stdout


def build(out, *targets):
    return run("cmake", "--build", out, "--target", *targets)


def prepare(root, folder, compilers, suites):
    """Copies the source and builds it without unity files, so that a row compiles only what it changes."""
    source, out = folder / "tree", folder / "out"
    shutil.rmtree(source, ignore_errors=True)
    for name in FOLDERS:
        if (root / name).is_dir():
            shutil.copytree(root / name, source / name, copy_function=shutil.copy,
                            ignore=shutil.ignore_patterns("__pycache__", "corpus", "build"))
        else:
            (source).mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, source / name)
    launchers = [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX") if shutil.which("ccache")]
    for step in ([["cmake", "-S", source, "-B", out, "-GNinja", "-DCMAKE_BUILD_TYPE=Debug", "-DHMN_BUILD_CLI=OFF",
                   "-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-DCMAKE_UNITY_BUILD=OFF", "-DHMN_TEST_FOLDERS=abi",
                   f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}", *launchers],
                  ["cmake", "--build", out, "--target", "hypomnesis", *(f"abi_{suite}_test" for suite in suites)]]):
        code, output = run(*step)
        if code:
            raise SystemExit(f"breaks: {step[0]} {step[1]} fails:\n{output[-4000:]}")
    return source, out


def run_suite(out, suite):
    name, *tests = suite.split()
    if tests:
        code, output = run(out / f"tests/abi/abi_{name}_test", *tests)
        return code != 0, output
    code, output = run("ctest", "--test-dir", out, "-R", rf"^abi\.{name}$", "--no-tests=error", "--output-on-failure",
                       "--timeout", "120")
    return code != 0, output


def plant(source, out, row):
    rule, path, old, new, suite = row
    file = source / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new), encoding="utf-8")
    try:
        code, output = build(out, "hypomnesis")
        if code:
            return f"{rule}: the change does not compile:\n{output[-2000:]}"
        failed, _ = run_suite(out, suite)
        return None if failed else f"{rule}: abi.{suite} passes"
    finally:
        file.write_text(text, encoding="utf-8")


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    problems = list(check(root))
    if len(sys.argv) > 2 and not problems:
        folder, pattern = pathlib.Path(sys.argv[2]).resolve(), sys.argv[5] if len(sys.argv) > 5 else ""
        rows = [row for row in BREAKS if re.search(pattern, row[0])]
        suites = sorted({row[4].split()[0] for row in rows})
        source, out = prepare(root, folder, sys.argv[3:5], suites)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for suite, (failed, output) in zip(suites, pool.map(lambda suite: run_suite(out, suite), suites)):
                if failed:
                    problems.append(f"abi.{suite} fails without a break:\n{output[-2000:]}")
        for row in rows:
            problem = plant(source, out, row)
            print("passed:" if problem else "caught:", row[0], flush=True)
            problems += [problem] if problem else []
    for gap, reason in GAPS.items():
        print(f"gap: {gap}: {reason}")
    for problem in problems:
        print(f"breaks: {problem}", file=sys.stderr)
    return bool(problems)


if __name__ == "__main__":
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.exit(main())
