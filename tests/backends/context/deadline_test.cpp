// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: one call spends at most its deadline, then gives the last value marked stale, or
// HMN_E_TIMEOUT; while a call is stuck, later ones answer at once.
//
// A worker that the machine keeps from running is late as well, and past the deadline the driver is
// not asked at all: what hangs for certain is waited for.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "machine.hpp"

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr double slack_ms = 20'000;
constexpr const char* hang_in_memory =
    R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true}])";

hmn_status read_pool(hmn_context* context, hmn_pool& pool, hmn_error& error) {
  pool = sized<hmn_pool>();
  error = sized<hmn_error>();
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, 0, 0, &pool, &error);
}

// Whatever the context's own deadline is.
void read_patiently(const Machine& m) {
  const TakenSnapshot p(m.context(), HMN_COLLECT_POOLS, patient_ms);
  REQUIRE(p.info().pool_count == 1);
}

bool gets_stuck(const Machine& m, const FakeNvml& nvml) {
  hmn_pool pool;
  hmn_error error;
  return comes_true([&] {
    read_pool(m.context(), pool, error);
    return nvml.hanging() == 1;
  });
}

}  // namespace

TEST_CASE("a driver that hangs costs the deadline, then nothing; the last value is marked stale") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.deadline_ns = HMN_MILLISECONDS(400), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  hmn_pool pool;
  hmn_error error;
  const std::uint64_t before = now_ns();
  read_patiently(m);

  nvml.load(one_gpu(hang_in_memory));
  hmn_status said = HMN_E_INTERNAL;
  const double spent = milliseconds_of([&] { said = read_pool(m.context(), pool, error); });
  REQUIRE(said == HMN_OK);
  CHECK(spent >= 390);
  CHECK(spent < slack_ms);
  CHECK(pool.used_bytes == one_gpu_used);
  CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(pool.age_ns >= 390 * ms);
  CHECK(pool.age_ns <= now_ns() - before);

  REQUIRE(gets_stuck(m, nvml));
  const double quickest = quickest_of(10, [&] {
    REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  });
  CHECK(quickest < 200);
  CHECK(nvml.hanging() == 1);

  nvml.load(one_gpu());
  CHECK(comes_true([&] {
    nvml.release();
    REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
    return (pool.notes & HMN_NOTE_STALE) == 0;
  }));
}

TEST_CASE("a value that is older than it may be is a timeout, at the deadline and then at once") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.deadline_ns = HMN_MILLISECONDS(400), .stale_ns = HMN_MILLISECONDS(1)});
  hmn_pool pool;
  hmn_error error;
  read_patiently(m);
  usleep(5000);
  nvml.load(one_gpu(hang_in_memory));
  CHECK(read_pool(m.context(), pool, error) == HMN_E_TIMEOUT);
  REQUIRE(gets_stuck(m, nvml));
  const double quickest =
      quickest_of(10, [&] { CHECK(read_pool(m.context(), pool, error) == HMN_E_TIMEOUT); });
  CHECK(quickest < 200);
  CHECK(error.status == HMN_E_TIMEOUT);
  CHECK(error.backend == HMN_BACKEND_NVML);
  CHECK(error.message[0] != '\0');
  CHECK(pool.present == 0);
}

TEST_CASE("a snapshot keeps its deadline, tells the device hung, and has what does not hang") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.stale_ns = HMN_MILLISECONDS(1)});
  read_patiently(m);
  usleep(5000);
  nvml.load(one_gpu(hang_in_memory));
  const TakenSnapshot p(m.context(), 0, 150);  // would never return
  CHECK((p.info().notes & HMN_NOTE_PARTIAL) != 0);
  CHECK(p.info().device_count == 1);
  CHECK(p.device(0).state == HMN_RUN_STATE_HUNG);
  CHECK(std::string(p.device(0).name) == "NVIDIA L40S");
  CHECK(p.info().pool_count == 0);
  auto memory = sized<hmn_process_memory>();
  CHECK(hmn_snapshot_memory(p.handle(), &memory, nullptr) == HMN_OK);
  const auto diagnostics = p.diagnostics();
  CHECK(std::any_of(diagnostics.begin(), diagnostics.end(),
                    [](const auto& d) { return d.status == HMN_E_TIMEOUT; }));
}

TEST_CASE("an opening may take longer than the deadline of a reading") {
  const FakeNvml nvml;
  // One that the machine held up for longer than the deadline shows nothing.
  CHECK(comes_true([&] {
    nvml.settle();
    nvml.reset();
    nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "delay_ms": 600}])"));
    const Machine m({.deadline_ns = HMN_MILLISECONDS(300)});
    hmn_pool pool;
    hmn_error error;
    return read_pool(m.context(), pool, error) == HMN_OK && (pool.notes & HMN_NOTE_STALE) == 0;
  }));
}

TEST_CASE("an opening past its own deadline goes on for later calls") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "hang": true}])"));
  const Machine m(
      {.deadline_ns = HMN_MILLISECONDS(200), .open_deadline_ns = HMN_MILLISECONDS(200)});
  std::uint32_t count = 99;
  auto error = sized<hmn_error>();
  CHECK(comes_true([&] {
    REQUIRE(hmn_device_scan(m.context(), &count, nullptr, &error) == HMN_E_TIMEOUT);
    CHECK(count == 0);
    return std::string(error.message).find("persistence") != std::string::npos;
  }));
  CHECK(comes_true([&] {
    nvml.release();
    return hmn_device_scan(m.context(), &count, nullptr, &error) == HMN_OK;
  }));
  CHECK(count == 1);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("a context is destroyed at once while a driver call hangs") {
  const FakeNvml nvml;
  nvml.load(one_gpu(hang_in_memory));
  Machine m({.deadline_ns = HMN_MILLISECONDS(50)});
  REQUIRE(gets_stuck(m, nvml));
  m.destroy();  // would never return
  CHECK(nvml.inside() == 1);
  nvml.release();
  CHECK(comes_true([&] { return nvml.initialized() == 0; }));
}
