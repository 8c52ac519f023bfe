// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "machine.hpp"

namespace {

void read_shared_pool(const Machine& machine) {
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  REQUIRE(pool.used_bytes == one_gpu_used);
}

}  // namespace

TEST_CASE("recent readings share one driver call") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  read_shared_pool(machine);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) read_shared_pool(machine);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls);
  auto pool = sized<hmn_pool>();
  usleep(30'000);
  REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.age_ns >= 30'000'000);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
}

// Shared answers have one time, so their ages differ by the time between the two snapshots'
// ends.
TEST_CASE("the ages of all records in a snapshot refer to its end") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "temperature": 45)"));
  const Machine machine({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  constexpr hmn_flags all =
      HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES;
  const Snapshot first(machine.context(), all, patient_ms);
  usleep(10'000);
  const Snapshot second(machine.context(), all, patient_ms);
  const auto end = [](const Snapshot& snapshot) {
    return snapshot.info().monotonic_ns + snapshot.info().duration_ns;
  };
  const std::uint64_t interval_ns = end(second) - end(first);
  CHECK(interval_ns >= 10'000'000);
  const auto age = []<class T>(const Snapshot& snapshot, auto read, std::uint32_t position,
                               T record) {
    REQUIRE(read(snapshot.handle(), position, &record, nullptr) == HMN_OK);
    return record.age_ns;
  };
  const auto check = [&](auto read, std::uint32_t count, auto record) {
    REQUIRE(count > 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      // Ages and snapshots read the clock separately, one after the other.
      const std::uint64_t growth = age(second, read, i, record) - age(first, read, i, record);
      CHECK(growth + 5'000'000 > interval_ns);
      CHECK(growth < interval_ns + 5'000'000);
    }
  };
  check(hmn_snapshot_pool_at, first.info().pool_count, sized<hmn_pool>());
  check(hmn_snapshot_find_telemetry, 1, sized<hmn_telemetry>());
  check(hmn_snapshot_metric_at, first.info().metric_count, sized<hmn_metric>());
  check(hmn_snapshot_usage_at, first.info().usage_count, sized<hmn_usage>());
}

TEST_CASE("a reading older than max_age_ns is not shared") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.max_age_ns = HMN_MILLISECONDS(20)});
  read_shared_pool(machine);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  usleep(30'000);
  read_shared_pool(machine);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 1);
}

TEST_CASE("by default each reading calls the driver") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  read_shared_pool(machine);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) read_shared_pool(machine);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 10);
}

TEST_CASE("only one call is inside the driver, however many threads read") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true}])"));
  const Machine machine({.deadline_ns = HMN_MILLISECONDS(100)});
  const auto ask = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        auto pool = sized<hmn_pool>();
        CHECK(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) ==
              HMN_E_TIMEOUT);
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  REQUIRE(becomes_true([&] {
    ask();
    return nvml.hanging() != 0;
  }));
  ask();
  CHECK(nvml.inside() == 1);
}

namespace {

// Has 32 threads call `read` while a call of the first is inside the driver. Returns how often the
// driver was asked.
unsigned long long calls_for_32(const FakeNvml& nvml, hmn_flags flags,
                                bool (*read)(const Machine& machine)) {
  constexpr const char* call = "nvmlDeviceGetMemoryInfo_v2";
  nvml.load(one_gpu());
  const Machine machine({.flags = flags});
  read_shared_pool(machine);
  nvml.load(
      one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true, "times": 1}])"));
  const auto before = nvml.calls(call);
  std::atomic<int> arrived{0};
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&] {
      ++arrived;
      good += read(machine) ? 1 : 0;
    });
    if (t == 0) REQUIRE(becomes_true([&] { return nvml.hanging() == 1; }));
  }
  REQUIRE(becomes_true([&] { return arrived == 32; }));
  usleep(100'000);
  nvml.release();
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 32);
  return nvml.calls(call) - before;
}

}  // namespace

TEST_CASE("threads that wait for a driver share the call that starts after they arrived") {
  const FakeNvml nvml;
  const auto pool = [](const Machine& machine) {
    auto record = sized<hmn_pool>();
    return hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &record, nullptr) == HMN_OK &&
           record.used_bytes == one_gpu_used && (record.notes & HMN_NOTE_STALE) == 0;
  };
  const auto snapshot = [](const Machine& machine) {
    const Snapshot record(machine.context(), HMN_COLLECT_POOLS);
    return (record.info().notes & HMN_NOTE_PARTIAL) == 0 && record.pools().size() == 1;
  };
  for (const hmn_flags flags : {hmn_flags{0}, hmn_flags{HMN_CONTEXT_NO_THREADS}}) {
    CHECK(calls_for_32(nvml, flags, pool) == 2);
    CHECK(calls_for_32(nvml, flags, snapshot) == 2);
  }
}

TEST_CASE("a snapshot of shared answers keeps its reasons, whatever was read in between") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  const auto reasons = [&] {
    const auto all = Snapshot(machine.context(), HMN_COLLECT_TELEMETRY).diagnostics();
    std::vector<std::uint64_t> fields;
    for (const hmn_diagnostic& diagnostic : all) fields.push_back(diagnostic.field);
    return fields;
  };
  const auto first = reasons();
  REQUIRE(!first.empty());
  read_shared_pool(machine);
  CHECK(reasons() == first);
}

TEST_CASE("eight threads on one context all get their answers") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        auto pool = sized<hmn_pool>();
        auto memory = sized<hmn_process_memory>();
        hmn_snapshot* snapshot = nullptr;
        const bool ok =
            t % 2 == 0
                ? hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) ==
                          HMN_OK &&
                      pool.used_bytes == one_gpu_used
                : hmn_snapshot_take(machine.context(), nullptr, &snapshot, nullptr) == HMN_OK &&
                      hmn_snapshot_memory(snapshot, &memory, nullptr) == HMN_OK &&
                      memory.resident_bytes > 0;
        hmn_snapshot_destroy(snapshot);
        good += ok ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 1600);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("threads that read repeatedly share most calls of a slow driver") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "delay_ms": 10}])"));
  for (const hmn_flags flags : {hmn_flags{0}, hmn_flags{HMN_CONTEXT_NO_THREADS}}) {
    const Machine machine({.flags = flags});
    read_shared_pool(machine);
    const auto before = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          auto pool = sized<hmn_pool>();
          good +=
              hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK &&
                      pool.used_bytes == one_gpu_used
                  ? 1
                  : 0;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(good == 16 * 20);
    CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") - before < 16 * 20 / 4);
  }
}

TEST_CASE("threads that read different subjects are all served within the deadline") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "temperature": 45)"));
  const Machine machine({.flags = HMN_CONTEXT_NO_THREADS, .deadline_ns = HMN_MILLISECONDS(1000)});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, wants_pool = t % 2 == 0] {
      for (int i = 0; i < 500; ++i) {
        auto pool = sized<hmn_pool>();
        auto load = sized<hmn_telemetry>();
        const bool is_here =
            wants_pool ? hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) ==
                                 HMN_OK &&
                             (pool.notes & HMN_NOTE_STALE) == 0
                       : hmn_telemetry_read(machine.context(), 0, 0, &load, nullptr) == HMN_OK &&
                             (load.notes & HMN_NOTE_STALE) == 0;
        good += is_here ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 8 * 500);
}
