// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/processes.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "cli/units.hpp"

using namespace hmn::cli;

namespace {

using hypomnesis::accounting_kind;
using hypomnesis::name_status;
using hypomnesis::note;

constexpr std::uint64_t gib = 1ull << 30;
constexpr auto most = std::numeric_limits<std::uint64_t>::max();

ProcessRow row(std::uint32_t pid, std::optional<std::uint64_t> used,
               std::optional<std::uint64_t> shared = 0, const char* name = "x") {
  ProcessRow made;
  made.on = std::make_shared<const Gpu>();
  made.usage.pid = pid;
  made.usage.accounting = accounting_kind::allocated;
  made.usage.name_state = name_status::resolved;
  made.usage.used_bytes = used;
  made.usage.host_pool_bytes = shared;
  made.usage.process_name = name;
  return made;
}

ProcessRow nameless(std::uint32_t pid, name_status state) {
  auto made = row(pid, 0);
  made.usage.process_name.reset();
  made.usage.name_state = state;
  return made;
}

std::vector<std::uint32_t> order(std::vector<ProcessRow> rows, SortKey by) {
  sort_rows(rows, by);
  std::vector<std::uint32_t> pids;
  for (const auto& each : rows) pids.push_back(each.usage.pid);
  return pids;
}

using Pids = std::vector<std::uint32_t>;

std::vector<ProcessRow> rows_of(std::uint32_t count, std::uint32_t first_pid = 1) {
  std::vector<ProcessRow> made;
  for (std::uint32_t i = 0; i < count; ++i) made.push_back(row(first_pid + i, 0));
  return made;
}

}  // namespace

TEST_CASE("sizes sort from the largest") {
  CHECK(order({row(1, 1000, 9000), row(2, 5000, 0), row(3, 3000, 0)}, SortKey::vram) ==
        Pids{2, 3, 1});
  const std::vector<ProcessRow> rows{row(1, 1000, 9000), row(2, 5000, 0), row(3, 3000, 2000)};
  CHECK(order(rows, SortKey::vram) == Pids{2, 3, 1});
  CHECK(order(rows, SortKey::shared) == Pids{1, 3, 2});
  const std::vector<ProcessRow> mixed{row(1, 4000, 6000), row(2, 8000, 0), row(3, 0, 7000)};
  CHECK(order(mixed, SortKey::total) == Pids{1, 2, 3});
  CHECK(order(mixed, SortKey::vram) == Pids{2, 1, 3});
  CHECK(order(mixed, SortKey::shared) == Pids{3, 1, 2});
}

TEST_CASE("a total past 64 bits saturates") {
  CHECK(order({row(1, 1000), row(2, most, most)}, SortKey::total) == Pids{2, 1});
  CHECK(total_of(row(1, most, most)) == most);
  CHECK(total_of(row(1, 5, std::nullopt)) == 5u);
  CHECK_FALSE(total_of(row(1, std::nullopt, std::nullopt)));
}

TEST_CASE("an APU's row counts both of its pools, and each is shown once") {
  Gpu apu;
  apu.device.memory_kind = hypomnesis::device_memory::unified;
  auto mostly_shared = row(1, 8 * gib, 7 * gib);
  auto own = row(2, 10 * gib, 0);
  apu.memory.emplace();
  apu.memory->kind = hypomnesis::pool_kind::host;
  mostly_shared.on = own.on = std::make_shared<const Gpu>(apu);
  auto main = mostly_shared;
  show_pool(main, &PoolUse::main);
  CHECK(main.usage.used_bytes == 7 * gib);
  show_pool(mostly_shared, &PoolUse::own);
  show_pool(own, &PoolUse::own);
  CHECK(mostly_shared.usage.used_bytes == gib);
  CHECK(order({mostly_shared, own}, SortKey::total) == Pids{2, 1});
  CHECK(total_of(mostly_shared) == 8 * gib);
  apu.memory->kind = hypomnesis::pool_kind::vram;  // a large carve-out
  auto carved = row(3, 8 * gib, 3 * gib);
  carved.on = std::make_shared<const Gpu>(apu);
  show_pool(carved, &PoolUse::main);
  CHECK(carved.usage.used_bytes == 5 * gib);
}

TEST_CASE("a card's row counts its own memory apart from the host's") {
  Gpu on;
  on.device.memory_kind = hypomnesis::device_memory::dedicated;
  on.memory.emplace();
  on.memory->kind = hypomnesis::pool_kind::vram;
  for (const auto shown : {&PoolUse::own, &PoolUse::main}) {
    auto of = row(1, 8 * gib, 3 * gib);
    of.on = std::make_shared<const Gpu>(on);
    show_pool(of, shown);
    CHECK(of.usage.used_bytes == 8 * gib);
    CHECK_FALSE(of.is_split);
  }
}

