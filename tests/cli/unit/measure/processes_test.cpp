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
constexpr auto max_bytes = std::numeric_limits<std::uint64_t>::max();

ProcessRow make_row(std::uint32_t pid, std::optional<std::uint64_t> used,
                    std::optional<std::uint64_t> shared = 0, const char* name = "x") {
  ProcessRow row;
  row.gpu = std::make_shared<const Gpu>();
  row.usage.pid = pid;
  row.usage.accounting = accounting_kind::allocated;
  row.usage.name_state = name_status::resolved;
  row.usage.used_bytes = used;
  row.usage.host_pool_bytes = shared;
  row.usage.process_name = name;
  return row;
}

ProcessRow make_nameless(std::uint32_t pid, name_status state) {
  auto row = make_row(pid, 0);
  row.usage.process_name.reset();
  row.usage.name_state = state;
  return row;
}

std::vector<std::uint32_t> sort_pids(std::vector<ProcessRow> rows, SortKey key) {
  sort_rows(rows, key);
  std::vector<std::uint32_t> pids;
  for (const auto& row : rows) pids.push_back(row.usage.pid);
  return pids;
}

using Pids = std::vector<std::uint32_t>;

std::vector<ProcessRow> make_rows(std::uint32_t count, std::uint32_t first_pid = 1) {
  std::vector<ProcessRow> rows;
  for (std::uint32_t i = 0; i < count; ++i) rows.push_back(make_row(first_pid + i, 0));
  return rows;
}

}  // namespace

TEST_CASE("sizes sort in descending order") {
  CHECK(sort_pids({make_row(1, 1000, 9000), make_row(2, 5000, 0), make_row(3, 3000, 0)},
                  SortKey::vram) == Pids{2, 3, 1});
  const std::vector<ProcessRow> rows{make_row(1, 1000, 9000), make_row(2, 5000, 0),
                                     make_row(3, 3000, 2000)};
  CHECK(sort_pids(rows, SortKey::vram) == Pids{2, 3, 1});
  CHECK(sort_pids(rows, SortKey::shared) == Pids{1, 3, 2});
  const std::vector<ProcessRow> mixed{make_row(1, 4000, 6000), make_row(2, 8000, 0),
                                      make_row(3, 0, 7000)};
  CHECK(sort_pids(mixed, SortKey::total) == Pids{1, 2, 3});
  CHECK(sort_pids(mixed, SortKey::vram) == Pids{2, 1, 3});
  CHECK(sort_pids(mixed, SortKey::shared) == Pids{3, 1, 2});
}

TEST_CASE("a total beyond 64 bits saturates") {
  CHECK(sort_pids({make_row(1, 1000), make_row(2, max_bytes, max_bytes)}, SortKey::total) ==
        Pids{2, 1});
  CHECK(compute_total_bytes(make_row(1, max_bytes, max_bytes)) == max_bytes);
  CHECK(compute_total_bytes(make_row(1, 5, std::nullopt)) == 5u);
  CHECK_FALSE(compute_total_bytes(make_row(1, std::nullopt, std::nullopt)));
}

TEST_CASE("an APU row counts both pools, and each is shown once") {
  Gpu apu;
  apu.device.memory_kind = hypomnesis::device_memory::unified;
  auto mostly_shared = make_row(1, 8 * gib, 7 * gib);
  auto own = make_row(2, 10 * gib, 0);
  apu.memory.emplace();
  apu.memory->kind = hypomnesis::pool_kind::host;
  mostly_shared.gpu = own.gpu = std::make_shared<const Gpu>(apu);
  auto main_row = mostly_shared;
  select_pool(main_row, &PoolUse::main);
  CHECK(main_row.usage.used_bytes == 7 * gib);
  select_pool(mostly_shared, &PoolUse::own);
  select_pool(own, &PoolUse::own);
  CHECK(mostly_shared.usage.used_bytes == gib);
  CHECK(sort_pids({mostly_shared, own}, SortKey::total) == Pids{2, 1});
  CHECK(compute_total_bytes(mostly_shared) == 8 * gib);
  apu.memory->kind = hypomnesis::pool_kind::vram;  // a large carve-out
  auto carved = make_row(3, 8 * gib, 3 * gib);
  carved.gpu = std::make_shared<const Gpu>(apu);
  select_pool(carved, &PoolUse::main);
  CHECK(carved.usage.used_bytes == 5 * gib);
}

