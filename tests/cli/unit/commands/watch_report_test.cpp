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

watched_row sampled() {
  watched_row row;
  row.pid = 7;
  row.name = "py.exe";
  row.used = row.used_delta = report_mib;
  row.shared = 424242;
  row.shared_delta = -1000;
  return row;
}

process_values values(std::uint32_t pid, const char* name, std::uint64_t used,
                      std::optional<std::uint64_t> shared) {
  process_values out;
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
  const watch_moment at{3500,
                        spill(spill_state::measurable | spill_state::now | spill_state::ever)};
  CHECK(watch_json(at, sampled()) ==
        R"({"kind":"sample","t_ms":3500,"pid":7,"name":"py.exe","state":"uses",)"
        R"("used_bytes":1048576,"used_delta_bytes":1048576,"shared_used_bytes":424242,)"
        R"("shared_delta_bytes":-1000,"spilling":true})"
        "\n");
  watched_row silent;
  silent.pid = 8;
  silent.life = process_life::unknown;
  CHECK(watch_json({0, spill({})}, silent) ==
        R"({"kind":"sample","t_ms":0,"pid":8,"name":null,"state":null,"used_bytes":null,)"
        R"("used_delta_bytes":null,"shared_used_bytes":null,"shared_delta_bytes":null,)"
        R"("spilling":null})"
        "\n");
}

TEST_CASE("the summary as JSON says what was not measured") {
  watched all;
  all.add(values(1, "a.exe", 10, std::nullopt));
  all.add(values(1, "a.exe", 20, std::nullopt));
  auto info = spill({});
  info.message = "the reason";
  const auto text = watch_summary_json(all, info, {});
  CHECK(
      text.starts_with(R"({"kind":"summary","measurable":false,"spilled":null,"observations":0,)"));
  CHECK(text.find(
            R"("per_pid":[{"pid":1,"name":"a.exe","baseline_used_bytes":10,)"
            R"("peak_used_bytes":20,"baseline_shared_bytes":null,"peak_shared_bytes":null}])") !=
        std::string::npos);
}

TEST_CASE("the summary of each process") {
  watched all;
  all.add(values(12345, "python.exe", 8 * report_gib, 100 * report_mib));
  all.add(values(12345, "python.exe", 9 * report_gib, 700 * report_mib));
  auto info = spill({});
  info.message = "the reason";
  CHECK(
      watch_summary(all, info, style{}) ==
      "hmn watch: spill not measurable: the reason\n"
      "hmn watch: per-PID     PID NAME            BASELINE VRAM PEAK VRAM BASELINE SHARED PEAK "
      "SHARED\n"
      "                     12345 python.exe            8.0 GiB   9.0 GiB         100 MiB     700 "
      "MiB\n");
}

TEST_CASE("lines stand below their header, whatever they hold") {
  const auto header = watch_header(false);
  CHECK(
      header ==
      "    TIME     PID NAME                 VRAM     \u0394VRAM    SHARED   \u0394SHARED SPILL\n");
  CHECK(watch_header(true) ==
        "    TIME     PID NAME                 VRAM     dVRAM    SHARED   dSHARED SPILL\n");
  CHECK(watch_line({3500, spill(spill_state::measurable), "+3.5s"}, sampled()) ==
        "   +3.5s       7 py.exe              1 MiB    +1 MiB     0 MiB   -1000 B no\n");
  CHECK(watch_line({0, spill(spill_state::measurable | spill_state::now)}, sampled())
            .ends_with(" SPILL\n"));
  CHECK(watch_line({0, spill({})}, sampled()).ends_with(" ?\n"));
  watched_row gone;
  gone.pid = 99;
  gone.life = process_life::exited;
  CHECK(watch_line({60'000, spill({}), "+60.0s"}, gone) ==
        "  +60.0s      99 ?                  exited         -         -         - ?\n");
}
