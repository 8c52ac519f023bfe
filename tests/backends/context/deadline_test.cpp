// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a call takes at most its deadline, then returns the last value marked stale, or
// HMN_E_TIMEOUT; while a driver call hangs, later calls return at once.
//
// On a busy machine a worker can be late as well, and past the deadline the driver is not
// called at all: the tests wait until a call hangs.
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

// Reads with a long deadline, whatever the context's own is.
void read_patiently(const Machine& machine) {
  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS, patient_ms);
  REQUIRE(snapshot.info().pool_count == 1);
}

bool wait_until_stuck(const Machine& machine, const FakeNvml& nvml) {
  hmn_pool pool;
  hmn_error error;
  return becomes_true([&] {
    read_pool(machine.context(), pool, error);
    return nvml.hanging() == 1;
  });
}

}  // namespace

TEST_CASE("a driver that hangs costs one deadline, and the last value is marked stale") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(400), .stale_ns = HMN_MILLISECONDS(patient_ms)});
  hmn_pool pool;
  hmn_error error;
  const std::uint64_t before = now_ns();
  read_patiently(machine);

  nvml.load(one_gpu(hang_in_memory));
  hmn_status status = HMN_E_INTERNAL;
  const double elapsed_ms = measure_ms([&] { status = read_pool(machine.context(), pool, error); });
  REQUIRE(status == HMN_OK);
  CHECK(elapsed_ms >= 390);
  CHECK(elapsed_ms < slack_ms);
  CHECK(pool.used_bytes == one_gpu_used);
  CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(pool.age_ns >= 390 * ms);
  CHECK(pool.age_ns <= now_ns() - before);

  REQUIRE(wait_until_stuck(machine, nvml));
  const double quickest = measure_fastest_ms(10, [&] {
    REQUIRE(read_pool(machine.context(), pool, error) == HMN_OK);
    CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  });
  CHECK(quickest < 200);
  CHECK(nvml.hanging() == 1);

  nvml.load(one_gpu());
  CHECK(becomes_true([&] {
    nvml.release();
    REQUIRE(read_pool(machine.context(), pool, error) == HMN_OK);
    return (pool.notes & HMN_NOTE_STALE) == 0;
  }));
}

TEST_CASE("a value older than the limit is a timeout, at the deadline and then at once") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(400), .stale_ns = HMN_MILLISECONDS(1)});
  hmn_pool pool;
  hmn_error error;
  read_patiently(machine);
  usleep(5000);
  nvml.load(one_gpu(hang_in_memory));
  CHECK(read_pool(machine.context(), pool, error) == HMN_E_TIMEOUT);
  REQUIRE(wait_until_stuck(machine, nvml));
  const double quickest = measure_fastest_ms(
      10, [&] { CHECK(read_pool(machine.context(), pool, error) == HMN_E_TIMEOUT); });
  CHECK(quickest < 200);
  CHECK(error.status == HMN_E_TIMEOUT);
  CHECK(error.backend == HMN_BACKEND_NVML);
  CHECK(error.message[0] != '\0');
  CHECK(pool.present == 0);
}

TEST_CASE("a snapshot keeps its deadline, lists the device as hung, and has everything else") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.stale_ns = HMN_MILLISECONDS(1)});
  read_patiently(machine);
  usleep(5000);
  nvml.load(one_gpu(hang_in_memory));
  const Snapshot snapshot(machine.context(), 0, 150);  // would never return
  CHECK((snapshot.info().notes & HMN_NOTE_PARTIAL) != 0);
  CHECK(snapshot.info().device_count == 1);
  CHECK(snapshot.device(0).state == HMN_RUN_STATE_HUNG);
  CHECK(std::string(snapshot.device(0).name) == "NVIDIA L40S");
  CHECK(snapshot.info().pool_count == 0);
  auto memory = sized<hmn_process_memory>();
  CHECK(hmn_snapshot_memory(snapshot.handle(), &memory, nullptr) == HMN_OK);
  const auto diagnostics = snapshot.diagnostics();
  CHECK(std::any_of(diagnostics.begin(), diagnostics.end(),
                    [](const auto& diagnostic) { return diagnostic.status == HMN_E_TIMEOUT; }));
}

TEST_CASE("an opening may take longer than the deadline of a reading") {
  const FakeNvml nvml;
  // A run that the machine delays beyond the deadline proves nothing.
  CHECK(becomes_true([&] {
    nvml.settle();
    nvml.reset();
    nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "delay_ms": 600}])"));
    const Machine machine({.deadline_ns = HMN_MILLISECONDS(300)});
    hmn_pool pool;
    hmn_error error;
    return read_pool(machine.context(), pool, error) == HMN_OK &&
           (pool.notes & HMN_NOTE_STALE) == 0;
  }));
}

TEST_CASE("an opening past its own deadline is completed for later calls") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "hang": true}])"));
  const Machine machine(
      {.deadline_ns = HMN_MILLISECONDS(200), .open_deadline_ns = HMN_MILLISECONDS(200)});
  std::uint32_t count = 99;
  auto error = sized<hmn_error>();
  CHECK(becomes_true([&] {
    REQUIRE(hmn_device_scan(machine.context(), &count, nullptr, &error) == HMN_E_TIMEOUT);
    CHECK(count == 0);
    return std::string(error.message).find("persistence") != std::string::npos;
  }));
  CHECK(becomes_true([&] {
    nvml.release();
    return hmn_device_scan(machine.context(), &count, nullptr, &error) == HMN_OK;
  }));
  CHECK(count == 1);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("a context is destroyed at once while a driver call hangs") {
  const FakeNvml nvml;
  nvml.load(one_gpu(hang_in_memory));
  Machine machine({.deadline_ns = HMN_MILLISECONDS(50)});
  REQUIRE(wait_until_stuck(machine, nvml));
  machine.destroy();  // would never return
  CHECK(nvml.inside() == 1);
  nvml.release();
  CHECK(becomes_true([&] { return nvml.initialized() == 0; }));
}
