// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

hmn_pool read_vram_pool(const std::string& members) {
  Simulation simulation(make_machine("\"pools\":[{\"kind\":\"vram\"," + members + "}]"));
  const hmn_status status = simulation.read_pool();
  INFO(simulation.error.message);
  REQUIRE(status == HMN_OK);
  return simulation.pool;
}

constexpr hmn_fields sum_fields = HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED;

}  // namespace

TEST_CASE("every value of a pool is reported exactly") {
  const hmn_pool pool = read_vram_pool(
      R"("total":281474976710656,"free":200000000000001,"used":"1.5TiB","reserved":3,
         "usable":0,"budget":"512 B","accounting":"committed","notes":["lower_bound","estimated"])");
  CHECK(pool.present ==
        (sum_fields | HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE | HMN_POOL_HAS_BUDGET));
  CHECK(pool.total_bytes == 281'474'976'710'656U);
  CHECK(pool.free_bytes == 200'000'000'000'001U);
  CHECK(pool.used_bytes == 1536 * gib);
  CHECK(pool.reserved_bytes == 3);
  CHECK(pool.usable_bytes == 0);
  CHECK(pool.budget_bytes == 512);
  CHECK(pool.accounting == HMN_ACCOUNT_COMMITTED);
  CHECK(pool.notes == (HMN_NOTE_LOWER_BOUND | HMN_NOTE_ESTIMATED));
  CHECK(pool.kind == HMN_POOL_VRAM);
  CHECK(pool.is_main == 1);
}

TEST_CASE("values are reported as given in the file") {
  const hmn_pool pool = read_vram_pool(
      R"("total":17179869184,"free":15246684160,"used":1933185024,"reserved":76546048)");
  CHECK(pool.present == (sum_fields | HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE));
  CHECK(pool.total_bytes == 17'179'869'184);
  CHECK(pool.free_bytes == 15'246'684'160);
  CHECK(pool.used_bytes == 1'933'185'024);
  CHECK(pool.reserved_bytes == 76'546'048);
  CHECK(pool.total_bytes - pool.reserved_bytes == 17'103'323'136);
}

TEST_CASE("free and used are derived from each other, and null keeps them unknown") {
  const hmn_pool with_used = read_vram_pool(R"("total":100,"reserved":7,"used":33)");
  CHECK(with_used.free_bytes == 60);
  const hmn_pool with_free = read_vram_pool(R"("total":100,"free":100)");
  CHECK(with_free.present == (sum_fields | HMN_POOL_HAS_USABLE));
  CHECK(with_free.used_bytes == 0);
  CHECK(read_vram_pool(R"("total":100,"used":33,"free":null)").present ==
        (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_USED));
  CHECK(read_vram_pool(R"("total":100)").present == HMN_POOL_HAS_TOTAL);
  CHECK(read_vram_pool(R"("used":33)").present == HMN_POOL_HAS_USED);
  CHECK(read_vram_pool(R"("used":33)").accounting == HMN_ACCOUNT_ALLOCATED);
}

TEST_CASE("pools are listed by kind, with the main one first") {
  Simulation simulation(
      make_machine(R"("pools":[{"kind":"vram","total":1},{"kind":"vram_visible","total":2},
      {"kind":"host","total":3,"main":true},{"kind":"unified","total":4,"usable":4},
      {"kind":"stolen","total":5}])"));
  const SnapshotCopy snapshot(simulation, HMN_COLLECT_POOLS);
  REQUIRE(snapshot.pools.size() == 5);
  CHECK(snapshot.pools[0].kind == HMN_POOL_HOST);
  CHECK(snapshot.pools[0].is_main == 1);
  for (std::size_t i = 1; i < 5; ++i) CHECK(snapshot.pools[i].is_main == 0);
  const struct {
    std::uint32_t kind;
    std::uint64_t total;
  } expected[] = {{HMN_POOL_MAIN, 3},
                  {HMN_POOL_VRAM, 1},
                  {HMN_POOL_VRAM_VISIBLE, 2},
                  {HMN_POOL_UNIFIED, 4},
                  {HMN_POOL_STOLEN, 5}};
  for (const auto& row : expected) {
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(simulation.context(), 0, row.kind, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.total_bytes == row.total);
  }
}

namespace {

constexpr const char* two_parts = R"("pools":[{"kind":"vram","total":"6GiB","used":"1GiB"},
    {"kind":"vram","instance":1,"total":"4GiB","used":"1GiB"},
    {"kind":"vram","instance":2,"total":"2GiB","used":0}])";

}  // namespace

TEST_CASE("simulated: a part of a pool is read by its number") {
  Simulation simulation(make_machine(two_parts));
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(simulation.context(), 0, HMN_POOL_VRAM, 2, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.instance == 2);
  CHECK(pool.kind == HMN_POOL_VRAM);
  CHECK(pool.is_main == 0);
  CHECK(pool.total_bytes == 2 * gib);
  CHECK(pool.usable_bytes == 2 * gib);
  REQUIRE(hmn_pool_read(simulation.context(), 0, HMN_POOL_MAIN, 1, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.total_bytes == 4 * gib);
  REQUIRE(hmn_pool_read(simulation.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.usable_bytes == 5 * gib);
  CHECK(hmn_pool_read(simulation.context(), 0, HMN_POOL_VRAM, 3, 0, &pool, nullptr) ==
        HMN_E_UNSUPPORTED);
}

TEST_CASE("simulated: a snapshot lists the parts of pools on request") {
  Simulation simulation(make_machine(two_parts));
  hmn_snapshot_options options = sized<hmn_snapshot_options>();
  for (const bool has_parts : {false, true}) {
    options.flags = has_parts ? HMN_SNAPSHOT_PARTS : 0;
    hmn_snapshot* snapshot = nullptr;
    REQUIRE(hmn_snapshot_take(simulation.context(), &options, &snapshot, nullptr) == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(snapshot, &info, nullptr) == HMN_OK);
    CHECK(info.pool_count == (has_parts ? 3 : 1));
    auto pool = sized<hmn_pool>();
    const hmn_status part = hmn_snapshot_find_pool(snapshot, 0, HMN_POOL_MAIN, 2, &pool, nullptr);
    CHECK(part == (has_parts ? HMN_OK : HMN_E_EMPTY));
    REQUIRE(hmn_snapshot_pool_at(snapshot, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.instance == 0);
    CHECK(pool.is_main == 1);
    hmn_snapshot_destroy(snapshot);
  }
}

TEST_CASE("a device without pools has none, and no pool of a kind that it lacks") {
  Simulation none(make_machine(""));
  CHECK(none.read_pool() == HMN_E_UNSUPPORTED);
  Simulation vram(make_machine(R"("pools":[{"kind":"vram","total":1}])"));
  auto pool = sized<hmn_pool>();
  CHECK(hmn_pool_read(vram.context(), 0, HMN_POOL_HOST, 0, 0, &pool, nullptr) == HMN_E_UNSUPPORTED);
}

TEST_CASE("a unified pool takes missing values from the described host") {
  Simulation simulation(R"({"host":{"system":{"total":"64GiB","available":"48GiB"}},
                   "devices":[{"pools":[{"kind":"unified","used":"2GiB"}]}]})");
  REQUIRE(simulation.read_pool() == HMN_OK);
  CHECK(simulation.pool.kind == HMN_POOL_UNIFIED);
  CHECK(simulation.pool.total_bytes == 64 * gib);
  CHECK(simulation.pool.usable_bytes == 48 * gib);
  CHECK(simulation.pool.used_bytes == 2 * gib);
}
