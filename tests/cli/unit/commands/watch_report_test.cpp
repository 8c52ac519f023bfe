// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/watch_report.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace hmn::cli;

namespace {

using hypomnesis::spill_state;

constexpr std::uint64_t report_mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t report_gib = std::uint64_t{1} << 30U;

hypomnesis::spill_info spill(spill_state state) {
  hypomnesis::spill_info info;
  info.state = state;
  return info;
}

WatchedRow sampled() {
  WatchedRow row;
  row.pid = 7;
  row.name = "py.exe";
  row.used = row.used_delta = report_mib;
  row.shared = 424242;
  row.shared_delta = -1000;
  return row;
}

ProcessValues values(std::uint32_t pid, const char* name, std::uint64_t used,
                     std::optional<std::uint64_t> shared) {
  ProcessValues out;
  out.pid = pid;
  out.name = name;
  out.used = used;
  out.shared = shared;
  return out;
}

}  // namespace

TEST_CASE("a change has its sign and is never less than it is") {
  CHECK(change_text(0) == "+0 B");
  CHECK(change_text(-1) == "-1 B");
  CHECK(change_text(1) == "+1 B");
  CHECK(change_text(700 * std::int64_t{report_mib}) == "+700 MiB");
  CHECK(change_text(-6 * std::int64_t{report_gib} / 5) == "-1.2 GiB");
  CHECK(change_text(-3 * std::int64_t{report_gib}) == "-3.0 GiB");
  CHECK(change_text(std::numeric_limits<std::int64_t>::min()) == "-8589934592.0 GiB");
  CHECK(change_text(std::nullopt) == "?");
}

TEST_CASE("a sample as JSON") {
  const WatchMoment at{3500, spill(spill_state::measurable | spill_state::now | spill_state::ever)};
  CHECK(watch_json(at, sampled()) ==
        R"({"kind":"sample","t_ms":3500,"pid":7,"name":"py.exe","state":"uses",)"
        R"("used_bytes":1048576,"used_delta_bytes":1048576,"shared_used_bytes":424242,)"
        R"("shared_delta_bytes":-1000,"spilling":true,"device_index":0,"lower_bound":false})"
        "\n");
  WatchedRow silent;
  silent.pid = 8;
  silent.life = ProcessLife::unknown;
  CHECK(watch_json({0, spill({}), "", 3}, silent) ==
        R"({"kind":"sample","t_ms":0,"pid":8,"name":null,"state":null,"used_bytes":null,)"
        R"("used_delta_bytes":null,"shared_used_bytes":null,"shared_delta_bytes":null,)"
        R"("spilling":null,"device_index":3,"lower_bound":false})"
        "\n");
}

TEST_CASE("the summary as JSON says what was not measured") {
  Watched all;
  all.add(values(1, "a.exe", 10, std::nullopt));
  all.add(values(1, "a.exe", 20, std::nullopt));
  auto info = spill({});
  info.message = "the reason";
  const auto text = watch_summary_json({2, info, &all}, {});
  CHECK(
      text.starts_with(R"({"kind":"summary","measurable":false,"spilled":null,"observations":0,)"));
  CHECK(text.find(
            R"("per_pid":[{"pid":1,"name":"a.exe","baseline_used_bytes":10,)"
            R"("peak_used_bytes":20,"baseline_shared_bytes":null,"peak_shared_bytes":null}])") !=
        std::string::npos);
  CHECK(text.ends_with(R"("forgotten":0,"device_index":2})"
                       "\n"));
}

TEST_CASE("the summary of each process") {
  Watched all;
  all.add(values(12345, "python.exe", 8 * report_gib, 100 * report_mib));
  all.add(values(12345, "python.exe", 9 * report_gib, 700 * report_mib));
  auto info = spill({});
  info.message = "the reason";
  const std::string table =
      "hmn watch: first values and peaks\n"
      "GPU    PID  NAME           VRAM     PEAK   SHARED     PEAK\n"
      "  0  12345  python.exe  8.0 GiB  9.0 GiB  100 MiB  700 MiB\n";
  CHECK(watch_summary({{0, info, &all}}, Style{}) ==
        "hmn watch: spill not measurable: the reason\n" + table);
  const Watched none;
  CHECK(watch_summary({{0, info, &all}, {1, info, &none}, {3, info, &none}}, Style{}) ==
        "hmn watch: GPU 0, 1, 3: spill not measurable: the reason\n" + table);
}

