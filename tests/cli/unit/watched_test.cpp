// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/watched.hpp"

#include <doctest/doctest.h>

#include "cli/watch_report.hpp"

using hmn::cli::choose_top;
using hmn::cli::process_figures;
using hmn::cli::process_life;
using hmn::cli::watched;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

process_figures row(std::uint32_t pid, std::uint64_t used, const char* name = "a") {
  process_figures out;
  out.pid = pid;
  out.used = used;
  if (name != nullptr) out.name = name;
  return out;
}

}  // namespace

TEST_CASE("HV82: those that use most, then by name, then by pid") {
  CHECK(choose_top({row(1, 1000), row(2, 5000), row(3, 3000)}, 2) ==
        std::vector<std::uint32_t>{2, 3});
  CHECK(choose_top({row(1, 7, "z.exe"), row(99, 7, "a.exe")}, 2) ==
        std::vector<std::uint32_t>{99, 1});
  CHECK(choose_top({row(1, 1)}, 5).size() == 1);
  CHECK(choose_top({}, 5).empty());
}

TEST_CASE("changes are against the sample before, peak and baseline of all") {
  watched all;
  CHECK(all.add(row(1, 10 * mib)).used_delta == 0);
  CHECK(all.add(row(1, 30 * mib)).used_delta == 20 * mib);
  CHECK(all.add(row(1, 5 * mib)).used_delta == -25 * std::int64_t{mib});
  CHECK_FALSE(all.add(row(1, 5 * mib)).shared_delta);
  REQUIRE(all.all().size() == 1);
  CHECK(all.all()[0].used.baseline == 10 * mib);
  CHECK(all.all()[0].used.peak == 30 * mib);
  CHECK(all.add_absent(1, process_life::exited).name == "a");
}

TEST_CASE("a pid that is given anew is told by its start time, not by its name") {
  watched all;
  auto first = row(1, 10 * mib, "?");
  first.start_unix_ns = 1;
  auto renamed = row(1, 20 * mib, "python");
  renamed.start_unix_ns = 1;
  auto other = row(1, 5 * mib, "python");
  other.start_unix_ns = 2;
  all.add(first);
  CHECK(all.add(renamed).remark.empty());
  const auto again = all.add(other);
  CHECK(again.remark == "pid=1 is another process now (python -> python); baseline reset");
  CHECK(again.used_delta == 0);
  CHECK(all.all()[0].used.peak == 5 * mib);
}

TEST_CASE("the growth of a process without a name is hinted at once") {
  watched all;
  all.add(row(1, mib, nullptr));
  CHECK(all.add(row(1, 257 * mib - 1, nullptr)).remark.empty());
  CHECK(all.add(row(1, 257 * mib, nullptr)).remark ==
        "unresolved pid=1 grew +256 MiB since attach; run as root to identify it");
  CHECK(all.add(row(1, 999 * mib, nullptr)).remark.empty());
}

// Five new processes in each of 24 h of seconds.
TEST_CASE("memory is bounded however many processes come and go") {
  watched all;
  constexpr std::uint32_t samples = 24 * 3600;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::vector<std::uint32_t> followed;
    for (std::uint32_t k = 0; k < 5; ++k) followed.push_back(i + k + 1);
    all.add(row(i + 5, mib));
    all.forget_beyond(followed);
    if (i % 8192 == 0) CHECK(all.all().size() <= watched::most);
  }
  CHECK(all.all().size() == watched::most);
  CHECK(all.forgotten() == samples - watched::most);
  CHECK(all.all().back().pid == samples + 4);
}

TEST_CASE("a change has its sign and is never less than it is") {
  using hmn::cli::change_text;
  CHECK(change_text(0) == "+0 B");
  CHECK(change_text(-1) == "-1 B");
  CHECK(change_text(5 * std::int64_t{mib}) == "+5 MiB");
  CHECK(change_text(-3 * 1024 * std::int64_t{mib}) == "-3.0 GiB");
  CHECK(change_text(std::nullopt) == "?");
}
