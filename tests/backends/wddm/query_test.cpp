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
constexpr Counter counters[] = {{dedicated}, {local, false}};

FakePdh& reset_fake() {
  FakePdh::reset();
  FakePdh::instance().counters[dedicated] = {{u"luid_0x0_0xA_phys_0", 100}};
  return FakePdh::instance();
}

}  // namespace

TEST_CASE("a query is opened once and collected at each reading") {
  FakePdh& fake = reset_fake();
  {
    Query query(counters, format_whole);
    std::vector<Row> rows;
    for (int i = 0; i < 3; ++i) {
      fake.counters[dedicated][0].whole = 100 + i;
      REQUIRE(query.collect(FakePdh::functions()));
      REQUIRE(query.read(0, rows));
      REQUIRE(rows.size() == 1);
      CHECK(rows[0].whole == 100 + i);
      CHECK(rows[0].is_valid);
    }
    CHECK(query.collections() == 3);
    CHECK(fake.opened == 1);
    CHECK(fake.closed == 0);
  }
  CHECK(fake.closed == 1);
}

TEST_CASE("a missing optional counter has no rows, and a missing required one fails the query") {
  FakePdh& fake = reset_fake();
  Query query(counters, format_whole);
  REQUIRE(query.collect(FakePdh::functions()));
  CHECK(query.has(0));
  CHECK(!query.has(1));
  std::vector<Row> rows{{}};
  CHECK(query.read(1, rows));
  CHECK(rows.empty());
  fake.counters.clear();
  for (const Code missing : {no_object, no_counter}) {
    fake.missing_answer = missing;
    Query none(counters, format_whole);
    const int closed = fake.closed;
    const auto refused = none.collect(FakePdh::functions());
    REQUIRE(!refused);
    CHECK(refused.failure().code == Status::no_source);
    CHECK(refused.failure().native.domain == NativeDomain::pdh);
    CHECK(refused.failure().native.code == static_cast<std::int32_t>(missing));
    CHECK(fake.closed == closed + 1);
    // Not again in the same second.
    const int opened = fake.opened;
    CHECK(!none.collect(FakePdh::functions()));
    CHECK(fake.opened == opened);
  }
}

TEST_CASE("rows are not read before a counter is added") {
  FakePdh& fake = reset_fake();
  fake.counters.clear();
  Query query(counters, format_whole);
  std::vector<Row> rows;
  CHECK(!query.collect(FakePdh::functions()));
  CHECK(query.read(0, rows));
  CHECK(fake.collected == 0);
  CHECK(fake.read == 0);
}

TEST_CASE("rows added between two calls are all read") {
  FakePdh& fake = reset_fake();
  fake.growths = 3;
  Query query(counters, format_whole);
  std::vector<Row> rows;
  REQUIRE(query.collect(FakePdh::functions()));
  REQUIRE(query.read(0, rows));
  CHECK(rows.size() == fake.counters[dedicated].size());
  CHECK(rows.size() == 8);
}

TEST_CASE("rows that never stop growing are reported as a failure") {
  FakePdh& fake = reset_fake();
  fake.growths = 1000;
  Query query(counters, format_whole);
  std::vector<Row> rows;
  REQUIRE(query.collect(FakePdh::functions()));
  const auto endless = query.read(0, rows);
  REQUIRE(!endless);
  CHECK(endless.failure().code == Status::backend);
  CHECK(rows.empty());
  CHECK(fake.growths > 900);
}

TEST_CASE("a row with an error status is invalid, and the others are kept") {
  FakePdh& fake = reset_fake();
  fake.counters[dedicated] = {{u"luid_0x0_0xA_phys_0", 100, 0, no_instance},
                              {u"luid_0x0_0xB_phys_0", 7, 0, new_data},
                              {u"garbage", 5},
                              {u"luid_0x0_0xC_phys_0\u00e9", 5}};
  Query query(counters, format_whole);
  std::vector<Row> rows;
  REQUIRE(query.collect(FakePdh::functions()));
  REQUIRE(query.read(0, rows));
  REQUIRE(rows.size() == 2);
  CHECK(!rows[0].is_valid);
  CHECK(rows[1].is_valid);
  CHECK(rows[1].whole == 7);
}

TEST_CASE("a query dropped by the system is reopened once per reading") {
  FakePdh& fake = reset_fake();
  Query query(counters, format_whole);
  std::vector<Row> rows;
  REQUIRE(query.collect(FakePdh::functions()));
  fake.collect_answers = {0xC0000BC4};
  REQUIRE(query.collect(FakePdh::functions()));
  REQUIRE(query.read(0, rows));
  CHECK(rows.size() == 1);
  CHECK(fake.opened == 2);
  CHECK(query.collections() == 1);
  fake.collect_answers = {0xC0000BC4, 0xC0000BC4};
  const auto dropped = query.collect(FakePdh::functions());
  REQUIRE(!dropped);
  CHECK(dropped.failure().code == Status::backend);
  CHECK(fake.opened == 3);
  CHECK(query.collect(FakePdh::functions()));
  CHECK(fake.opened == 4);
}

TEST_CASE("counters without an instance have no rows") {
  FakePdh& fake = reset_fake();
  Query query(counters, format_whole);
  std::vector<Row> rows{{}};
  for (const Code none : {no_data, no_instance}) {
    fake.collect_answers = {none};
    REQUIRE(query.collect(FakePdh::functions()));
    REQUIRE(query.read(0, rows));
    CHECK(rows.empty());
  }
  fake.counters[dedicated].clear();
  REQUIRE(query.collect(FakePdh::functions()));
  REQUIRE(query.read(0, rows));
  CHECK(rows.empty());
}

TEST_CASE("a rate that is not available yet is empty, and another failure closes the query") {
  FakePdh& fake = reset_fake();
  Query query(counters, format_real);
  std::vector<Row> rows;
  REQUIRE(query.collect(FakePdh::functions()));
  fake.rows_answer = invalid_data;
  const auto early = query.read(0, rows);
  REQUIRE(!early);
  CHECK(early.failure().code == Status::empty);
  CHECK(fake.closed == 0);
  fake.rows_answer = 0xC0000001;
  const auto broken = query.read(0, rows);
  REQUIRE(!broken);
  CHECK(broken.failure().code == Status::backend);
  CHECK(fake.closed == 1);
}
