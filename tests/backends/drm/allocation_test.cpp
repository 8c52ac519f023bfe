// SPDX-License-Identifier: MIT OR Apache-2.0
//
// In the steady state the walk over /proc allocates nothing, and a snapshot no more for a machine
// with more processes. The program's malloc counts, and operator new stands on it.
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

std::vector<machine::descriptor> usual_descriptors() {
  std::vector<machine::descriptor> all;
  for (int fd = 3; fd < 10; ++fd) all.push_back({fd, "/dev/zero", {}});
  return all;
}

// Those of no card are as many as the caller wants, from pid 1000 on.
void fill(machine& m, unsigned clients, unsigned others) {
  m.add_platform("fd500000.gpu", "v3d", {{"renderD128", "/dev/full"}});
  for (unsigned i = 0; i < clients; ++i) {
    auto all = usual_descriptors();
    all.push_back({10, "/dev/full", v3d_client(i + 1)});
    m.add_process(100 + i, all);
  }
  for (unsigned i = 0; i < others; ++i) m.add_process(1000 + i, usual_descriptors());
}

class quiet_reading final : public reading {
 public:
  std::uint64_t deadline_ns() const noexcept override { return ~std::uint64_t{0}; }
  bool wants_trace() const noexcept override { return false; }
  bool wants_diagnostics() const noexcept override { return false; }
  void diagnose(const diagnostic&) override {}
  void opening() noexcept override {}
  void opened() noexcept override {}
};

// The lists of two walks, and what engines did between them, are kept from the third on that is a
// tenth of a second later.
template <class Read>
long allocations_of(int rounds, Read&& read) {
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

TEST_CASE("walks allocate nothing, whichever part of the processes they look through") {
  machine m;
  fill(m, 6, 40);
  drm::card_list cards(m.settings());
  cards.refresh();
  for (const auto how : {drm::extent::rolling, drm::extent::complete}) {
    drm::scanner scanner(m.tree().proc(), rescan_ns, 100);
    drm::client_list found;
    std::uint64_t now = platform::ns_per_second;
    std::uint32_t looked_through = 0;
    const auto walk = [&] {
      const auto seen = scanner.scan(cards, false, now += tenth_ns, ~std::uint64_t{0}, found, how);
      looked_through += seen.processes - seen.remembered;
    };
    CHECK(allocations_of(60, walk) == 0);
    CHECK(found.all().size() == 6);
    CHECK(looked_through > 3 * 46);  // six seconds, and each has its turn every two
  }
}

TEST_CASE("the rows, sums and loads of a card are made without allocations") {
  machine m;
  fill(m, 6, 40);
  plain_reading first;
  REQUIRE(m.devices(first).size() == 1);
  quiet_reading r;
  std::vector<usage> rows;
  rows.reserve(16);
  const auto list = [&] {
    rows.clear();
    static_cast<void>(m.source().prepare(r));
    static_cast<void>(m.source().processes(0, rows, r));
  };
  CHECK(allocations_of(30, list) == 0);
  CHECK(rows.size() == 6);
  pools p;
  const auto sum = [&] {
    p = {};
    static_cast<void>(m.source().prepare(r));
    static_cast<void>(m.source().memory(0, p, r));
  };
  CHECK(allocations_of(30, sum) == 0);
  CHECK(p.find(pool_kind::main) != nullptr);
  usage one;
  const auto ask = [&] {
    static_cast<void>(m.source().prepare(r));
    static_cast<void>(m.source().process(0, 103, false, one, r));
  };
  CHECK(allocations_of(30, ask) == 0);
  CHECK(one.used == 64 * kib);
}

namespace {

// Of one snapshot in the steady state.
long of_a_snapshot(unsigned others) {
  machine m;
  fill(m, 6, others);
  hmn_context_options options = {};
  options.struct_size = sizeof options;
  options.flags = HMN_CONTEXT_NO_THREADS | HMN_CONTEXT_NO_SUBPROCESS;
  options.deadline_ns = HMN_MILLISECONDS(60'000);
  hmn_context* context = nullptr;
  REQUIRE(hmn_context_create(&options, &context, nullptr) == HMN_OK);
  hmn_context_set_path(context, HMN_PATH_PROC, m.tree().proc().c_str(), nullptr);
  hmn_context_set_path(context, HMN_PATH_SYS, m.tree().sys().c_str(), nullptr);
  hmn_context_set_path(context, HMN_PATH_DEV, m.tree().path("dev").c_str(), nullptr);
  hmn_snapshot_options what = {};
  what.struct_size = sizeof what;
  what.collect = HMN_COLLECT_PROCESSES | HMN_COLLECT_POOLS;
  std::uint32_t rows = 0;
  const auto take = [&] {
    hmn_snapshot* taken = nullptr;
    hmn_snapshot_info info = {};
    info.struct_size = sizeof info;
    hmn_snapshot_take(context, &what, &taken, nullptr);
    hmn_snapshot_read(taken, &info, nullptr);
    rows = info.usage_count;
    hmn_snapshot_destroy(taken);
  };
  const long made = allocations_of(10, take);
  CHECK(rows == 6);
  hmn_context_destroy(context);
  return made;
}

}  // namespace

TEST_CASE("a snapshot of more processes makes no more allocations") {
  const long of_few = of_a_snapshot(10);
  CHECK(of_few > 0);  // it is handed to the caller
  // Ten snapshots, and 80 processes more: not one for each, even once.
  CHECK(of_a_snapshot(90) < of_few + 80);
}
