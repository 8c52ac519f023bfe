// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "machine.hpp"

namespace {

void share_pool(const machine& m) {
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr) == HMN_OK);
  REQUIRE(pool.used_bytes == one_gpu_used);
}

}  // namespace

TEST_CASE("readings that are young enough share one driver call") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m({.max_age_ms = patient_ms});
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls);
  auto pool = sized<hmn_pool>();
  usleep(30'000);
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.age_ns >= 30'000'000);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
}

// Shared answers are of one time, so their ages differ by what lies between the two snapshots'
// ends.
TEST_CASE("the ages of a snapshot count to its end, in every record") {
  const fake_nvml nvml;
  nvml.load(one_gpu({}, R"(, "temperature": 45)"));
  const machine m({.max_age_ms = patient_ms});
  constexpr hmn_flags all =
      HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES;
  const taken_snapshot first(m.context(), all, patient_ms);
  usleep(10'000);
  const taken_snapshot second(m.context(), all, patient_ms);
  const auto end = [](const taken_snapshot& s) {
    return s.info().monotonic_ns + s.info().duration_ns;
  };
  const std::uint64_t between = end(second) - end(first);
  CHECK(between >= 10'000'000);
  const auto age = []<class T>(const taken_snapshot& s, auto read, std::uint32_t position, T out) {
    REQUIRE(read(s.handle(), position, &out) == HMN_OK);
    return out.age_ns;
  };
  const auto check = [&](auto read, std::uint32_t count, auto out) {
    REQUIRE(count > 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      CHECK(age(second, read, i, out) - age(first, read, i, out) == between);
    }
  };
  check(hmn_snapshot_pool, first.info().pool_count, sized<hmn_pool>());
  check(hmn_snapshot_telemetry, 1, sized<hmn_telemetry>());
  check(hmn_snapshot_metric, first.info().metric_count, sized<hmn_metric>());
  check(hmn_snapshot_usage, first.info().usage_count, sized<hmn_usage>());
}

TEST_CASE("a reading that is too old is not shared") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m({.max_age_ms = 20});
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  usleep(30'000);
  share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 1);
}

TEST_CASE("by default each reading asks the driver") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m;
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 10);
}

TEST_CASE("however many threads ask, one call is inside the driver") {
  const fake_nvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true}])"));
  const machine m({.deadline_ms = 100});
  const auto ask = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        auto pool = sized<hmn_pool>();
        CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr) == HMN_E_TIMEOUT);
      });
    }
    for (std::thread& t : threads) t.join();
  };
  REQUIRE(comes_true([&] {
    ask();
    return nvml.hanging() != 0;
  }));
  ask();
  CHECK(nvml.inside() == 1);
}

TEST_CASE("eight threads on one context all get their answers") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m;
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
                ? hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, &pool, nullptr) == HMN_OK &&
                      pool.used_bytes == one_gpu_used
                : hmn_snapshot_take(m.context(), nullptr, &snapshot, nullptr) == HMN_OK &&
                      hmn_snapshot_memory(snapshot, &memory) == HMN_OK && memory.resident_bytes > 0;
        hmn_snapshot_destroy(snapshot);
        good += ok ? 1 : 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 1600);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}
