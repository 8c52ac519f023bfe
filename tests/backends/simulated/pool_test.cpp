// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <string>

#include "simulation.hpp"

namespace {

hmn_pool pool_of(const std::string& members) {
  Simulation s(one_device("\"pools\":[{\"kind\":\"vram\"," + members + "}]"));
  const hmn_status said = s.read_pool();
  INFO(s.error.message);
  REQUIRE(said == HMN_OK);
  return s.pool;
}

constexpr hmn_fields sum_fields = HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_FREE | HMN_POOL_HAS_USED;

}  // namespace

TEST_CASE("every figure of a pool is told, exactly") {
  const hmn_pool p = pool_of(
      R"("total":281474976710656,"free":200000000000001,"used":"1.5TiB","reserved":3,
         "usable":0,"budget":"512 B","accounting":"committed","notes":["lower_bound","estimated"])");
  CHECK(p.present ==
        (sum_fields | HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE | HMN_POOL_HAS_BUDGET));
  CHECK(p.total_bytes == 281'474'976'710'656U);
  CHECK(p.free_bytes == 200'000'000'000'001U);
  CHECK(p.used_bytes == 1536 * gib);
  CHECK(p.reserved_bytes == 3);
  CHECK(p.usable_bytes == 0);
  CHECK(p.budget_bytes == 512);
  CHECK(p.accounting == HMN_ACCOUNT_COMMITTED);
  CHECK(p.notes == (HMN_NOTE_LOWER_BOUND | HMN_NOTE_ESTIMATED));
  CHECK(p.kind == HMN_POOL_VRAM);
  CHECK(p.is_main == 1);
}

