// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/query.hpp"

#include <doctest/doctest.h>

#include "fake_pdh.hpp"

using namespace hmn;
using namespace hmn::pdh;
using test::FakePdh;

namespace {

constexpr const char16_t* dedicated = u"\\GPU Adapter Memory(*)\\Dedicated Usage";
constexpr const char16_t* local = u"\\GPU Adapter Memory(*)\\Local Usage";
constexpr Counter both[] = {{dedicated}, {local, false}};

FakePdh& fresh() {
  FakePdh::reset();
  FakePdh::now().counters[dedicated] = {{u"luid_0x0_0xA_phys_0", 100}};
  return FakePdh::now();
}

}  // namespace

TEST_CASE("a query is opened once and collected at each reading") {
  FakePdh& f = fresh();
  {
    Query q(both, as_whole);
    std::vector<Row> rows;
    for (int i = 0; i < 3; ++i) {
      f.counters[dedicated][0].whole = 100 + i;
      REQUIRE(q.collect(FakePdh::functions()));
      REQUIRE(q.read(0, rows));
      REQUIRE(rows.size() == 1);
      CHECK(rows[0].whole == 100 + i);
      CHECK(rows[0].is_valid);
    }
    CHECK(q.turns() == 3);
    CHECK(f.opened == 1);
    CHECK(f.closed == 0);
  }
  CHECK(f.closed == 1);
}

TEST_CASE("a counter that older systems lack has no rows; one that is needed ends it") {
  FakePdh& f = fresh();
  Query q(both, as_whole);
  REQUIRE(q.collect(FakePdh::functions()));
  CHECK(q.has(0));
  CHECK(!q.has(1));
  std::vector<Row> rows{{}};
  CHECK(q.read(1, rows));
  CHECK(rows.empty());
  f.counters.clear();
  for (const Code missing : {no_object, no_counter}) {
    f.missing_answer = missing;
    Query none(both, as_whole);
    const int closed = f.closed;
    const auto refused = none.collect(FakePdh::functions());
    REQUIRE(!refused);
    CHECK(refused.why().code == Status::no_source);
    CHECK(refused.why().native.domain == NativeDomain::pdh);
    CHECK(refused.why().native.code == static_cast<std::int32_t>(missing));
    CHECK(f.closed == closed + 1);
    // Not again in the same second.
    const int opened = f.opened;
    CHECK(!none.collect(FakePdh::functions()));
    CHECK(f.opened == opened);
  }
}

TEST_CASE("no function that reads rows is called before a counter was added") {
  FakePdh& f = fresh();
  f.counters.clear();
  Query q(both, as_whole);
  std::vector<Row> rows;
  CHECK(!q.collect(FakePdh::functions()));
  CHECK(q.read(0, rows));
  CHECK(f.collected == 0);
  CHECK(f.read == 0);
}

TEST_CASE("rows that are added between two calls are all read") {
  FakePdh& f = fresh();
  f.growths = 3;
  Query q(both, as_whole);
  std::vector<Row> rows;
  REQUIRE(q.collect(FakePdh::functions()));
  REQUIRE(q.read(0, rows));
  CHECK(rows.size() == f.counters[dedicated].size());
  CHECK(rows.size() == 8);
}

TEST_CASE("rows that never stop growing are given up") {
  FakePdh& f = fresh();
  f.growths = 1000;
  Query q(both, as_whole);
  std::vector<Row> rows;
  REQUIRE(q.collect(FakePdh::functions()));
  const auto endless = q.read(0, rows);
  REQUIRE(!endless);
  CHECK(endless.why().code == Status::backend);
  CHECK(rows.empty());
  CHECK(f.growths > 900);
}

TEST_CASE("a row of its own status is no figure, and voids no other") {
  FakePdh& f = fresh();
  f.counters[dedicated] = {{u"luid_0x0_0xA_phys_0", 100, 0, no_instance},
                           {u"luid_0x0_0xB_phys_0", 7, 0, new_data},
                           {u"garbage", 5},
                           {u"luid_0x0_0xC_phys_0\u00e9", 5}};
  Query q(both, as_whole);
  std::vector<Row> rows;
  REQUIRE(q.collect(FakePdh::functions()));
  REQUIRE(q.read(0, rows));
  REQUIRE(rows.size() == 2);
  CHECK(!rows[0].is_valid);
  CHECK(rows[1].is_valid);
  CHECK(rows[1].whole == 7);
}

TEST_CASE("a query that the system has dropped is opened again, once") {
  FakePdh& f = fresh();
  Query q(both, as_whole);
  std::vector<Row> rows;
  REQUIRE(q.collect(FakePdh::functions()));
  f.collect_answers = {0xC0000BC4};
  REQUIRE(q.collect(FakePdh::functions()));
  REQUIRE(q.read(0, rows));
  CHECK(rows.size() == 1);
  CHECK(f.opened == 2);
  CHECK(q.turns() == 1);
  f.collect_answers = {0xC0000BC4, 0xC0000BC4};
  const auto dropped = q.collect(FakePdh::functions());
  REQUIRE(!dropped);
  CHECK(dropped.why().code == Status::backend);
  CHECK(f.opened == 3);
  CHECK(q.collect(FakePdh::functions()));
  CHECK(f.opened == 4);
}

TEST_CASE("counters without an instance have no rows") {
  FakePdh& f = fresh();
  Query q(both, as_whole);
  std::vector<Row> rows{{}};
  for (const Code none : {no_data, no_instance}) {
    f.collect_answers = {none};
    REQUIRE(q.collect(FakePdh::functions()));
    REQUIRE(q.read(0, rows));
    CHECK(rows.empty());
  }
  f.counters[dedicated].clear();
  REQUIRE(q.collect(FakePdh::functions()));
  REQUIRE(q.read(0, rows));
  CHECK(rows.empty());
}

TEST_CASE("a rate that is not there yet is empty, another failure closes the query") {
  FakePdh& f = fresh();
  Query q(both, as_real);
  std::vector<Row> rows;
  REQUIRE(q.collect(FakePdh::functions()));
  f.rows_answer = invalid_data;
  const auto early = q.read(0, rows);
  REQUIRE(!early);
  CHECK(early.why().code == Status::empty);
  CHECK(f.closed == 0);
  f.rows_answer = 0xC0000001;
  const auto broken = q.read(0, rows);
  REQUIRE(!broken);
  CHECK(broken.why().code == Status::backend);
  CHECK(f.closed == 1);
}