TEST_CASE("a card's row counts its own memory separately from the host's") {
  Gpu gpu;
  gpu.device.memory_kind = hypomnesis::device_memory::dedicated;
  gpu.memory.emplace();
  gpu.memory->kind = hypomnesis::pool_kind::vram;
  for (const auto pool_use : {&PoolUse::own, &PoolUse::main}) {
    auto row = make_row(1, 8 * gib, 3 * gib);
    row.gpu = std::make_shared<const Gpu>(gpu);
    select_pool(row, pool_use);
    CHECK(row.usage.used_bytes == 8 * gib);
    CHECK_FALSE(row.is_split);
  }
}

TEST_CASE("rows that exceed the memory in use keep their values but have no sum") {
  Gpu gpu;
  gpu.memory.emplace();
  gpu.memory->kind = hypomnesis::pool_kind::vram;
  gpu.memory->backend = hypomnesis::backend_id::nvml;
  gpu.memory->total_bytes = 16 * gib;
  gpu.memory->used_bytes = 2 * gib;
  const auto add_up = [&](std::initializer_list<std::uint64_t> sizes, accounting_kind accounting) {
    UsageTally tally;
    for (const auto bytes : sizes) {
      auto row = make_row(1, bytes, std::nullopt);
      row.usage.accounting = accounting;
      row.gpu = std::make_shared<const Gpu>(gpu);
      select_pool(row, &PoolUse::own);
      CHECK(row.usage.used_bytes == bytes);
      tally.add(row);
    }
    CHECK(tally.bytes().has_value() == tally.explain_missing().empty());
    return tally.bytes();
  };
  CHECK(add_up({gib, gib}, accounting_kind::allocated) == 2 * gib);
  CHECK_FALSE(add_up({12 * gib, 11 * gib}, accounting_kind::allocated));
  // Committed memory need not be in use.
  CHECK(add_up({2 * gib, gib}, accounting_kind::committed) == 3 * gib);
  gpu.memory->used_bytes = 0;
  CHECK_FALSE(add_up({gib}, accounting_kind::allocated));
  gpu.memory->notes = hypomnesis::note::lower_bound;
  CHECK(add_up({12 * gib}, accounting_kind::allocated) == 12 * gib);
  CHECK_FALSE(add_up({12 * gib, 11 * gib}, accounting_kind::allocated));
}

TEST_CASE("shared memory that is not reported makes the sum a lower bound") {
  auto first = make_row(1, 3 * gib, gib), second = make_row(2, 2 * gib, gib);
  for (auto* row : {&first, &second}) row->usage.backend = hypomnesis::backend_id::amdgpu;
  UsageTally tally;
  tally.add(first);
  tally.add(second);
  CHECK(tally.bytes() == 3 * gib);
  CHECK(tally.is_at_least());
  CHECK(tally.host_bytes() == gib);
  CHECK(tally.is_host_at_least());
  for (auto* row : {&first, &second}) row->usage.shared_bytes = 0;
  UsageTally separate;
  separate.add(first);
  separate.add(second);
  CHECK(separate.bytes() == 5 * gib);
  CHECK_FALSE(separate.is_at_least());
  CHECK(separate.host_bytes() == 2 * gib);
}

TEST_CASE("unknown sizes sort last for every key") {
  CHECK(sort_pids({make_row(1, std::nullopt, std::nullopt), make_row(2, 0)}, SortKey::vram) ==
        Pids{2, 1});
  CHECK(sort_pids({make_row(1, 5, std::nullopt), make_row(2, 1, 0)}, SortKey::shared) ==
        Pids{2, 1});
}

