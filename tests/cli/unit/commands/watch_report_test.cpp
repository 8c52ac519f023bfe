// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/watch_report.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace hmn::cli;

namespace {

using hypomnesis::spill_state;

constexpr std::uint64_t report_mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t report_gib = std::uint64_t{1} << 30U;

hypomnesis::spill_info make_info(spill_state state) {
  hypomnesis::spill_info info;
  info.state = state;
  return info;
}

WatchedRow make_watched_row() {
  WatchedRow row;
  row.pid = 7;
  row.name = "py.exe";
  row.used = row.used_delta = report_mib;
  row.shared = 424242;
  row.shared_delta = -1000;
  return row;
}

ProcessValues make_values(std::uint32_t pid, const char* name, std::uint64_t used,
                          std::optional<std::uint64_t> shared) {
  ProcessValues values;
  values.pid = pid;
  values.name = name;
  values.used = used;
  values.shared = shared;
  return values;
}

}  // namespace

TEST_CASE("a change has a sign, and a small one is not rounded to zero") {
  CHECK(format_change(0) == "+0 B");
  CHECK(format_change(-1) == "-1 B");
  CHECK(format_change(1) == "+1 B");
  CHECK(format_change(700 * std::int64_t{report_mib}) == "+700 MiB");
  CHECK(format_change(-6 * std::int64_t{report_gib} / 5) == "-1.2 GiB");
  CHECK(format_change(-3 * std::int64_t{report_gib}) == "-3.0 GiB");
  CHECK(format_change(std::numeric_limits<std::int64_t>::min()) == "-8589934592.0 GiB");
  CHECK(format_change(std::nullopt) == "?");
}

TEST_CASE("a watch sample is one JSON object with null for unknown values") {
  const SampleHeader sample_time{
      3500, make_info(spill_state::measurable | spill_state::now | spill_state::ever)};
  CHECK(format_watch_json(sample_time, make_watched_row()) ==
        R"({"kind":"sample","t_ms":3500,"pid":7,"name":"py.exe","state":"uses",)"
        R"("used_bytes":1048576,"used_delta_bytes":1048576,"shared_used_bytes":424242,)"
        R"("shared_delta_bytes":-1000,"spilling":true,"device_index":0,"lower_bound":false})"
        "\n");
  WatchedRow silent;
  silent.pid = 8;
  silent.life = ProcessLife::unknown;
  CHECK(format_watch_json({0, make_info({}), "", 3}, silent) ==
        R"({"kind":"sample","t_ms":0,"pid":8,"name":null,"state":null,"used_bytes":null,)"
        R"("used_delta_bytes":null,"shared_used_bytes":null,"shared_delta_bytes":null,)"
        R"("spilling":null,"device_index":3,"lower_bound":false})"
        "\n");
}

TEST_CASE("the JSON summary has null for values that were not measured") {
  WatchHistory history;
  history.add(make_values(1, "a.exe", 10, std::nullopt));
  history.add(make_values(1, "a.exe", 20, std::nullopt));
  auto info = make_info({});
  info.message = "the reason";
  const auto text = format_watch_summary_json({2, info, &history}, {});
  CHECK(
      text.starts_with(R"({"kind":"summary","measurable":false,"spilled":null,"observations":0,)"));
  CHECK(text.find(
            R"("per_pid":[{"pid":1,"name":"a.exe","baseline_used_bytes":10,)"
            R"("peak_used_bytes":20,"baseline_shared_bytes":null,"peak_shared_bytes":null}])") !=
        std::string::npos);
  CHECK(text.ends_with(R"("forgotten":0,"device_index":2})"
                       "\n"));
}

TEST_CASE("the text summary lists first values and peaks of each process") {
  WatchHistory history;
  history.add(make_values(12345, "python.exe", 8 * report_gib, 100 * report_mib));
  history.add(make_values(12345, "python.exe", 9 * report_gib, 700 * report_mib));
  auto info = make_info({});
  info.message = "the reason";
  const std::string table =
      "hmn watch: first values and peaks\n"
      "GPU    PID  NAME           VRAM     PEAK   SHARED     PEAK\n"
      "  0  12345  python.exe  8.0 GiB  9.0 GiB  100 MiB  700 MiB\n";
  CHECK(format_watch_summary({{0, info, &history}}, Style{}) ==
        "hmn watch: spill not measurable: the reason\n" + table);
  const WatchHistory none;
  CHECK(format_watch_summary({{0, info, &history}, {1, info, &none}, {3, info, &none}}, Style{}) ==
        "hmn watch: GPU 0, 1, 3: spill not measurable: the reason\n" + table);
}

