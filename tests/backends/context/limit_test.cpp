// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: what a control group allows of a device's memory is the pool's budget, whoever lists the
// device, in direct readings and in snapshots.
#include <doctest/doctest.h>

#include "machine.hpp"

namespace {

constexpr std::uint64_t mib = 1 << 20;

void limit_group(const machine& m, bool with_group = true) {
  auto error = sized<hmn_error>();
  m.tree().write("proc/self/cgroup", "0::/box\n");
  const std::string most = "drm/0000:01:00.0/vram0 " + std::to_string(512 * mib) + "\n";
  if (with_group) m.tree().write("cgroup/box/dmem.max", most);
  m.tree().write("cgroup/box/dmem.current", "drm/0000:01:00.0/vram0 0\n");
  const std::string proc = m.tree().proc(), groups = m.tree().path("cgroup");
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, proc.c_str(), &error) == HMN_OK);
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_CGROUP, groups.c_str(), &error) == HMN_OK);
}

hmn_pool read_pool(const machine& m) {
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, &pool, &error) == HMN_OK);
  return pool;
}

std::uint32_t state_of_dmem(const machine& m) {
  auto info = sized<hmn_backend_info>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_backend(m.context(), HMN_BACKEND_DMEM, &info, &error) == HMN_OK);
  return info.state;
}

}  // namespace

TEST_CASE("a group's limit is the budget of the device's pool") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m;
  limit_group(m);
  const hmn_pool pool = read_pool(m);
  CHECK((pool.present & HMN_POOL_HAS_BUDGET) != 0);
  CHECK(pool.budget_bytes == 512 * mib);
  CHECK((pool.notes & HMN_NOTE_MIXED) != 0);
  CHECK(pool.backend == HMN_BACKEND_NVML);
  CHECK(state_of_dmem(m) == HMN_STATE_READY);

  const picture seen(m.context(), HMN_COLLECT_POOLS);
  auto listed = sized<hmn_pool>();
  REQUIRE(hmn_snapshot_pool(seen.handle(), 0, &listed) == HMN_OK);
  CHECK(listed.budget_bytes == 512 * mib);
}

TEST_CASE("without the controller there is no budget, and the backend is absent") {
  const fake_nvml nvml;
  nvml.load(one_gpu());
  const machine m;
  limit_group(m, false);
  CHECK((read_pool(m).present & HMN_POOL_HAS_BUDGET) == 0);
  CHECK(state_of_dmem(m) == HMN_STATE_ABSENT);
}