TEST_CASE("rows that add up to more than is in use keep their values, and have no sum") {
  Gpu on;
  on.memory.emplace();
  on.memory->kind = hypomnesis::pool_kind::vram;
  on.memory->backend = hypomnesis::backend_id::nvml;
  on.memory->total_bytes = 16 * gib;
  on.memory->used_bytes = 2 * gib;
  const auto sum = [&](std::initializer_list<std::uint64_t> sizes, accounting_kind accounting) {
    UsageTally all;
    for (const auto bytes : sizes) {
      auto one = row(1, bytes, std::nullopt);
      one.usage.accounting = accounting;
      one.on = std::make_shared<const Gpu>(on);
      show_pool(one, &PoolUse::own);
      CHECK(one.usage.used_bytes == bytes);
      all.add(one);
    }
    CHECK(all.bytes().has_value() == all.why_none().empty());
    return all.bytes();
  };
  CHECK(sum({gib, gib}, accounting_kind::allocated) == 2 * gib);
  CHECK_FALSE(sum({12 * gib, 11 * gib}, accounting_kind::allocated));
  // What is only committed is not in use.
  CHECK(sum({2 * gib, gib}, accounting_kind::committed) == 3 * gib);
  on.memory->used_bytes = 0;
  CHECK_FALSE(sum({gib}, accounting_kind::allocated));
  on.memory->notes = hypomnesis::note::lower_bound;
  CHECK(sum({12 * gib}, accounting_kind::allocated) == 12 * gib);
  CHECK_FALSE(sum({12 * gib, 11 * gib}, accounting_kind::allocated));
}

TEST_CASE("what kernel drivers do not report as shared may all be") {
  auto one = row(1, 3 * gib, gib), other = row(2, 2 * gib, gib);
  for (auto* each : {&one, &other}) each->usage.backend = hypomnesis::backend_id::amdgpu;
  UsageTally all;
  all.add(one);
  all.add(other);
  CHECK(all.bytes() == 3 * gib);
  CHECK(all.is_at_least());
  CHECK(all.host_bytes() == gib);
  CHECK(all.is_host_at_least());
  for (auto* each : {&one, &other}) each->usage.shared_bytes = 0;
  UsageTally apart;
  apart.add(one);
  apart.add(other);
  CHECK(apart.bytes() == 5 * gib);
  CHECK_FALSE(apart.is_at_least());
  CHECK(apart.host_bytes() == 2 * gib);
}

TEST_CASE("unknown sizes come last, whatever is asked for") {
  CHECK(order({row(1, std::nullopt, std::nullopt), row(2, 0)}, SortKey::vram) == Pids{2, 1});
  CHECK(order({row(1, 5, std::nullopt), row(2, 1, 0)}, SortKey::shared) == Pids{2, 1});
}

TEST_CASE("ties go by name, unknown names first, then by pid") {
  CHECK(order({row(20, 7, 0, "b.exe"), row(10, 7, 0, "a.exe")}, SortKey::vram) == Pids{10, 20});
  CHECK(order({row(1, 7, 0, "z.exe"), row(99, 7, 0, "a.exe")}, SortKey::vram) == Pids{99, 1});
  CHECK(order({row(9, 7, 0, "a"), row(8, 7, 0, "a")}, SortKey::vram) == Pids{8, 9});
  auto unnamed = row(9, 7);
  unnamed.usage.process_name.reset();
  CHECK(order({row(1, 7, 0, "a"), unnamed}, SortKey::vram) == Pids{9, 1});
}

TEST_CASE("pid, name and ram as keys") {
  auto big = row(30, 1, 0, "a");
  big.usage.host_resident_bytes = 5 * mib;
  CHECK(order({row(10, 9, 0, "c"), big, row(20, 5, 0, "b")}, SortKey::pid) == Pids{10, 20, 30});
  CHECK(order({row(10, 9, 0, "c"), big, row(20, 5, 0, "b")}, SortKey::name) == Pids{30, 20, 10});
  CHECK(order({row(10, 9, 0, "c"), big, row(20, 5, 0, "b")}, SortKey::ram) == Pids{30, 20, 10});
}

TEST_CASE("the count sentence") {
  CHECK(count_sentence({}, {}) == "0 GPU processes found.");
  CHECK(count_sentence({row(1, 0)}, {}) == "1 GPU process found (0 MiB allocated total).");
  CHECK(count_sentence(rows_of(7), {}) == "7 GPU processes found (0 MiB allocated total).");
  CHECK(count_sentence({row(1, 4 * gib), row(2, 4 * gib), row(3, 4 * gib)}, {}) ==
        "3 GPU processes found (12.0 GiB allocated total).");
  CHECK(count_sentence({row(1, 256 * mib), row(2, 256 * mib)}, {}) ==
        "2 GPU processes found (512 MiB allocated total).");
}