TEST_CASE("figures are told as they were given") {
  const hmn_pool p =
      pool_of(R"("total":17179869184,"free":15246684160,"used":1933185024,"reserved":76546048)");
  CHECK(p.present == (sum_fields | HMN_POOL_HAS_RESERVED | HMN_POOL_HAS_USABLE));
  CHECK(p.total_bytes == 17'179'869'184);
  CHECK(p.free_bytes == 15'246'684'160);
  CHECK(p.used_bytes == 1'933'185'024);
  CHECK(p.reserved_bytes == 76'546'048);
  CHECK(p.total_bytes - p.reserved_bytes == 17'103'323'136);
}

TEST_CASE("free and used follow from each other, null keeps them unknown") {
  const hmn_pool free = pool_of(R"("total":100,"reserved":7,"used":33)");
  CHECK(free.free_bytes == 60);
  const hmn_pool used = pool_of(R"("total":100,"free":100)");
  CHECK(used.present == (sum_fields | HMN_POOL_HAS_USABLE));
  CHECK(used.used_bytes == 0);
  CHECK(pool_of(R"("total":100,"used":33,"free":null)").present ==
        (HMN_POOL_HAS_TOTAL | HMN_POOL_HAS_USED));
  CHECK(pool_of(R"("total":100)").present == HMN_POOL_HAS_TOTAL);
  CHECK(pool_of(R"("used":33)").present == HMN_POOL_HAS_USED);
  CHECK(pool_of(R"("used":33)").accounting == HMN_ACCOUNT_ALLOCATED);
}

TEST_CASE("pools stand by kind, the main one first") {
  Simulation s(one_device(R"("pools":[{"kind":"vram","total":1},{"kind":"vram_visible","total":2},
      {"kind":"host","total":3,"main":true},{"kind":"unified","total":4,"usable":4},
      {"kind":"stolen","total":5}])"));
  const TakenSnapshot p(s, HMN_COLLECT_POOLS);
  REQUIRE(p.pools.size() == 5);
  CHECK(p.pools[0].kind == HMN_POOL_HOST);
  CHECK(p.pools[0].is_main == 1);
  for (std::size_t i = 1; i < 5; ++i) CHECK(p.pools[i].is_main == 0);
  const struct {
    std::uint32_t kind;
    std::uint64_t total;
  } asked[] = {{HMN_POOL_MAIN, 3},
               {HMN_POOL_VRAM, 1},
               {HMN_POOL_VRAM_VISIBLE, 2},
               {HMN_POOL_UNIFIED, 4},
               {HMN_POOL_STOLEN, 5}};
  for (const auto& a : asked) {
    auto pool = sized<hmn_pool>();
    CHECK(hmn_pool_read(s.context(), 0, a.kind, 0, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.total_bytes == a.total);
  }
}

namespace {

constexpr const char* two_parts = R"("pools":[{"kind":"vram","total":"6GiB","used":"1GiB"},
    {"kind":"vram","instance":1,"total":"4GiB","used":"1GiB"},
    {"kind":"vram","instance":2,"total":"2GiB","used":0}])";

}  // namespace

TEST_CASE("simulated: a part of a pool is read by its number") {
  Simulation s(one_device(two_parts));
  auto pool = sized<hmn_pool>();
  REQUIRE(hmn_pool_read(s.context(), 0, HMN_POOL_VRAM, 2, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.instance == 2);
  CHECK(pool.kind == HMN_POOL_VRAM);
  CHECK(pool.is_main == 0);
  CHECK(pool.total_bytes == 2 * gib);
  CHECK(pool.usable_bytes == 2 * gib);
  REQUIRE(hmn_pool_read(s.context(), 0, HMN_POOL_MAIN, 1, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.total_bytes == 4 * gib);
  REQUIRE(hmn_pool_read(s.context(), 0, HMN_POOL_MAIN, 0, 0, &pool, nullptr) == HMN_OK);
  CHECK(pool.usable_bytes == 5 * gib);
  CHECK(hmn_pool_read(s.context(), 0, HMN_POOL_VRAM, 3, 0, &pool, nullptr) == HMN_E_UNSUPPORTED);
}

TEST_CASE("simulated: a snapshot lists the parts of pools on request") {
  Simulation s(one_device(two_parts));
  hmn_snapshot_options options = sized<hmn_snapshot_options>();
  for (const bool with_parts : {false, true}) {
    options.flags = with_parts ? HMN_SNAPSHOT_PARTS : 0;
    hmn_snapshot* taken = nullptr;
    REQUIRE(hmn_snapshot_take(s.context(), &options, &taken, nullptr) == HMN_OK);
    auto info = sized<hmn_snapshot_info>();
    REQUIRE(hmn_snapshot_read(taken, &info, nullptr) == HMN_OK);
    CHECK(info.pool_count == (with_parts ? 3 : 1));
    auto pool = sized<hmn_pool>();
    const hmn_status part = hmn_snapshot_find_pool(taken, 0, HMN_POOL_MAIN, 2, &pool, nullptr);
    CHECK(part == (with_parts ? HMN_OK : HMN_E_EMPTY));
    REQUIRE(hmn_snapshot_pool_at(taken, 0, &pool, nullptr) == HMN_OK);
    CHECK(pool.instance == 0);
    CHECK(pool.is_main == 1);
    hmn_snapshot_destroy(taken);
  }
}

TEST_CASE("a device without pools has none, and no kind that it lacks") {
  Simulation none(one_device(""));
  CHECK(none.read_pool() == HMN_E_UNSUPPORTED);
  Simulation vram(one_device(R"("pools":[{"kind":"vram","total":1}])"));
  auto pool = sized<hmn_pool>();
  CHECK(hmn_pool_read(vram.context(), 0, HMN_POOL_HOST, 0, 0, &pool, nullptr) == HMN_E_UNSUPPORTED);
}

TEST_CASE("a unified pool takes what it lacks from the described host") {
  Simulation s(R"({"host":{"system":{"total":"64GiB","available":"48GiB"}},
                   "devices":[{"pools":[{"kind":"unified","used":"2GiB"}]}]})");
  REQUIRE(s.read_pool() == HMN_OK);
  CHECK(s.pool.kind == HMN_POOL_UNIFIED);
  CHECK(s.pool.total_bytes == 64 * gib);
  CHECK(s.pool.usable_bytes == 48 * gib);
  CHECK(s.pool.used_bytes == 2 * gib);
}
