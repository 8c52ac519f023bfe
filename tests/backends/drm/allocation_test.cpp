// SPDX-License-Identifier: MIT OR Apache-2.0
//
// In the steady state a walk over /proc does not allocate, and a snapshot of a machine with more
// processes does not allocate more often. Counted in the program's malloc, which new calls.
#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <chrono>
#include <thread>

#include "machine.hpp"
#include "platform/clock.hpp"

extern "C" {
#include "abi/support/allocator.h"
}

using namespace hmn;
using namespace drm_test;

namespace {

constexpr std::uint64_t rescan_ns = 2 * platform::ns_per_second;
constexpr std::uint64_t tenth_ns = platform::ns_per_second / 10;

std::string v3d_client(unsigned client) {
  return "drm-driver:\tv3d\ndrm-client-id:\t" + std::to_string(client) + "\ndrm-engine-render:\t" +
         std::to_string(client * 1000) + " ns\ndrm-resident-memory:\t64 KiB\n";
}

std::vector<Machine::Descriptor> usual_descriptors() {
  std::vector<Machine::Descriptor> descriptors;
  for (int fd = 3; fd < 10; ++fd) descriptors.push_back({fd, "/dev/zero", {}});
  return descriptors;
}

// Processes without a card have PIDs from 1000 on.
void fill(Machine& machine, unsigned clients, unsigned bystanders) {
  machine.add_platform("fd500000.gpu", "v3d", {{"renderD128", "/dev/full"}});
  for (unsigned i = 0; i < clients; ++i) {
    auto descriptors = usual_descriptors();
    descriptors.push_back({10, "/dev/full", v3d_client(i + 1)});
    machine.add_process(100 + i, descriptors);
  }
  for (unsigned i = 0; i < bystanders; ++i) machine.add_process(1000 + i, usual_descriptors());
}

class QuietReading final : public Reading {
 public:
  std::uint64_t deadline_ns() const noexcept override { return ~std::uint64_t{0}; }
  bool wants_trace() const noexcept override { return false; }
  bool wants_diagnostics() const noexcept override { return false; }
  void diagnose(const Diagnostic&) override {}
  void begin_opening() noexcept override {}
  void end_opening() noexcept override {}
};

// From the third walk on, a tenth of a second apart, the lists of two walks and the engine loads
// between them are reused.
template <class Read>
long count_allocations(int rounds, Read&& read) {
  for (int i = 0; i < 5; ++i) {
    read();
    std::this_thread::sleep_for(std::chrono::milliseconds(110));
  }
  const long before = allocator_total();
  for (int i = 0; i < rounds; ++i) read();
  return allocator_total() - before;
}

}  // namespace

TEST_CASE("the library allocates from this program") {
  const long before = allocator_total();
  hmn_context* context = nullptr;
  REQUIRE(hmn_context_create(nullptr, &context, nullptr) == HMN_OK);
  CHECK(allocator_total() > before);
  hmn_context_destroy(context);
}

TEST_CASE("a walk does not allocate, whichever part of the processes it inspects") {
  Machine machine;
  fill(machine, 6, 40);
  drm::CardList cards(machine.settings());
  cards.refresh();
  for (const auto extent : {drm::ScanScope::rolling, drm::ScanScope::complete}) {
    drm::Scanner scanner(machine.tree().proc(), rescan_ns, 100);
    drm::ClientList clients;
    std::uint64_t now = platform::ns_per_second;
    std::uint32_t inspected = 0;
    const auto walk = [&] {
      const auto coverage =
          scanner.scan(cards, false, now += tenth_ns, ~std::uint64_t{0}, clients, extent);
      inspected += coverage.processes - coverage.remembered;
    };
    CHECK(count_allocations(60, walk) == 0);
    CHECK(clients.all().size() == 6);
    CHECK(inspected > 3 * 46);  // six seconds, and each has its turn every two
  }
}

TEST_CASE("rows, sums and loads of a card are computed without allocations") {
  Machine machine;
  fill(machine, 6, 40);
  PlainReading first;
  REQUIRE(machine.devices(first).size() == 1);
  QuietReading reading;
  std::vector<Usage> rows;
  rows.reserve(16);
  const auto list = [&] {
    rows.clear();
    static_cast<void>(machine.source().prepare(reading));
    static_cast<void>(machine.source().processes(0, rows, reading));
  };
  CHECK(count_allocations(30, list) == 0);
  CHECK(rows.size() == 6);
  PoolList pools;
  const auto sum = [&] {
    pools = {};
    static_cast<void>(machine.source().prepare(reading));
    static_cast<void>(machine.source().memory(0, pools, reading));
  };
  CHECK(count_allocations(30, sum) == 0);
  CHECK(pools.find(PoolKind::main) != nullptr);
  Usage usage;
  const auto read_one = [&] {
    static_cast<void>(machine.source().prepare(reading));
    static_cast<void>(machine.source().process(0, 103, false, usage, reading));
  };
  CHECK(count_allocations(30, read_one) == 0);
  CHECK(usage.used == 64 * kib);
}

namespace {

// Counts the allocations of snapshots in the steady state.
long count_snapshot_allocations(unsigned bystanders) {
  Machine machine;
  fill(machine, 6, bystanders);
  hmn_context_options options = {};
  options.struct_size = sizeof options;
  options.flags = HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_NO_SUBPROCESS;
  options.deadline_ns = HMN_MILLISECONDS(60'000);
  hmn_context* context = nullptr;
  REQUIRE(hmn_context_create(&options, &context, nullptr) == HMN_OK);
  hmn_context_set_path(context, HMN_PATH_PROC, machine.tree().proc().c_str(), nullptr);
  hmn_context_set_path(context, HMN_PATH_SYS, machine.tree().sys().c_str(), nullptr);
  hmn_context_set_path(context, HMN_PATH_DEV, machine.tree().path("dev").c_str(), nullptr);
  hmn_snapshot_options snapshot_options = {};
  snapshot_options.struct_size = sizeof snapshot_options;
  snapshot_options.collect = HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS;
  std::uint32_t rows = 0;
  const auto take_snapshot = [&] {
    hmn_snapshot* snapshot = nullptr;
    hmn_snapshot_info info = {};
    info.struct_size = sizeof info;
    hmn_snapshot_take(context, &snapshot_options, &snapshot, nullptr);
    hmn_snapshot_read(snapshot, &info, nullptr);
    rows = info.usage_count;
    hmn_snapshot_destroy(snapshot);
  };
  const long allocations = count_allocations(10, take_snapshot);
  CHECK(rows == 6);
  hmn_context_destroy(context);
  return allocations;
}

}  // namespace

TEST_CASE("a snapshot of more processes does not allocate more often") {
  const long few_allocations = count_snapshot_allocations(10);
  CHECK(few_allocations > 0);  // the snapshot is owned by the caller
  // Ten snapshots, and 80 more processes: less than one allocation per process in total.
  CHECK(count_snapshot_allocations(90) < few_allocations + 80);
}