TEST_CASE("the count sentence names the filters") {
  CHECK(count_sentence({}, {12345u, {}, {}, {}}) == "0 GPU processes found matching pid=12345.");
  CHECK(count_sentence({row(1, 0), row(2, 0)}, {{}, {"0"}, {}, {}}) ==
        "2 GPU processes found matching device=0 (0 MiB allocated total).");
  CHECK(count_sentence({row(99, 0)}, {99u, {"1"}, {}, {}}) ==
        "1 GPU process found matching pid=99 device=1 (0 MiB allocated total).");
  CHECK(count_sentence({}, {{}, {}, "py*", {}}) == "0 GPU processes found matching name=py*.");
}

TEST_CASE("the count sentence counts names that root could see") {
  const auto sentence = [](std::uint32_t named, std::uint32_t hidden) {
    auto rows = rows_of(named);
    for (std::uint32_t i = 0; i < hidden; ++i)
      rows.push_back(nameless(100 + i, name_status::protected_process));
    return count_sentence(rows, {});
  };
  CHECK(sentence(3, 1) ==
        "4 GPU processes found (0 MiB allocated total; 1 protected, run as root for names).");
  CHECK(sentence(28, 4) ==
        "32 GPU processes found (0 MiB allocated total; 4 protected, run as root for names).");
  CHECK(sentence(0, 3) ==
        "3 GPU processes found (0 MiB allocated total; 3 protected, run as root for names).");
}

TEST_CASE("the count sentence with filters and a protected name") {
  CHECK(count_sentence({row(41, 0), row(42, 0), nameless(43, name_status::protected_process)},
                       {{}, {"0"}, "*", {}}) ==
        "3 GPU processes found matching device=0 name=* (0 MiB allocated total; 1 protected, run "
        "as root for names).");
}

TEST_CASE("the state of a name counts, never what it looks like") {
  const auto sentence = [](const ProcessRow& last) {
    return count_sentence({row(1, 0), row(2, 0), last}, {});
  };
  constexpr const char* plain = "3 GPU processes found (0 MiB allocated total).";
  constexpr const char* hidden =
      "3 GPU processes found (0 MiB allocated total; 1 protected, run as root for names).";
  CHECK(sentence(nameless(3, name_status::protected_process)) == hidden);
  CHECK(sentence(nameless(3, name_status::unknown)) == plain);
  CHECK(sentence(nameless(3, name_status::exited)) == plain);
  CHECK(sentence(nameless(3, name_status::kernel)) == plain);
  for (const char* name : {"[protected]", "?", "[exited]", "[kernel]"})
    CHECK(sentence(row(3, 0, 0, name)) == plain);
}

TEST_CASE("a process of another namespace has no name that root could see") {
  auto foreign = nameless(4, name_status::unknown);
  foreign.usage.notes = note::foreign_pid;
  CHECK(count_sentence({foreign}, {}) == "1 GPU process found (0 MiB allocated total).");
}

TEST_CASE("the count sentence is honest about what it could not add") {
  CHECK(count_sentence({row(1, mib), row(2, std::nullopt)}, {}) ==
        "2 GPU processes found (at least 1 MiB allocated total; 1 of unknown size).");
  auto stale = row(3, mib);
  stale.usage.notes |= note::stale;
  CHECK(count_sentence({row(1, mib), stale}, {}) ==
        "2 GPU processes found (2 MiB allocated total; 1 stale).");
  auto resident = row(2, mib);
  resident.usage.accounting = accounting_kind::resident;
  CHECK(count_sentence({row(1, mib), resident}, {}) == "2 GPU processes found (2 MiB total).");
  CHECK(count_sentence({row(1, most), row(2, most)}, {}) ==
        "2 GPU processes found (17179869184.0 GiB allocated total).");
}

TEST_CASE("what is not known makes no total") {
  CHECK(count_sentence({row(1, std::nullopt), row(2, std::nullopt)}, {}) ==
        "2 GPU processes found (2 of unknown size).");
  CHECK(count_sentence({row(1, mib)}, {}, true) ==
        "at least 1 GPU process found (at least 1 MiB allocated total).");
  auto bound = row(1, mib);
  bound.usage.notes |= note::lower_bound;
  CHECK(count_sentence({bound}, {}) == "1 GPU process found (at least 1 MiB allocated total).");
}

TEST_CASE("a partition and its GPU are not both counted") {
  auto whole = row(1, 512 * mib);
  auto part = row(1, 512 * mib);
  Gpu partition;
  part.usage.device_index = partition.device.index = 3;
  partition.device.parent_index = 0;
  part.on = std::make_shared<const Gpu>(partition);
  auto other = row(2, 256 * mib);
  CHECK(count_sentence({whole, part, other}, {}) ==
        "2 GPU processes found (768 MiB allocated total).");
}

