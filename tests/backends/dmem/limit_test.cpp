// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The caller's control groups on a fake tree.
#include <doctest/doctest.h>

#include <optional>

#include "make_host.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr const char* limited_address = "0000:03:00.0";

std::string format_region(const char* region, std::uint64_t bytes) {
  return std::string("drm/0000:03:00.0/") + region + " " + std::to_string(bytes) + "\n";
}
std::string format_limits(std::optional<std::uint64_t> vram) {
  return (vram ? format_region("vram0", *vram) : "drm/0000:03:00.0/vram0 max\n") +
         "drm/0000:03:00.0/stolen max\n";
}

class Machine {
 public:
  explicit Machine(const std::string& group = "/outer/inner") {
    tree_.write("proc/self/cgroup", "0::" + group + "\n");
    tree_.directory("sys/fs/cgroup" + group);
  }
  void set_limit(const std::string& group, std::optional<std::uint64_t> limit,
                 std::uint64_t used = 0) const {
    hmn_fake::set_cgroup_v2(
        tree_, group,
        {{"dmem.max", format_limits(limit)}, {"dmem.current", format_region("vram0", used)}});
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::make_host(tree_); }
  [[nodiscard]] Pool read_limited_pool(const char* address = limited_address,
                                       PoolKind kind = PoolKind::vram) const {
    PoolList pools;
    Pool pool;
    pool.kind = kind;
    pool.total = 8192 * mib;
    pools.add(pool);
    host()->limit(address, pools);
    return pools.all().front();
  }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  hmn_fake::Tree tree_;
};

}  // namespace

TEST_CASE("a kernel without the controller leaves a pool unchanged") {
  const Machine machine;
  const Pool pool = machine.read_limited_pool();
  CHECK_FALSE(pool.budget);
  CHECK_FALSE(pool.budget_left);
  CHECK(pool.notes == 0);
  const auto host = machine.host();
  const auto state = host->describe_source(Source::dmem);
  REQUIRE(state);
  CHECK(state->state == State::absent);
  CHECK(state->failure.code == Status::no_source);
  CHECK_FALSE(host->describe_source(Source::drm));
}

TEST_CASE("the tightest limit is the budget, and the fullest group sets what is left") {
  const Machine machine;
  machine.set_limit("outer", 4096 * mib, 3000 * mib);
  machine.set_limit("outer/inner", 5000 * mib, 1000 * mib);
  const Pool pool = machine.read_limited_pool();
  CHECK(pool.budget == 4096 * mib);
  CHECK(pool.budget_left == 1096 * mib);
  CHECK(pool.notes == note::mixed);
  CHECK(pool.total == 8192 * mib);
  CHECK(machine.host()->describe_source(Source::dmem)->state == State::ready);
}

TEST_CASE("a group with a wider limit can have less left") {
  const Machine machine;
  machine.set_limit("outer", 4096 * mib, 4000 * mib);
  machine.set_limit("outer/inner", 1024 * mib, 24 * mib);
  const Pool pool = machine.read_limited_pool();
  CHECK(pool.budget == 1024 * mib);
  CHECK(pool.budget_left == 96 * mib);
}

TEST_CASE("a group that uses more than its limit has nothing left") {
  const Machine machine;
  machine.set_limit("outer/inner", 100 * mib, 101 * mib);
  CHECK(machine.read_limited_pool().budget_left == 0);
}

TEST_CASE("without a limit there is no budget") {
  const Machine machine;
  machine.set_limit("outer", std::nullopt, 1);
  machine.set_limit("outer/inner", std::nullopt, 1);
  CHECK_FALSE(machine.read_limited_pool().budget);
}

TEST_CASE("limits apply to pools of the device by address and kind") {
  const Machine machine;
  machine.set_limit("outer/inner", 100 * mib, 0);
  CHECK_FALSE(machine.read_limited_pool("0000:04:00.0").budget);
  CHECK_FALSE(machine.read_limited_pool(limited_address, PoolKind::unified).budget);
  CHECK_FALSE(machine.read_limited_pool(limited_address, PoolKind::stolen).budget);
  CHECK(machine.read_limited_pool("00000000:03:00.0").budget == 100 * mib);
}

TEST_CASE("on a hybrid machine the v2 line counts") {
  const Machine machine;
  machine.set_limit("outer/inner", 100 * mib, 0);
  machine.tree().write("proc/self/cgroup", "4:memory:/elsewhere\n0::/outer/inner\n");
  CHECK(machine.read_limited_pool().budget == 100 * mib);
}

TEST_CASE("a malformed file yields no budget and a partial note") {
  const Machine machine;
  machine.set_limit("outer/inner", 100 * mib, 0);
  CHECK(machine.read_limited_pool().notes == note::mixed);
  machine.tree().write("sys/fs/cgroup/outer/inner/dmem.current", "drm/0000:03:00.0/vram0 lots\n");
  CHECK(machine.read_limited_pool().budget == 100 * mib);
  CHECK(machine.read_limited_pool().notes == (note::mixed | note::partial));
  machine.tree().write("sys/fs/cgroup/outer/inner/dmem.max", "drm/0000:03:00.0/vram0 lots\n");
  CHECK_FALSE(machine.read_limited_pool().budget);
  CHECK(machine.read_limited_pool().notes == note::partial);
}