TEST_CASE("ties are sorted by name, unknown names first, then by PID") {
  CHECK(sort_pids({make_row(20, 7, 0, "b.exe"), make_row(10, 7, 0, "a.exe")}, SortKey::vram) ==
        Pids{10, 20});
  CHECK(sort_pids({make_row(1, 7, 0, "z.exe"), make_row(99, 7, 0, "a.exe")}, SortKey::vram) ==
        Pids{99, 1});
  CHECK(sort_pids({make_row(9, 7, 0, "a"), make_row(8, 7, 0, "a")}, SortKey::vram) == Pids{8, 9});
  auto unnamed = make_row(9, 7);
  unnamed.usage.process_name.reset();
  CHECK(sort_pids({make_row(1, 7, 0, "a"), unnamed}, SortKey::vram) == Pids{9, 1});
}

TEST_CASE("rows sort by PID, name and RAM") {
  auto big = make_row(30, 1, 0, "a");
  big.usage.host_resident_bytes = 5 * mib;
  CHECK(sort_pids({make_row(10, 9, 0, "c"), big, make_row(20, 5, 0, "b")}, SortKey::pid) ==
        Pids{10, 20, 30});
  CHECK(sort_pids({make_row(10, 9, 0, "c"), big, make_row(20, 5, 0, "b")}, SortKey::name) ==
        Pids{30, 20, 10});
  CHECK(sort_pids({make_row(10, 9, 0, "c"), big, make_row(20, 5, 0, "b")}, SortKey::ram) ==
        Pids{30, 20, 10});
}

TEST_CASE("the count sentence has the number of processes and their total") {
  CHECK(format_count_sentence({}, {}) == "0 GPU processes found.");
  CHECK(format_count_sentence({make_row(1, 0)}, {}) ==
        "1 GPU process found (0 MiB allocated total).");
  CHECK(format_count_sentence(make_rows(7), {}) ==
        "7 GPU processes found (0 MiB allocated total).");
  CHECK(format_count_sentence({make_row(1, 4 * gib), make_row(2, 4 * gib), make_row(3, 4 * gib)},
                              {}) == "3 GPU processes found (12.0 GiB allocated total).");
  CHECK(format_count_sentence({make_row(1, 256 * mib), make_row(2, 256 * mib)}, {}) ==
        "2 GPU processes found (512 MiB allocated total).");
}

TEST_CASE("the count sentence names the filters") {
  CHECK(format_count_sentence({}, {12345u, {}, {}, {}}) ==
        "0 GPU processes found matching pid=12345.");
  CHECK(format_count_sentence({make_row(1, 0), make_row(2, 0)}, {{}, {"0"}, {}, {}}) ==
        "2 GPU processes found matching device=0 (0 MiB allocated total).");
  CHECK(format_count_sentence({make_row(99, 0)}, {99u, {"1"}, {}, {}}) ==
        "1 GPU process found matching pid=99 device=1 (0 MiB allocated total).");
  CHECK(format_count_sentence({}, {{}, {}, "py*", {}}) ==
        "0 GPU processes found matching name=py*.");
}

TEST_CASE("the count sentence counts protected names") {
  const auto make_sentence = [](std::uint32_t named, std::uint32_t hidden) {
    auto rows = make_rows(named);
    for (std::uint32_t i = 0; i < hidden; ++i)
      rows.push_back(make_nameless(100 + i, name_status::protected_process));
    return format_count_sentence(rows, {});
  };
  CHECK(make_sentence(3, 1) ==
        "4 GPU processes found (0 MiB allocated total; 1 protected, run as root for names).");
  CHECK(make_sentence(28, 4) ==
        "32 GPU processes found (0 MiB allocated total; 4 protected, run as root for names).");
  CHECK(make_sentence(0, 3) ==
        "3 GPU processes found (0 MiB allocated total; 3 protected, run as root for names).");
}

TEST_CASE("the count sentence combines filters and protected names") {
  CHECK(format_count_sentence(
            {make_row(41, 0), make_row(42, 0), make_nameless(43, name_status::protected_process)},
            {{}, {"0"}, "*", {}}) ==
        "3 GPU processes found matching device=0 name=* (0 MiB allocated total; 1 protected, run "
        "as root for names).");
}

