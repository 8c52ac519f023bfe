// SPDX-License-Identifier: MIT OR Apache-2.0
//
// In the steady state memory, the own usage and telemetry are read without allocation.
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
  if (void* const p = std::malloc(size != 0 ? size : 1)) return p;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size != 0 ? size : 1);
}

void operator delete(void* p) noexcept {
  std::free(p);
}

void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

using namespace hmn;

namespace {

template <class Read>
std::uint64_t allocations_of(Machine& m, Read&& read) {
  for (int i = 0; i < 3; ++i) {
    require_ok(m.source().prepare(m.reading));
    require_ok(read());
  }
  // Once a second there is a look at the bus.
  std::uint64_t made = 1;
  for (int tries = 0; tries < 20 && made != 0; ++tries) {
    const std::uint64_t before = allocations.load();
    for (int i = 0; i < 100; ++i) {
      require_ok(m.source().prepare(m.reading));
      require_ok(read());
    }
    made = allocations.load() - before;
  }
  return made;
}

}  // namespace

TEST_CASE("the steady state allocates nothing") {
  Machine m(one_gpu(R"("temperature": 45, "power_usage_mw": 58980, "event_types": 8, "fans": [1, 2],
                       "processes": {"compute": [{"pid": 7, "used": 5},
                                                 {"pid": "self", "used": "1 GiB"}]})"));
  m.devices();
  m.reading.listens = false;
  CHECK(allocations_of(m, [&] {
          Pools p;
          return m.source().memory(0, p, m.reading);
        }) == 0);
  CHECK(allocations_of(m, [&] {
          Usage u;
          return m.source().process(0, static_cast<std::uint32_t>(getpid()), true, u, m.reading);
        }) == 0);
  CHECK(allocations_of(m, [&] {
          hmn::Telemetry t;
          return m.source().telemetry(0, telemetry_field::all, t, m.reading);
        }) == 0);
  std::vector<Metric> numbers;
  CHECK(allocations_of(m, [&] { return m.source().metrics(0, true, numbers, m.reading); }) == 0);
  CHECK(m.driver.calls("nvmlEventSetWait_v2") > 100);
  std::vector<Device> found;
  found.reserve(4);
  CHECK(allocations_of(m, [&] {
          found.clear();
          return m.source().devices(found, m.reading);
        }) == 0);
}

TEST_CASE("a caller that is not listed is told 0 without allocation either") {
  Machine m(one_gpu(R"("processes": {"compute": [{"pid": 7, "used": 5}]})"));
  m.devices();
  CHECK(allocations_of(m, [&] {
          Usage u;
          return m.source().process(0, static_cast<std::uint32_t>(getpid()), true, u, m.reading);
        }) == 0);
}