TEST_CASE("a partly visible value is marked as a lower bound") {
  WatchHistory history;
  auto values = make_values(7, "py.exe", 2 * report_gib, 0);
  values.is_lower_bound = true;
  const auto row = history.add(values);
  CHECK(format_watch_line({}, row).find(" >=2.0 GiB ") != std::string::npos);
  CHECK(format_watch_json({}, row).find(R"("lower_bound":true)") != std::string::npos);
  values.used.reset();
  CHECK(format_watch_json({}, history.add(values)).find(R"("lower_bound":false)") !=
        std::string::npos);
}

TEST_CASE("watch rows align with their header, even with missing values") {
  const auto header = format_watch_header(false);
  CHECK(header ==
        "    TIME GPU     PID NAME                 VRAM     \u0394VRAM    SHARED   \u0394SHARED "
        "SPILL\n");
  CHECK(format_watch_header(true) ==
        "    TIME GPU     PID NAME                 VRAM     dVRAM    SHARED   dSHARED SPILL\n");
  CHECK(format_watch_line({3500, make_info(spill_state::measurable), "+3.5s", 12},
                          make_watched_row()) ==
        "   +3.5s  12       7 py.exe              1 MiB    +1 MiB     0 MiB   -1000 B no\n");
  CHECK(format_watch_line({0, make_info(spill_state::measurable | spill_state::now)},
                          make_watched_row())
            .ends_with(" SPILL\n"));
  CHECK(format_watch_line({0, make_info({})}, make_watched_row()).ends_with(" ?\n"));
  WatchedRow exited;
  exited.pid = 99;
  exited.life = ProcessLife::exited;
  CHECK(format_watch_line({60'000, make_info({}), "+60.0s"}, exited) ==
        "  +60.0s   0      99 ?                  exited         -         -         - ?\n");
}

namespace {

constexpr std::uint64_t watched_mib = std::uint64_t{1} << 20U;

ProcessValues make_pid_values(std::uint32_t pid, std::uint64_t used, const char* name = "a") {
  ProcessValues values;
  values.pid = pid;
  values.used = used;
  if (name != nullptr) values.name = name;
  return values;
}

}  // namespace

TEST_CASE("the first candidates are chosen without duplicates") {
  auto excluded = make_pid_values(4, 9000);
  excluded.is_candidate = false;
  CHECK(choose_top({excluded, make_pid_values(2, 5000), make_pid_values(2, 5000),
                    make_pid_values(3, 3000)},
                   2) == std::vector<std::uint32_t>{2, 3});
  CHECK(choose_top({make_pid_values(1, 1)}, 5).size() == 1);
  CHECK(choose_top({}, 5).empty());
}

TEST_CASE("changes are relative to the previous sample; baseline and peak cover all samples") {
  WatchHistory history;
  CHECK(history.add(make_pid_values(1, 10 * watched_mib)).used_delta == 0);
  CHECK(history.add(make_pid_values(1, 30 * watched_mib)).used_delta == 20 * watched_mib);
  CHECK(history.add(make_pid_values(1, 5 * watched_mib)).used_delta ==
        -25 * std::int64_t{watched_mib});
  CHECK_FALSE(history.add(make_pid_values(1, 5 * watched_mib)).shared_delta);
  REQUIRE(history.processes().size() == 1);
  CHECK(history.processes()[0].used.baseline == 10 * watched_mib);
  CHECK(history.processes()[0].used.peak == 30 * watched_mib);
  CHECK(history.add_absent(1, true, std::nullopt).name == "a");
}

TEST_CASE("changes of used and shared memory are relative to the previous sample") {
  WatchHistory history;
  auto values = make_pid_values(42, 8000);
  values.shared = 100;
  history.add(values);
  values.used = 9500;
  values.shared = 300;
  const auto second = history.add(values);
  CHECK(second.used_delta == 1500);
  CHECK(second.shared_delta == 200);
}

TEST_CASE("a process that was never listed has no values") {
  WatchHistory history;
  const auto absent = history.add_absent(42, true, std::nullopt);
  CHECK(absent.life == ProcessLife::exited);
  CHECK_FALSE(absent.used);
  CHECK_FALSE(absent.name);
}

TEST_CASE("the baseline is the first value and the peak the highest of all samples") {
  WatchHistory history;
  history.add(make_pid_values(1, 8000));
  history.add(make_pid_values(1, 5000));
  CHECK(history.processes()[0].used.peak == 8000u);
  CHECK(history.processes()[0].used.baseline == 8000u);
}

TEST_CASE("a changed name alone does not make another process") {
  WatchHistory history;
  history.add(make_pid_values(1, 8000, "python"));
  history.add(make_pid_values(1, 8500, nullptr));
  const auto third = history.add(make_pid_values(1, 9000, "notepad"));
  CHECK(third.used_delta == 500);
  CHECK(third.message.empty());
  CHECK(history.processes()[0].used.baseline == 8000u);
  CHECK(history.processes()[0].name == "notepad");
}

TEST_CASE("a process that disappears and returns keeps its history and position") {
  WatchHistory history;
  history.add(make_pid_values(100, 1000));
  history.add(make_pid_values(200, 7));
  const auto row = history.add(make_pid_values(100, 1200));
  CHECK(row.used_delta == 200);
  CHECK(history.processes()[0].used.peak == 1200u);
  REQUIRE(history.processes().size() == 2);
  CHECK(history.processes()[0].pid == 100);
  CHECK(history.processes()[1].pid == 200);
}

TEST_CASE("a process without GPU memory is idle while its PID still belongs to it") {
  WatchHistory history;
  auto values = make_pid_values(1, watched_mib);
  values.start = 77;
  history.add(values);
  CHECK(history.add_absent(1, false, 77).life == ProcessLife::idle);
  CHECK(history.add_absent(1, false, 78).life == ProcessLife::exited);
  CHECK(history.add_absent(1, false, std::nullopt).life == ProcessLife::exited);  // a zombie
  CHECK(history.add_absent(1, true, std::nullopt).life == ProcessLife::exited);
  values.start = 78;
  CHECK(history.add(values).message == "pid=1 is another process now (a -> a); baseline reset");
  // Without a start time.
  CHECK(history.add_absent(2, false, std::nullopt).life == ProcessLife::idle);
  CHECK(history.add_absent(2, false, 5).life == ProcessLife::idle);
  CHECK(history.add_absent(2, false, 6).life == ProcessLife::exited);
}

TEST_CASE("the liveness of a PID of another namespace is unknown") {
  WatchHistory history;
  auto values = make_pid_values(1, watched_mib);
  values.is_foreign = true;
  history.add(values);
  CHECK(history.add_absent(1, true, std::nullopt).life == ProcessLife::unknown);
  CHECK(history.add_absent(1, false, 9).life == ProcessLife::unknown);
}

TEST_CASE("a reused PID is detected by its start time, not by its name") {
  WatchHistory history;
  auto first = make_pid_values(1, 10 * watched_mib, "?");
  first.start_unix_ns = 1;
  auto renamed = make_pid_values(1, 20 * watched_mib, "python");
  renamed.start_unix_ns = 1;
  auto reused = make_pid_values(1, 5 * watched_mib, "python");
  reused.start_unix_ns = 2;
  history.add(first);
  CHECK(history.add(renamed).message.empty());
  const auto row = history.add(reused);
  CHECK(row.message == "pid=1 is another process now (python -> python); baseline reset");
  CHECK(row.used_delta == 0);
  CHECK(history.processes()[0].used.peak == 5 * watched_mib);
}

TEST_CASE("growth of a process without a name is reported once, at 256 MiB") {
  WatchHistory history;
  history.add(make_pid_values(1, watched_mib, nullptr));
  CHECK(history.add(make_pid_values(1, 257 * watched_mib - 1, nullptr)).message.empty());
  CHECK(history.add(make_pid_values(1, 257 * watched_mib, nullptr)).message ==
        "unresolved pid=1 grew +256 MiB since attach; run as root to identify it");
  CHECK(history.add(make_pid_values(1, 999 * watched_mib, nullptr)).message.empty());
}

// Five processes are followed at a time, with a new one in each sample.
TEST_CASE("memory is bounded however many processes come and go") {
  WatchHistory history;
  constexpr std::uint32_t samples = 3 * WatchHistory::max_processes;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::vector<std::uint32_t> pids;
    for (std::uint32_t k = 0; k < 5; ++k) pids.push_back(i + k + 1);
    history.add(make_pid_values(i + 5, watched_mib));
    history.drop_oldest(pids);
    if (i % 512 == 0) CHECK(history.processes().size() <= WatchHistory::max_processes);
  }
  CHECK(history.processes().size() == WatchHistory::max_processes);
  CHECK(history.dropped_count() == samples - WatchHistory::max_processes);
  CHECK(history.processes().back().pid == samples + 4);
}