TEST_CASE("a protected name is recognised by its state, not by its text") {
  const auto make_sentence = [](const ProcessRow& last) {
    return format_count_sentence({make_row(1, 0), make_row(2, 0), last}, {});
  };
  constexpr const char* plain = "3 GPU processes found (0 MiB allocated total).";
  constexpr const char* hidden =
      "3 GPU processes found (0 MiB allocated total; 1 protected, run as root for names).";
  CHECK(make_sentence(make_nameless(3, name_status::protected_process)) == hidden);
  CHECK(make_sentence(make_nameless(3, name_status::unknown)) == plain);
  CHECK(make_sentence(make_nameless(3, name_status::exited)) == plain);
  CHECK(make_sentence(make_nameless(3, name_status::kernel)) == plain);
  for (const char* name : {"[protected]", "?", "[exited]", "[kernel]"})
    CHECK(make_sentence(make_row(3, 0, 0, name)) == plain);
}

TEST_CASE("a process of another namespace does not count as protected") {
  auto foreign = make_nameless(4, name_status::unknown);
  foreign.usage.notes = note::foreign_pid;
  CHECK(format_count_sentence({foreign}, {}) == "1 GPU process found (0 MiB allocated total).");
}

TEST_CASE("the count sentence mentions unknown sizes and stale values") {
  CHECK(format_count_sentence({make_row(1, mib), make_row(2, std::nullopt)}, {}) ==
        "2 GPU processes found (at least 1 MiB allocated total; 1 of unknown size).");
  auto stale = make_row(3, mib);
  stale.usage.notes |= note::stale;
  CHECK(format_count_sentence({make_row(1, mib), stale}, {}) ==
        "2 GPU processes found (2 MiB allocated total; 1 stale).");
  auto resident = make_row(2, mib);
  resident.usage.accounting = accounting_kind::resident;
  CHECK(format_count_sentence({make_row(1, mib), resident}, {}) ==
        "2 GPU processes found (2 MiB total).");
  CHECK(format_count_sentence({make_row(1, max_bytes), make_row(2, max_bytes)}, {}) ==
        "2 GPU processes found (17179869184.0 GiB allocated total).");
}

TEST_CASE("unknown sizes give no total, and an incomplete list gives a lower bound") {
  CHECK(format_count_sentence({make_row(1, std::nullopt), make_row(2, std::nullopt)}, {}) ==
        "2 GPU processes found (2 of unknown size).");
  CHECK(format_count_sentence({make_row(1, mib)}, {}, true) ==
        "at least 1 GPU process found (at least 1 MiB allocated total).");
  auto partial = make_row(1, mib);
  partial.usage.notes |= note::lower_bound;
  CHECK(format_count_sentence({partial}, {}) ==
        "1 GPU process found (at least 1 MiB allocated total).");
}

TEST_CASE("a process in a partition and its GPU is counted once") {
  auto parent = make_row(1, 512 * mib);
  auto part = make_row(1, 512 * mib);
  Gpu partition;
  part.usage.device_index = partition.device.index = 3;
  partition.device.parent_index = 0;
  part.gpu = std::make_shared<const Gpu>(partition);
  auto second = make_row(2, 256 * mib);
  CHECK(format_count_sentence({parent, part, second}, {}) ==
        "2 GPU processes found (768 MiB allocated total).");
}

TEST_CASE("processes of an AMD GPU and of its partitions are counted separately") {
  auto parent = make_row(1, 512 * mib);
  auto part = make_row(1, 256 * mib);
  Gpu partition;
  part.usage.device_index = partition.device.index = 1;
  partition.device.parent_index = 0;
  partition.device.vendor = hypomnesis::vendor_id::amd;
  part.gpu = std::make_shared<const Gpu>(partition);
  CHECK(format_count_sentence({parent, part}, {}) ==
        "1 GPU process found (768 MiB allocated total).");
  const std::vector<ProcessRow> rows{parent, part};
  const auto groups = group_rows(make_row_list(rows), Grouping::device, {});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].total.bytes() == 512 * mib);
}

