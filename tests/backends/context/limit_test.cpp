// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rule: a control group's limit of device memory is the pool's budget, whichever source lists the
// device, in direct readings and in snapshots; the use of each group is a record of the device.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

constexpr std::uint64_t limit_mib = 1 << 20;

void set_group_limit(const Machine& machine, bool has_limit = true) {
  auto error = sized<hmn_error>();
  machine.tree().write("proc/self/cgroup", "0::/box\n");
  const std::string limit = "drm/0000:01:00.0/vram0 " + std::to_string(512 * limit_mib) + "\n";
  if (has_limit) machine.tree().write("cgroup/box/dmem.max", limit);
  machine.tree().write("cgroup/box/dmem.current", "drm/0000:01:00.0/vram0 0\n");
  const std::string proc = machine.tree().proc(), cgroups = machine.tree().path("cgroup");
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_PROC, proc.c_str(), &error) == HMN_OK);
  REQUIRE(hmn_context_set_path(machine.context(), HMN_PATH_CGROUP, cgroups.c_str(), &error) ==
          HMN_OK);
}

hmn_pool read_limited_pool(const Machine& machine) {
  auto pool = sized<hmn_pool>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_pool_read(machine.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, &error) == HMN_OK);
  return pool;
}

std::uint32_t read_dmem_state(const Machine& machine) {
  auto info = sized<hmn_backend_info>();
  auto error = sized<hmn_error>();
  REQUIRE(hmn_context_backend(machine.context(), HMN_BACKEND_DMEM, &info, &error) == HMN_OK);
  return info.state;
}

}  // namespace

TEST_CASE("a group's limit is the budget of the device's pool") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  set_group_limit(machine);
  const hmn_pool pool = read_limited_pool(machine);
  CHECK((pool.present & HMN_POOL_HAS_BUDGET) != 0);
  CHECK(pool.budget_bytes == 512 * limit_mib);
  CHECK((pool.notes & HMN_NOTE_MIXED) != 0);
  CHECK(pool.backend == HMN_BACKEND_NVML);
  CHECK(read_dmem_state(machine) == HMN_RUN_STATE_READY);

  const Snapshot snapshot(machine.context(), HMN_COLLECT_POOLS);
  auto listed_pool = sized<hmn_pool>();
  REQUIRE(hmn_snapshot_pool_at(snapshot.handle(), 0, &listed_pool, nullptr) == HMN_OK);
  CHECK(listed_pool.budget_bytes == 512 * limit_mib);
}

TEST_CASE("without the controller there is no budget, and the backend is absent") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  set_group_limit(machine, false);
  CHECK((read_limited_pool(machine).present & HMN_POOL_HAS_BUDGET) == 0);
  CHECK(read_dmem_state(machine) == HMN_RUN_STATE_ABSENT);
}

TEST_CASE("each group's use is a record of the device, with the group's name") {
  const FakeNvml nvml;
  nvml.load(one_gpu());
  const Machine machine;
  set_group_limit(machine);
  const std::string line = "drm/0000:01:00.0/vram0 ";
  machine.tree().write("cgroup/cgroup.subtree_control", "dmem\n");
  machine.tree().write("cgroup/box/dmem.current", line + std::to_string(5 * limit_mib) + "\n");
  machine.tree().write("cgroup/lxc.payload.web/dmem.current",
                       line + std::to_string(7 * limit_mib) + "\ndrm/0000:0f:00.0/vram0 1\n");
  const Snapshot snapshot(machine.context(), HMN_COLLECT_GROUPS);
  struct GroupValues {
    hmn_fields present;
    std::uint64_t used;
    std::uint64_t limit;
    bool operator==(const GroupValues&) const = default;
  };
  std::map<std::string, GroupValues> groups;
  for (std::uint32_t i = 0; i < snapshot.info().group_count; ++i) {
    auto group = sized<hmn_group>();
    REQUIRE(hmn_snapshot_group_at(snapshot.handle(), i, &group, nullptr) == HMN_OK);
    char name[64] = "";
    CHECK(hmn_snapshot_text_at(snapshot.handle(), HMN_TEXT_GROUP_NAME, i, name, sizeof name,
                               nullptr, nullptr) == HMN_OK);
    CHECK(group.backend == HMN_BACKEND_DMEM);
    CHECK(group.device_index == 0);
    groups[name] = {group.present, group.used_bytes, group.limit_bytes};
  }
  CHECK(groups ==
        std::map<std::string, GroupValues>{
            {"/box", {HMN_GROUP_HAS_USED | HMN_GROUP_HAS_LIMIT, 5 * limit_mib, 512 * limit_mib}},
            {"lxc:web", {HMN_GROUP_HAS_USED, 7 * limit_mib, 0}}});
  CHECK(hmn_snapshot_text_at(snapshot.handle(), HMN_TEXT_GROUP_NAME, snapshot.info().group_count,
                             nullptr, 0, nullptr, nullptr) == HMN_E_RANGE);
}
