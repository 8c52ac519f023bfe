// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "machine.hpp"

namespace {

void share_pool(const Machine& m) {
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  REQUIRE(pool.used_bytes == one_gpu_used);
}

}  // namespace

TEST_CASE("readings that are young enough share one driver call") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls);
  auto pool = sized<hmn_pool>();
  usleep(30'000);
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.age_ns >= 30'000'000);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
}

// Shared answers are of one time, so their ages differ by what lies between the two snapshots'
// ends.
TEST_CASE("the ages of a snapshot count to its end, in every record") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "temperature": 45)"));
  const Machine m({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  constexpr hmn_flags all =
      HMN_COLLECT_POOLS | HMN_COLLECT_TELEMETRY | HMN_COLLECT_METRICS | HMN_COLLECT_PROCESSES;
  const TakenSnapshot first(m.context(), all, patient_ms);
  usleep(10'000);
  const TakenSnapshot second(m.context(), all, patient_ms);
  const auto end = [](const TakenSnapshot& s) {
    return s.info().monotonic_ns + s.info().duration_ns;
  };
  const std::uint64_t between = end(second) - end(first);
  CHECK(between >= 10'000'000);
  const auto age = []<class T>(const TakenSnapshot& s, auto read, std::uint32_t position, T out) {
    REQUIRE(read(s.handle(), position, &out, nullptr) == HMN_OK);
    return out.age_ns;
  };
  const auto check = [&](auto read, std::uint32_t count, auto out) {
    REQUIRE(count > 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      // Ages and snapshots have clocks of their own, which are read one after the other.
      const std::uint64_t growth = age(second, read, i, out) - age(first, read, i, out);
      CHECK(growth + 5'000'000 > between);
      CHECK(growth < between + 5'000'000);
    }
  };
  check(hmn_snapshot_pool_at, first.info().pool_count, sized<hmn_pool>());
  check(hmn_snapshot_find_telemetry, 1, sized<hmn_telemetry>());
  check(hmn_snapshot_metric_at, first.info().metric_count, sized<hmn_metric>());
  check(hmn_snapshot_usage_at, first.info().usage_count, sized<hmn_usage>());
}

TEST_CASE("a reading that is too old is not shared") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.max_age_ns = HMN_MILLISECONDS(20)});
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  usleep(30'000);
  share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 1);
}

TEST_CASE("by default each reading asks the driver") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  share_pool(m);
  const auto calls = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
  for (int i = 0; i < 10; ++i) share_pool(m);
  CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") == calls + 10);
}

TEST_CASE("however many threads ask, one call is inside the driver") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true}])"));
  const Machine m({.deadline_ns = HMN_MILLISECONDS(100)});
  const auto ask = [&] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] {
        auto pool = sized<hmn_pool>();
        CHECK(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_E_TIMEOUT);
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

namespace {

// Has 32 threads call `read` while a call of the first is inside the driver. Returns how often the
// driver was asked.
unsigned long long calls_for_32(const FakeNvml& nvml, hmn_flags flags,
                                bool (*read)(const Machine& m)) {
  constexpr const char* asked = "nvmlDeviceGetMemoryInfo_v2";
  nvml.load(one_gpu());
  const Machine m({.flags = flags});
  share_pool(m);
  nvml.load(
      one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true, "times": 1}])"));
  const auto before = nvml.calls(asked);
  std::atomic<int> arrived{0};
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 32; ++t) {
    threads.emplace_back([&] {
      ++arrived;
      good += read(m) ? 1 : 0;
    });
    if (t == 0) REQUIRE(comes_true([&] { return nvml.hanging() == 1; }));
  }
  REQUIRE(comes_true([&] { return arrived == 32; }));
  usleep(100'000);
  nvml.release();
  for (std::thread& t : threads) t.join();
  CHECK(good == 32);
  return nvml.calls(asked) - before;
}

}  // namespace

TEST_CASE("threads that wait for a driver share the call that begins after they arrived") {
  const FakeNvml nvml;
  const auto pool = [](const Machine& m) {
    auto read = sized<hmn_pool>();
    return hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &read, nullptr) == HMN_OK &&
           read.used_bytes == one_gpu_used && (read.notes & HMN_NOTE_STALE) == 0;
  };
  const auto snapshot = [](const Machine& m) {
    const TakenSnapshot taken(m.context(), HMN_COLLECT_POOLS);
    return (taken.info().notes & HMN_NOTE_PARTIAL) == 0 && taken.pools().size() == 1;
  };
  for (const hmn_flags flags : {hmn_flags{0}, hmn_flags{HMN_CONTEXT_NO_THREADS}}) {
    CHECK(calls_for_32(nvml, flags, pool) == 2);
    CHECK(calls_for_32(nvml, flags, snapshot) == 2);
  }
}

TEST_CASE("a snapshot of shared answers has its reasons, whatever was read in between") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m({.max_age_ns = HMN_MILLISECONDS(patient_ms)});
  const auto reasons = [&] {
    const auto all = TakenSnapshot(m.context(), HMN_COLLECT_TELEMETRY).diagnostics();
    std::vector<std::uint64_t> fields;
    for (const hmn_diagnostic& d : all) fields.push_back(d.field);
    return fields;
  };
  const auto first = reasons();
  REQUIRE(!first.empty());
  share_pool(m);
  CHECK(reasons() == first);
}

TEST_CASE("eight threads on one context all get their answers") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
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
                ? hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK &&
                      pool.used_bytes == one_gpu_used
                : hmn_snapshot_take(m.context(), nullptr, &snapshot, nullptr) == HMN_OK &&
                      hmn_snapshot_memory(snapshot, &memory, nullptr) == HMN_OK &&
                      memory.resident_bytes > 0;
        hmn_snapshot_destroy(snapshot);
        good += ok ? 1 : 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 1600);
  CHECK(nvml.calls("nvmlInitWithFlags") == 1);
}

TEST_CASE("threads that ask again and again share most calls of a slow driver") {
  const FakeNvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "delay_ms": 10}])"));
  for (const hmn_flags flags : {hmn_flags{0}, hmn_flags{HMN_CONTEXT_NO_THREADS}}) {
    const Machine m({.flags = flags});
    share_pool(m);
    const auto before = nvml.calls("nvmlDeviceGetMemoryInfo_v2");
    std::atomic<int> good{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 16; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) {
          auto pool = sized<hmn_pool>();
          good += hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK &&
                          pool.used_bytes == one_gpu_used
                      ? 1
                      : 0;
        }
      });
    }
    for (std::thread& t : threads) t.join();
    CHECK(good == 16 * 20);
    CHECK(nvml.calls("nvmlDeviceGetMemoryInfo_v2") - before < 16 * 20 / 4);
  }
}

TEST_CASE("threads that ask for different things all get their turn in time") {
  const FakeNvml nvml;
  nvml.load(one_gpu({}, R"(, "temperature": 45)"));
  const Machine m({.flags = HMN_CONTEXT_NO_THREADS, .deadline_ns = HMN_MILLISECONDS(1000)});
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, wants_pool = t % 2 == 0] {
      for (int i = 0; i < 500; ++i) {
        auto pool = sized<hmn_pool>();
        auto load = sized<hmn_telemetry>();
        const bool is_here =
            wants_pool
                ? hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK &&
                      (pool.notes & HMN_NOTE_STALE) == 0
                : hmn_telemetry_read(m.context(), 0, 0, &load, nullptr) == HMN_OK &&
                      (load.notes & HMN_NOTE_STALE) == 0;
        good += is_here ? 1 : 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(good == 8 * 500);
}