TEST_CASE("the container of a protected process is unknown, not none") {
  const std::vector<ProcessRow> rows{make_nameless(1, name_status::protected_process),
                                     make_row(2, 1)};
  const auto groups = group_rows(make_row_list(rows), Grouping::container, {});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].is_known);
  CHECK_FALSE(groups[1].is_known);
}

TEST_CASE("rows of one process on several devices count as one process") {
  std::vector<ProcessRow> rows;
  for (const std::uint32_t device : {0u, 1u})
    for (const std::uint32_t pid : {1u, 2u, 3u, 4u, 5u}) {
      rows.push_back(pid == 5 ? make_nameless(pid, name_status::protected_process)
                              : make_row(pid, gib));
      rows.back().usage.device_index = device;
      if (pid == 4) rows.back().usage.used_bytes.reset();
      if (pid == 3) rows.back().usage.notes |= note::stale;
    }
  CHECK(format_count_sentence(rows, {}) ==
        "5 GPU processes found (at least 6.0 GiB allocated total; 1 of unknown size; 1 stale; 1 "
        "protected, run as root for names).");
}

TEST_CASE("a process is identified by PID, start and PID namespace") {
  const auto count_processes = [](const ProcessRow& first, const ProcessRow& second) {
    ProcessCount processes;
    processes.add(first.usage);
    processes.add(second.usage);
    return processes.size();
  };
  const auto make_started = [](std::uint64_t key) {
    auto row = make_row(7, 0);
    row.usage.process_key = key;
    return row;
  };
  CHECK(count_processes(make_started(1), make_started(1)) == 1);
  CHECK(count_processes(make_started(1), make_started(2)) == 2);  // the pid was used again
  CHECK(count_processes(make_started(1), make_row(7, 0)) == 1);   // its start is not known
  auto foreign = make_row(7, 0);
  foreign.usage.notes |= note::foreign_pid;
  CHECK(count_processes(make_started(1), foreign) == 2);
  CHECK(count_processes(foreign, foreign) == 1);
  const auto make_exited = [](std::uint64_t accounted_since) {
    auto row = make_nameless(7, name_status::exited);
    row.usage.start_unix_ns = accounted_since;
    return row;
  };
  CHECK(count_processes(make_exited(1), make_exited(2)) == 1);
  CHECK(count_processes(make_row(0, 0), make_row(0, 0)) == 2);  // without a pid
  CHECK(count_processes(make_nameless(0, name_status::kernel),
                        make_nameless(0, name_status::kernel)) == 1);
}

TEST_CASE("memory shared by several processes counts once and makes the sum a lower bound") {
  const auto make_holder = [](std::uint32_t pid, std::uint64_t used, std::uint64_t shared,
                              std::uint32_t device = 0) {
    auto row = make_row(pid, used);
    row.usage.shared_bytes = shared;
    row.usage.device_index = device;
    row.usage.accounting = accounting_kind::resident;
    return row;
  };
  CHECK(format_count_sentence(
            {make_holder(1, 64 * mib, 64 * mib), make_holder(2, 64 * mib, 64 * mib)}, {}) ==
        "2 GPU processes found (at least 64 MiB resident total).");
  CHECK(format_count_sentence(
            {make_holder(1, 64 * mib, 64 * mib), make_holder(2, 80 * mib, 68 * mib)}, {}) ==
        "2 GPU processes found (at least 80 MiB resident total).");
  // Memory that a single process shares counts once; memory of two devices adds up.
  CHECK(format_count_sentence({make_holder(1, 64 * mib, 64 * mib), make_holder(2, 16 * mib, 0)},
                              {}) == "2 GPU processes found (80 MiB resident total).");
  CHECK(format_count_sentence(
            {make_holder(1, 64 * mib, 64 * mib), make_holder(1, 64 * mib, 64 * mib, 1)}, {}) ==
        "1 GPU process found (128 MiB resident total).");
  auto partial = make_holder(1, 64 * mib, 0);
  partial.usage.notes = note::lower_bound;
  CHECK(format_count_sentence({partial}, {}) ==
        "1 GPU process found (at least 64 MiB resident total).");
}
