// SPDX-License-Identifier: MIT OR Apache-2.0
//
// After the first readings, memory, own use and telemetry are read without allocation.
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "machine.hpp"

namespace {

std::atomic<std::uint64_t> allocations{0};

}  // namespace

void* operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const memory = std::malloc(size != 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size != 0 ? size : 1);
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

using namespace hmn;

namespace {

template <class Read>
std::uint64_t count_allocations(Machine& machine, Read&& read) {
  for (int i = 0; i < 3; ++i) {
    require_ok(machine.source().prepare(machine.reading));
    require_ok(read());
  }
  // The bus is scanned once a second.
  std::uint64_t count = 1;
  for (int tries = 0; tries < 20 && count != 0; ++tries) {
    const std::uint64_t before = allocations.load();
    for (int i = 0; i < 100; ++i) {
      require_ok(machine.source().prepare(machine.reading));
      require_ok(read());
    }
    count = allocations.load() - before;
  }
  return count;
}

}  // namespace

TEST_CASE("steady-state readings allocate nothing") {
  Machine machine(
      one_gpu(R"("temperature": 45, "power_usage_mw": 58980, "event_types": 8, "fans": [1, 2],
                       "processes": {"compute": [{"pid": 7, "used": 5},
                                                 {"pid": "self", "used": "1 GiB"}]})"));
  machine.devices();
  machine.reading.accepts_diagnostics = false;
  CHECK(count_allocations(machine, [&] {
          PoolList pools;
          return machine.source().memory(0, pools, machine.reading);
        }) == 0);
  CHECK(count_allocations(machine, [&] {
          Usage usage;
          return machine.source().process(0, static_cast<std::uint32_t>(getpid()), true, usage,
                                          machine.reading);
        }) == 0);
  CHECK(count_allocations(machine, [&] {
          hmn::Telemetry telemetry;
          return machine.source().telemetry(0, telemetry_field::all, telemetry, machine.reading);
        }) == 0);
  std::vector<Metric> metrics;
  CHECK(count_allocations(machine, [&] {
          return machine.source().metrics(0, true, metrics, machine.reading);
        }) == 0);
  CHECK(machine.driver.calls("nvmlEventSetWait_v2") > 100);
  std::vector<Device> devices;
  devices.reserve(4);
  CHECK(count_allocations(machine, [&] {
          devices.clear();
          return machine.source().devices(devices, machine.reading);
        }) == 0);
}

TEST_CASE("an own use of 0 for an unlisted caller is read without allocation") {
  Machine machine(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 5}]})"));
  machine.devices();
  CHECK(count_allocations(machine, [&] {
          Usage usage;
          return machine.source().process(0, static_cast<std::uint32_t>(getpid()), true, usage,
                                          machine.reading);
        }) == 0);
}