TEST_CASE("a value of which a part is not visible is a lower bound") {
  Watched all;
  auto now = values(7, "py.exe", 2 * report_gib, 0);
  now.is_lower_bound = true;
  const auto row = all.add(now);
  CHECK(watch_line({}, row).find(" >=2.0 GiB ") != std::string::npos);
  CHECK(watch_json({}, row).find(R"("lower_bound":true)") != std::string::npos);
  now.used.reset();
  CHECK(watch_json({}, all.add(now)).find(R"("lower_bound":false)") != std::string::npos);
}

TEST_CASE("lines stand below their header, whatever they hold") {
  const auto header = watch_header(false);
  CHECK(header ==
        "    TIME GPU     PID NAME                 VRAM     \u0394VRAM    SHARED   \u0394SHARED "
        "SPILL\n");
  CHECK(watch_header(true) ==
        "    TIME GPU     PID NAME                 VRAM     dVRAM    SHARED   dSHARED SPILL\n");
  CHECK(watch_line({3500, spill(spill_state::measurable), "+3.5s", 12}, sampled()) ==
        "   +3.5s  12       7 py.exe              1 MiB    +1 MiB     0 MiB   -1000 B no\n");
  CHECK(watch_line({0, spill(spill_state::measurable | spill_state::now)}, sampled())
            .ends_with(" SPILL\n"));
  CHECK(watch_line({0, spill({})}, sampled()).ends_with(" ?\n"));
  WatchedRow gone;
  gone.pid = 99;
  gone.life = ProcessLife::exited;
  CHECK(watch_line({60'000, spill({}), "+60.0s"}, gone) ==
        "  +60.0s   0      99 ?                  exited         -         -         - ?\n");
}

namespace {

constexpr std::uint64_t watched_mib = std::uint64_t{1} << 20U;

ProcessValues row_of_pid(std::uint32_t pid, std::uint64_t used, const char* name = "a") {
  ProcessValues out;
  out.pid = pid;
  out.used = used;
  if (name != nullptr) out.name = name;
  return out;
}

}  // namespace

TEST_CASE("the first candidates are chosen, each once") {
  auto other = row_of_pid(4, 9000);
  other.is_candidate = false;
  CHECK(choose_top({other, row_of_pid(2, 5000), row_of_pid(2, 5000), row_of_pid(3, 3000)}, 2) ==
        std::vector<std::uint32_t>{2, 3});
  CHECK(choose_top({row_of_pid(1, 1)}, 5).size() == 1);
  CHECK(choose_top({}, 5).empty());
}

TEST_CASE("changes are against the sample before, peak and baseline of all") {
  Watched all;
  CHECK(all.add(row_of_pid(1, 10 * watched_mib)).used_delta == 0);
  CHECK(all.add(row_of_pid(1, 30 * watched_mib)).used_delta == 20 * watched_mib);
  CHECK(all.add(row_of_pid(1, 5 * watched_mib)).used_delta == -25 * std::int64_t{watched_mib});
  CHECK_FALSE(all.add(row_of_pid(1, 5 * watched_mib)).shared_delta);
  REQUIRE(all.all().size() == 1);
  CHECK(all.all()[0].used.baseline == 10 * watched_mib);
  CHECK(all.all()[0].used.peak == 30 * watched_mib);
  CHECK(all.add_absent(1, true, std::nullopt).name == "a");
}

TEST_CASE("the change is that to the sample before") {
  Watched all;
  auto now = row_of_pid(42, 8000);
  now.shared = 100;
  all.add(now);
  now.used = 9500;
  now.shared = 300;
  const auto second = all.add(now);
  CHECK(second.used_delta == 1500);
  CHECK(second.shared_delta == 200);
}

TEST_CASE("one that is not in the list has no values") {
  Watched all;
  const auto absent = all.add_absent(42, true, std::nullopt);
  CHECK(absent.life == ProcessLife::exited);
  CHECK_FALSE(absent.used);
  CHECK_FALSE(absent.name);
}

TEST_CASE("the peak is that of all samples") {
  Watched all;
  all.add(row_of_pid(1, 8000));
  all.add(row_of_pid(1, 5000));
  CHECK(all.all()[0].used.peak == 8000u);
  CHECK(all.all()[0].used.baseline == 8000u);
}

TEST_CASE("another name is no other process") {
  Watched all;
  all.add(row_of_pid(1, 8000, "python"));
  all.add(row_of_pid(1, 8500, nullptr));
  const auto third = all.add(row_of_pid(1, 9000, "notepad"));
  CHECK(third.used_delta == 500);
  CHECK(third.message.empty());
  CHECK(all.all()[0].used.baseline == 8000u);
  CHECK(all.all()[0].name == "notepad");
}

TEST_CASE("one that left and came back goes on, in the order first seen") {
  Watched all;
  all.add(row_of_pid(100, 1000));
  all.add(row_of_pid(200, 7));
  const auto back = all.add(row_of_pid(100, 1200));
  CHECK(back.used_delta == 200);
  CHECK(all.all()[0].used.peak == 1200u);
  REQUIRE(all.all().size() == 2);
  CHECK(all.all()[0].pid == 100);
  CHECK(all.all()[1].pid == 200);
}

TEST_CASE("one that uses nothing is idle as long as the pid is still its own") {
  Watched all;
  auto now = row_of_pid(1, watched_mib);
  now.start = 77;
  all.add(now);
  CHECK(all.add_absent(1, false, 77).life == ProcessLife::idle);
  CHECK(all.add_absent(1, false, 78).life == ProcessLife::exited);
  CHECK(all.add_absent(1, false, std::nullopt).life == ProcessLife::exited);  // a zombie
  CHECK(all.add_absent(1, true, std::nullopt).life == ProcessLife::exited);
  now.start = 78;
  CHECK(all.add(now).message == "pid=1 is another process now (a -> a); baseline reset");
  // Without a start time.
  CHECK(all.add_absent(2, false, std::nullopt).life == ProcessLife::idle);
  CHECK(all.add_absent(2, false, 5).life == ProcessLife::idle);
  CHECK(all.add_absent(2, false, 6).life == ProcessLife::exited);
}

TEST_CASE("of a pid of another namespace nobody can tell whether it lives") {
  Watched all;
  auto now = row_of_pid(1, watched_mib);
  now.is_foreign = true;
  all.add(now);
  CHECK(all.add_absent(1, true, std::nullopt).life == ProcessLife::unknown);
  CHECK(all.add_absent(1, false, 9).life == ProcessLife::unknown);
}

TEST_CASE("a reused pid is detected by its start time, not by its name") {
  Watched all;
  auto first = row_of_pid(1, 10 * watched_mib, "?");
  first.start_unix_ns = 1;
  auto renamed = row_of_pid(1, 20 * watched_mib, "python");
  renamed.start_unix_ns = 1;
  auto other = row_of_pid(1, 5 * watched_mib, "python");
  other.start_unix_ns = 2;
  all.add(first);
  CHECK(all.add(renamed).message.empty());
  const auto again = all.add(other);
  CHECK(again.message == "pid=1 is another process now (python -> python); baseline reset");
  CHECK(again.used_delta == 0);
  CHECK(all.all()[0].used.peak == 5 * watched_mib);
}

TEST_CASE("the growth of a process without a name is hinted at once") {
  Watched all;
  all.add(row_of_pid(1, watched_mib, nullptr));
  CHECK(all.add(row_of_pid(1, 257 * watched_mib - 1, nullptr)).message.empty());
  CHECK(all.add(row_of_pid(1, 257 * watched_mib, nullptr)).message ==
        "unresolved pid=1 grew +256 MiB since attach; run as root to identify it");
  CHECK(all.add(row_of_pid(1, 999 * watched_mib, nullptr)).message.empty());
}

// Five processes are followed at a time, with a new one in each sample.
TEST_CASE("memory is bounded however many processes come and go") {
  Watched all;
  constexpr std::uint32_t samples = 3 * Watched::most;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::vector<std::uint32_t> followed;
    for (std::uint32_t k = 0; k < 5; ++k) followed.push_back(i + k + 1);
    all.add(row_of_pid(i + 5, watched_mib));
    all.forget_beyond(followed);
    if (i % 512 == 0) CHECK(all.all().size() <= Watched::most);
  }
  CHECK(all.all().size() == Watched::most);
  CHECK(all.forgotten() == samples - Watched::most);
  CHECK(all.all().back().pid == samples + 4);
}
