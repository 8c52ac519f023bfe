// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

static_assert(!std::is_copy_constructible_v<hypomnesis::snapshot>);
static_assert(std::is_nothrow_move_constructible_v<hypomnesis::snapshot>);

TEST_CASE("a snapshot outlives its context and is a copy of its moment") {
  std::optional<hypomnesis::context> c(machine("changes.json"));
  const hypomnesis::snapshot before = c->take();
  const hypomnesis::snapshot after = c->take();
  c.reset();
  CHECK(before.own_usage(0)->used_bytes == 100U << 20);
  CHECK(after.own_usage(0)->used_bytes == 600U << 20);
  CHECK(hypomnesis::compare(before, after, 0)->device_bytes == 500 << 20);
}

TEST_CASE("a snapshot may be closed twice, and refuses every call from then on") {
  const hypomnesis::context c = machine("small.json");
  hypomnesis::snapshot s = c.take();
  const hypomnesis::snapshot other = c.take();
  s.close();
  s.close();
  CHECK_FALSE(s.is_open());
  CHECK_THROWS_AS(s.info(), hypomnesis::closed);
  CHECK_THROWS_AS(s.json(), hypomnesis::closed);
  CHECK_THROWS_AS(s.values(), hypomnesis::closed);
  CHECK_THROWS_AS(hypomnesis::compare(s, other, 0), hypomnesis::closed);
  CHECK_THROWS_AS(hypomnesis::delta_line(other, s, 0, "x"), hypomnesis::closed);
}

TEST_CASE("values are everything, each pool under its device") {
  const hypomnesis::snapshot s = machine("unified.json").take(everything);
  const hypomnesis::snapshot_values all = s.values();
  CHECK(all.info.pool_count == 4);
  REQUIRE(all.devices.size() == 2);
  REQUIRE(all.devices[0].pools.size() == 1);
  CHECK(all.devices[0].pools[0].kind == hypomnesis::pool_kind::unified);
  REQUIRE(all.devices[1].pools.size() == 3);
  CHECK(all.devices[1].pools[0].is_main);
  CHECK(all.devices[1].pools[2].kind == hypomnesis::pool_kind::host);
  CHECK(all.system->total_bytes == std::uint64_t{64} << 30);
  CHECK(all.memory == std::nullopt);
  CHECK(all.devices[0].telemetry == std::nullopt);
  CHECK(all.devices[0].own_usage->used_bytes == 0U);
  CHECK(all.diagnostics.size() == all.info.diagnostic_count);
}

TEST_CASE("usages have the names of their processes") {
  const auto usages = machine("processes.json").take(hypomnesis::part::processes).usages();
  REQUIRE(usages.size() == 8);
  CHECK(usages[0].process_name == "caller");
  CHECK(usages[1].process_name == "trainer");
  CHECK(usages[1].kinds == (hypomnesis::usage_kind::graphics | hypomnesis::usage_kind::media));
  CHECK(usages[2].process_name == std::nullopt);
  CHECK(usages[2].name_state == hypomnesis::name_status::exited);
}

TEST_CASE("one device and one process can be asked for") {
  hypomnesis::snapshot_options options;
  options.collect = hypomnesis::part::processes | hypomnesis::part::pools;
  options.device_index = 1;
  options.pid = 4000000200;
  options.deadline = std::chrono::seconds(5);
  const hypomnesis::snapshot s = machine("processes.json").take(options);
  REQUIRE(s.devices().size() == 1);
  CHECK(s.device(0).index == 1);
  REQUIRE(s.usages().size() == 1);
  CHECK(s.usage(0).pid == 4000000200);
  CHECK(s.pools().size() == 1);
}

TEST_CASE("a position past the end is a failure") {
  const hypomnesis::snapshot s = machine("small.json").take();
  CHECK_THROWS_AS(s.device(1), hypomnesis::error);
  CHECK_THROWS_AS(s.pool(UINT32_MAX), hypomnesis::error);
  CHECK_THROWS_AS(s.process_name(0), hypomnesis::error);
}

TEST_CASE("lines and JSON") {
  const hypomnesis::snapshot s = machine("small.json").take();
  CHECK(s.device_line(0) == "  GPU 0: free 12800 MiB / 16384 MiB [Small GPU]\n");
  CHECK(s.device_line(0, hypomnesis::device_format::used) ==
        "  GPU 0: used 3072 MiB [Small GPU]\n");
  CHECK(s.json().find("\"free_bytes\":13421772800") != std::string::npos);
  CHECK(s.json().back() == '}');
  CHECK(hypomnesis::before_after_lines(s, s, 0, "x")->find("[Small GPU]\n") != std::string::npos);
}