TEST_CASE("AMD's GPU is a partition itself, whose processes no other lists") {
  auto whole = row(1, 512 * mib);
  auto part = row(1, 256 * mib);
  Gpu partition;
  part.usage.device_index = partition.device.index = 1;
  partition.device.parent_index = 0;
  partition.device.vendor = hypomnesis::vendor_id::amd;
  part.on = std::make_shared<const Gpu>(partition);
  CHECK(count_sentence({whole, part}, {}) == "1 GPU process found (768 MiB allocated total).");
  const std::vector<ProcessRow> rows{whole, part};
  const auto by_device = group_rows(list_of(rows), Grouping::device, {});
  REQUIRE(by_device.size() == 2);
  CHECK(by_device[0].total.bytes() == 512 * mib);
}

TEST_CASE("a protected process is not known to be in no container") {
  const std::vector<ProcessRow> rows{nameless(1, name_status::protected_process), row(2, 1)};
  const auto groups = group_rows(list_of(rows), Grouping::container, {});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].is_known);
  CHECK_FALSE(groups[1].is_known);
}

TEST_CASE("rows of one process on several devices are one process") {
  std::vector<ProcessRow> rows;
  for (const std::uint32_t device : {0u, 1u})
    for (const std::uint32_t pid : {1u, 2u, 3u, 4u, 5u}) {
      rows.push_back(pid == 5 ? nameless(pid, name_status::protected_process) : row(pid, gib));
      rows.back().usage.device_index = device;
      if (pid == 4) rows.back().usage.used_bytes.reset();
      if (pid == 3) rows.back().usage.notes |= note::stale;
    }
  CHECK(count_sentence(rows, {}) ==
        "5 GPU processes found (at least 6.0 GiB allocated total; 1 of unknown size; 1 stale; 1 "
        "protected, run as root for names).");
}

TEST_CASE("a process is a pid and its start, in one PID namespace") {
  const auto count = [](const ProcessRow& a, const ProcessRow& b) {
    ProcessCount all;
    all.add(a.usage);
    all.add(b.usage);
    return all.size();
  };
  const auto begun = [](std::uint64_t key) {
    auto made = row(7, 0);
    made.usage.process_key = key;
    return made;
  };
  CHECK(count(begun(1), begun(1)) == 1);
  CHECK(count(begun(1), begun(2)) == 2);   // the pid was used again
  CHECK(count(begun(1), row(7, 0)) == 1);  // its start is not known
  auto foreign = row(7, 0);
  foreign.usage.notes |= note::foreign_pid;
  CHECK(count(begun(1), foreign) == 2);
  CHECK(count(foreign, foreign) == 1);
  const auto exited = [](std::uint64_t accounted_since) {
    auto made = nameless(7, name_status::exited);
    made.usage.start_unix_ns = accounted_since;
    return made;
  };
  CHECK(count(exited(1), exited(2)) == 1);
  CHECK(count(row(0, 0), row(0, 0)) == 2);  // without a pid
  CHECK(count(nameless(0, name_status::kernel), nameless(0, name_status::kernel)) == 1);
}

TEST_CASE("memory that several processes hold counts once, as what they use at least") {
  const auto holder = [](std::uint32_t pid, std::uint64_t used, std::uint64_t shared,
                         std::uint32_t device = 0) {
    auto made = row(pid, used);
    made.usage.shared_bytes = shared;
    made.usage.device_index = device;
    made.usage.accounting = accounting_kind::resident;
    return made;
  };
  CHECK(count_sentence({holder(1, 64 * mib, 64 * mib), holder(2, 64 * mib, 64 * mib)}, {}) ==
        "2 GPU processes found (at least 64 MiB resident total).");
  CHECK(count_sentence({holder(1, 64 * mib, 64 * mib), holder(2, 80 * mib, 68 * mib)}, {}) ==
        "2 GPU processes found (at least 80 MiB resident total).");
  // What one process shares is not in the total twice, and neither is that of two devices.
  CHECK(count_sentence({holder(1, 64 * mib, 64 * mib), holder(2, 16 * mib, 0)}, {}) ==
        "2 GPU processes found (80 MiB resident total).");
  CHECK(count_sentence({holder(1, 64 * mib, 64 * mib), holder(1, 64 * mib, 64 * mib, 1)}, {}) ==
        "1 GPU process found (128 MiB resident total).");
  auto bound = holder(1, 64 * mib, 0);
  bound.usage.notes = note::lower_bound;
  CHECK(count_sentence({bound}, {}) == "1 GPU process found (at least 64 MiB resident total).");
}
