// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: what a control group allows of a device's memory is the pool's budget, whoever lists the
// device, in direct readings and in snapshots; what each group holds is a metric of the device.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

constexpr std::uint64_t limit_mib = 1 << 20;

void limit_group(const Machine& m, bool with_group = true) {
  auto error = sized<hmn_error>();
  m.tree().write("proc/self/cgroup", "0::/box\n");
  const std::string most = "drm/0000:01:00.0/vram0 " + std::to_string(512 * limit_mib) + "\n";
  if (with_group) m.tree().write("cgroup/box/dmem.max", most);
  m.tree().write("cgroup/box/dmem.current", "drm/0000:01:00.0/vram0 0\n");
  const std::string proc = m.tree().proc(), groups = m.tree().path("cgroup");
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_PROC, proc.c_str(), &error) == HMN_OK);
  REQUIRE(hmn_context_set_path(m.context(), HMN_PATH_CGROUP, groups.c_str(), &error) == HMN_OK);
}

hmn_pool limited_pool(const Machine& m) {
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(m.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_OK);
  return pool;
}

std::uint32_t state_of_dmem(const Machine& m) {
  auto info = sized<hmn_backend_info>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_backend(m.context(), HMN_BACKEND_DMEM, &info, &error) == HMN_OK);
  return info.state;
}

}  // namespace

TEST_CASE("a group's limit is the budget of the device's pool") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  limit_group(m);
  const hmn_pool pool = limited_pool(m);
  CHECK((pool.present & HMN_POOL_HAS_BUDGET) != 0);
  CHECK(pool.budget_bytes == 512 * limit_mib);
  CHECK((pool.notes & HMN_NOTE_MIXED) != 0);
  CHECK(pool.backend == HMN_BACKEND_NVML);
  CHECK(state_of_dmem(m) == HMN_RUN_STATE_READY);

  const TakenSnapshot seen(m.context(), HMN_COLLECT_POOLS);
  auto listed = sized<hmn_pool>();
  REQUIRE(hmn_snapshot_pool_at(seen.handle(), 0, &listed, nullptr) == HMN_OK);
  CHECK(listed.budget_bytes == 512 * limit_mib);
}

TEST_CASE("without the controller there is no budget, and the backend is absent") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  limit_group(m, false);
  CHECK((limited_pool(m).present & HMN_POOL_HAS_BUDGET) == 0);
  CHECK(state_of_dmem(m) == HMN_RUN_STATE_ABSENT);
}

TEST_CASE("what each group holds is a record of the device, with the group's name") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine m;
  limit_group(m);
  const std::string line = "drm/0000:01:00.0/vram0 ";
  m.tree().write("cgroup/cgroup.subtree_control", "dmem\n");
  m.tree().write("cgroup/box/dmem.current", line + std::to_string(5 * limit_mib) + "\n");
  m.tree().write("cgroup/lxc.payload.web/dmem.current",
                 line + std::to_string(7 * limit_mib) + "\ndrm/0000:0f:00.0/vram0 1\n");
  const TakenSnapshot seen(m.context(), HMN_COLLECT_GROUPS);
  struct Reported {
    hmn_fields present;
    std::uint64_t used;
    std::uint64_t limit;
    bool operator==(const Reported&) const = default;
  };
  std::map<std::string, Reported> found;
  for (std::uint32_t i = 0; i < seen.info().group_count; ++i) {
    auto group = sized<hmn_group>();
    REQUIRE(hmn_snapshot_group_at(seen.handle(), i, &group, nullptr) == HMN_OK);
    char name[64] = "";
    CHECK(hmn_snapshot_text_at(seen.handle(), HMN_TEXT_GROUP_NAME, i, name, sizeof name, nullptr,
                               nullptr) == HMN_OK);
    CHECK(group.backend == HMN_BACKEND_DMEM);
    CHECK(group.device_index == 0);
    found[name] = {group.present, group.used_bytes, group.limit_bytes};
  }
  CHECK(found ==
        std::map<std::string, Reported>{
            {"/box", {HMN_GROUP_HAS_USED | HMN_GROUP_HAS_LIMIT, 5 * limit_mib, 512 * limit_mib}},
            {"lxc:web", {HMN_GROUP_HAS_USED, 7 * limit_mib, 0}}});
  CHECK(hmn_snapshot_text_at(seen.handle(), HMN_TEXT_GROUP_NAME, seen.info().group_count, nullptr,
                             0, nullptr, nullptr) == HMN_E_RANGE);
}
