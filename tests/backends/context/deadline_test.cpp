// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: one call spends at most its deadline, then gives the last value marked stale, or
// HMN_E_TIMEOUT; while a call is stuck, later ones answer at once.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>

#include "machine.hpp"

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr const char* hang_in_memory =
    R"(, "rules": [{"call": "nvmlDeviceGetMemoryInfo*", "hang": true}])";

hmn_status read_pool(hmn_context* context, hmn_pool& pool, hmn_error& error) {
  pool = sized<hmn_pool>();
  error = sized<hmn_error>();
  return hmn_pool_read(context, 0, HMN_POOL_MAIN, &pool, &error);
}

}  // namespace

TEST_CASE("a driver that hangs costs the deadline, then nothing; the last value is marked stale") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m({.deadline_ms = 200, .stale_ms = 600});
  hmn_pool pool;
  hmn_error error;
  REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
  CHECK(pool.used_bytes == one_gpu_used);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
  const std::uint64_t read_at = now_ns();

  nvml.load(one_gpu(hang_in_memory));
  std::uint64_t begun = now_ns();
  REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
  CHECK(now_ns() - begun >= 190 * ms);
  CHECK(now_ns() - begun < 1000 * ms);
  CHECK(pool.used_bytes == one_gpu_used);
  CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(pool.age_ns >= 190 * ms);
  CHECK(pool.age_ns <= now_ns() - read_at + 200 * ms);
  CHECK(nvml.hanging() == 1);

  begun = now_ns();
  REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
  CHECK(now_ns() - begun < 100 * ms);
  CHECK((pool.notes & HMN_NOTE_STALE) != 0);
  CHECK(nvml.hanging() == 1);

  usleep(700'000);
  begun = now_ns();
  CHECK(read_pool(m.context(), pool, error) == HMN_E_TIMEOUT);
  CHECK(now_ns() - begun < 100 * ms);
  CHECK(error.status == HMN_E_TIMEOUT);
  CHECK(error.backend == HMN_BACKEND_NVML);
  CHECK(error.message[0] != '\0');
  CHECK(pool.present == 0);

  nvml.load(one_gpu());
  nvml.release();
  for (int i = 0; i < 100 && nvml.inside() != 0; ++i) usleep(10'000);
  usleep(20'000);
  REQUIRE(read_pool(m.context(), pool, error) == HMN_OK);
  CHECK((pool.notes & HMN_NOTE_STALE) == 0);
}

TEST_CASE("a snapshot keeps its deadline, tells the device hung, and has what does not hang") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m({.deadline_ms = 5000, .stale_ms = 1});
  { const picture warm(m.context()); }
  nvml.load(one_gpu(hang_in_memory));
  const std::uint64_t begun = now_ns();
  const picture p(m.context(), 0, 150);
  CHECK(now_ns() - begun < 1000 * ms);
  CHECK((p.info().notes & HMN_NOTE_PARTIAL) != 0);
  CHECK(p.info().device_count == 1);
  CHECK(p.device(0).state == HMN_STATE_HUNG);
  CHECK(std::string(p.device(0).name) == "NVIDIA L40S");
  CHECK(p.info().pool_count == 0);
  auto memory = sized<hmn_process_memory>();
  CHECK(hmn_snapshot_memory(p.handle(), &memory) == HMN_OK);
  const auto diagnostics = p.diagnostics();
  CHECK(std::any_of(diagnostics.begin(), diagnostics.end(),
                    [](const auto& d) { return d.status == HMN_E_TIMEOUT; }));
}

TEST_CASE("opening has a deadline of its own, and goes on for later calls") {
  const fake_nvml nvml;
  nvml.load(one_gpu(R"(, "rules": [{"call": "nvmlInit*", "delay_ms": 600}])"));
  SUBCASE("longer than the deadline of a reading") {
    const machine m({.deadline_ms = 100, .open_deadline_ms = 20000});
    hmn_pool pool;
    hmn_error error;
    CHECK(read_pool(m.context(), pool, error) == HMN_OK);
  }
  SUBCASE("past which the opening is left to a later call") {
    const machine m({.deadline_ms = 100, .open_deadline_ms = 150});
    std::uint32_t count = 99;
    auto error = sized<hmn_error>();
    const std::uint64_t begun = now_ns();
    CHECK(hmn_device_count(m.context(), &count, &error) == HMN_E_TIMEOUT);
    CHECK(now_ns() - begun < 500 * ms);
    CHECK(count == 0);
    CHECK(std::string(error.message).find("persistence") != std::string::npos);
    for (int i = 0; i < 200 && nvml.initialized() == 0; ++i) usleep(10'000);
    usleep(50'000);
    CHECK(hmn_device_count(m.context(), &count, &error) == HMN_OK);
    CHECK(count == 1);
    CHECK(nvml.calls("nvmlInitWithFlags") == 1);
  }
}

TEST_CASE("a context is destroyed at once while a driver call hangs") {
  const fake_nvml nvml;
  nvml.load(one_gpu(hang_in_memory));
  machine m({.deadline_ms = 50});
  hmn_pool pool;
  hmn_error error;
  CHECK(read_pool(m.context(), pool, error) == HMN_E_TIMEOUT);
  const std::uint64_t begun = now_ns();
  m.destroy();
  CHECK(now_ns() - begun < 50 * ms);
  CHECK(nvml.inside() == 1);
  nvml.release();
  for (int i = 0; i < 200 && nvml.initialized() != 0; ++i) usleep(10'000);
  CHECK(nvml.initialized() == 0);
}
