// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The caller's control groups on a fake tree.
#include <doctest/doctest.h>

#include <optional>

#include "host_of.hpp"

using namespace hmn;

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr const char* limited_card = "0000:03:00.0";

std::string line(const char* region, std::uint64_t bytes) {
  return std::string("drm/0000:03:00.0/") + region + " " + std::to_string(bytes) + "\n";
}
std::string limits(std::optional<std::uint64_t> vram) {
  return (vram ? line("vram0", *vram) : "drm/0000:03:00.0/vram0 max\n") +
         "drm/0000:03:00.0/stolen max\n";
}

class Machine {
 public:
  explicit Machine(const std::string& group = "/outer/inner") {
    tree_.write("proc/self/cgroup", "0::" + group + "\n");
    tree_.directory("sys/fs/cgroup" + group);
  }
  void give(const std::string& group, std::optional<std::uint64_t> most,
            std::uint64_t used = 0) const {
    hmn_fake::set_cgroup_v2(tree_, group,
                            {{"dmem.max", limits(most)}, {"dmem.current", line("vram0", used)}});
  }
  [[nodiscard]] std::unique_ptr<HostSource> host() const { return dmem_test::host_of(tree_); }
  [[nodiscard]] Pool limited(const char* address = limited_card,
                             PoolKind kind = PoolKind::vram) const {
    Pools all;
    Pool p;
    p.kind = kind;
    p.total = 8192 * mib;
    all.add(p);
    host()->limit(address, all);
    return all.all().front();
  }
  [[nodiscard]] const hmn_fake::Tree& tree() const { return tree_; }

 private:
  hmn_fake::Tree tree_;
};

}  // namespace

TEST_CASE("a kernel without the controller leaves a pool as it is") {
  const Machine m;
  const Pool p = m.limited();
  CHECK_FALSE(p.budget);
  CHECK_FALSE(p.budget_left);
  CHECK(p.notes == 0);
  const auto host = m.host();
  const auto reported = host->describe_source(Source::dmem);
  REQUIRE(reported);
  CHECK(reported->state == State::absent);
  CHECK(reported->why.code == Status::no_source);
  CHECK_FALSE(host->describe_source(Source::drm));
}

TEST_CASE("the tightest group's limit is the budget, and the fullest has the least left") {
  const Machine m;
  m.give("outer", 4096 * mib, 3000 * mib);
  m.give("outer/inner", 5000 * mib, 1000 * mib);
  const Pool p = m.limited();
  CHECK(p.budget == 4096 * mib);
  CHECK(p.budget_left == 1096 * mib);
  CHECK(p.notes == note::mixed);
  CHECK(p.total == 8192 * mib);
  CHECK(m.host()->describe_source(Source::dmem)->state == State::ready);
}

TEST_CASE("a wider limit can have less left") {
  const Machine m;
  m.give("outer", 4096 * mib, 4000 * mib);
  m.give("outer/inner", 1024 * mib, 24 * mib);
  const Pool p = m.limited();
  CHECK(p.budget == 1024 * mib);
  CHECK(p.budget_left == 96 * mib);
}

TEST_CASE("a group that uses more than it may has nothing left") {
  const Machine m;
  m.give("outer/inner", 100 * mib, 101 * mib);
  CHECK(m.limited().budget_left == 0);
}

TEST_CASE("no limit is no budget") {
  const Machine m;
  m.give("outer", std::nullopt, 1);
  m.give("outer/inner", std::nullopt, 1);
  CHECK_FALSE(m.limited().budget);
}

TEST_CASE("only the device's own pools, by address and kind") {
  const Machine m;
  m.give("outer/inner", 100 * mib, 0);
  CHECK_FALSE(m.limited("0000:04:00.0").budget);
  CHECK_FALSE(m.limited(limited_card, PoolKind::unified).budget);
  CHECK_FALSE(m.limited(limited_card, PoolKind::stolen).budget);
  CHECK(m.limited("00000000:03:00.0").budget == 100 * mib);
}

TEST_CASE("on a hybrid machine the v2 line counts") {
  const Machine m;
  m.give("outer/inner", 100 * mib, 0);
  m.tree().write("proc/self/cgroup", "4:memory:/elsewhere\n0::/outer/inner\n");
  CHECK(m.limited().budget == 100 * mib);
}

TEST_CASE("a file that makes no sense is no limit, nor the lack of one") {
  const Machine m;
  m.give("outer/inner", 100 * mib, 0);
  CHECK(m.limited().notes == note::mixed);
  m.tree().write("sys/fs/cgroup/outer/inner/dmem.current", "drm/0000:03:00.0/vram0 lots\n");
  CHECK(m.limited().budget == 100 * mib);
  CHECK(m.limited().notes == (note::mixed | note::partial));
  m.tree().write("sys/fs/cgroup/outer/inner/dmem.max", "drm/0000:03:00.0/vram0 lots\n");
  CHECK_FALSE(m.limited().budget);
  CHECK(m.limited().notes == note::partial);
}
