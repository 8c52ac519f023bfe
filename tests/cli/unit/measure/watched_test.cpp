// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/watched.hpp"

#include <doctest/doctest.h>

using hmn::cli::choose_top;
using hmn::cli::process_life;
using hmn::cli::process_values;
using hmn::cli::watched;

namespace {

constexpr std::uint64_t watched_mib = std::uint64_t{1} << 20U;

process_values row_of_pid(std::uint32_t pid, std::uint64_t used, const char* name = "a") {
  process_values out;
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
  watched all;
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
  watched all;
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
  watched all;
  const auto absent = all.add_absent(42, true, std::nullopt);
  CHECK(absent.life == process_life::exited);
  CHECK_FALSE(absent.used);
  CHECK_FALSE(absent.name);
}

TEST_CASE("the peak is that of all samples") {
  watched all;
  all.add(row_of_pid(1, 8000));
  all.add(row_of_pid(1, 5000));
  CHECK(all.all()[0].used.peak == 8000u);
  CHECK(all.all()[0].used.baseline == 8000u);
}

TEST_CASE("another name is no other process") {
  watched all;
  all.add(row_of_pid(1, 8000, "python"));
  all.add(row_of_pid(1, 8500, nullptr));
  const auto third = all.add(row_of_pid(1, 9000, "notepad"));
  CHECK(third.used_delta == 500);
  CHECK(third.message.empty());
  CHECK(all.all()[0].used.baseline == 8000u);
  CHECK(all.all()[0].name == "notepad");
}

TEST_CASE("one that left and came back goes on, in the order first seen") {
  watched all;
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
  watched all;
  auto now = row_of_pid(1, watched_mib);
  now.start = 77;
  all.add(now);
  CHECK(all.add_absent(1, false, 77).life == process_life::idle);
  CHECK(all.add_absent(1, false, 78).life == process_life::exited);
  CHECK(all.add_absent(1, false, std::nullopt).life == process_life::exited);  // a zombie
  CHECK(all.add_absent(1, true, std::nullopt).life == process_life::exited);
  now.start = 78;
  CHECK(all.add(now).message == "pid=1 is another process now (a -> a); baseline reset");
  // Without a start time.
  CHECK(all.add_absent(2, false, std::nullopt).life == process_life::idle);
  CHECK(all.add_absent(2, false, 5).life == process_life::idle);
  CHECK(all.add_absent(2, false, 6).life == process_life::exited);
}

TEST_CASE("of a pid of another namespace nobody can tell whether it lives") {
  watched all;
  auto now = row_of_pid(1, watched_mib);
  now.is_foreign = true;
  all.add(now);
  CHECK(all.add_absent(1, true, std::nullopt).life == process_life::unknown);
  CHECK(all.add_absent(1, false, 9).life == process_life::unknown);
}

TEST_CASE("a reused pid is detected by its start time, not by its name") {
  watched all;
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
  watched all;
  all.add(row_of_pid(1, watched_mib, nullptr));
  CHECK(all.add(row_of_pid(1, 257 * watched_mib - 1, nullptr)).message.empty());
  CHECK(all.add(row_of_pid(1, 257 * watched_mib, nullptr)).message ==
        "unresolved pid=1 grew +256 MiB since attach; run as root to identify it");
  CHECK(all.add(row_of_pid(1, 999 * watched_mib, nullptr)).message.empty());
}

// Five processes are followed at a time, with a new one in each sample.
TEST_CASE("memory is bounded however many processes come and go") {
  watched all;
  constexpr std::uint32_t samples = 3 * watched::most;
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::vector<std::uint32_t> followed;
    for (std::uint32_t k = 0; k < 5; ++k) followed.push_back(i + k + 1);
    all.add(row_of_pid(i + 5, watched_mib));
    all.forget_beyond(followed);
    if (i % 512 == 0) CHECK(all.all().size() <= watched::most);
  }
  CHECK(all.all().size() == watched::most);
  CHECK(all.forgotten() == samples - watched::most);
  CHECK(all.all().back().pid == samples + 4);
}
