// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include "machine.hpp"

static_assert(!std::is_copy_constructible_v<hypomnesis::snapshot>);
static_assert(std::is_nothrow_move_constructible_v<hypomnesis::snapshot>);

TEST_CASE("a snapshot outlives its context and keeps the values of its time") {
  std::optional<hypomnesis::context> context(open_machine("changes.json"));
  const hypomnesis::snapshot before = context->take();
  const hypomnesis::snapshot after = context->take();
  context.reset();
  CHECK(before.own_usage(0)->used_bytes == 100U << 20);
  CHECK(after.own_usage(0)->used_bytes == 600U << 20);
  CHECK(hypomnesis::compare(before, after, 0)->device_bytes == 500 << 20);
}

TEST_CASE("a snapshot may be closed twice, and every later call throws closed") {
  const hypomnesis::context context = open_machine("small.json");
  hypomnesis::snapshot snapshot = context.take();
  const hypomnesis::snapshot other = context.take();
  snapshot.close();
  snapshot.close();
  CHECK_FALSE(snapshot.is_open());
  CHECK_THROWS_AS(snapshot.info(), hypomnesis::closed);
  CHECK_THROWS_AS(snapshot.json(), hypomnesis::closed);
  CHECK_THROWS_AS(snapshot.values(), hypomnesis::closed);
  CHECK_THROWS_AS(hypomnesis::compare(snapshot, other, 0), hypomnesis::closed);
  CHECK_THROWS_AS(hypomnesis::delta_line(other, snapshot, 0, "x"), hypomnesis::closed);
}

TEST_CASE("values() returns all records, with each pool under its device") {
  const hypomnesis::snapshot snapshot = open_machine("unified.json").take(everything);
  const hypomnesis::snapshot_values values = snapshot.values();
  CHECK(values.info.pool_count == 4);
  REQUIRE(values.devices.size() == 2);
  REQUIRE(values.devices[0].pools.size() == 1);
  CHECK(values.devices[0].pools[0].kind == hypomnesis::pool_kind::unified);
  REQUIRE(values.devices[1].pools.size() == 3);
  CHECK(values.devices[1].pools[0].is_main);
  CHECK(values.devices[1].pools[2].kind == hypomnesis::pool_kind::host);
  CHECK(values.system->total_bytes == std::uint64_t{64} << 30);
  CHECK(values.memory == std::nullopt);
  CHECK(values.devices[0].telemetry == std::nullopt);
  CHECK(values.devices[0].own_usage->used_bytes == 0U);
  CHECK(values.diagnostics.size() == values.info.diagnostic_count);
}

TEST_CASE("usages have the names and states of their processes") {
  const auto usages = open_machine("processes.json").take(hypomnesis::part::processes).usages();
  REQUIRE(usages.size() == 8);
  CHECK(usages[0].process_name == "caller");
  CHECK(usages[1].process_name == "trainer");
  CHECK(usages[1].kinds == (hypomnesis::usage_kind::graphics | hypomnesis::usage_kind::media));
  CHECK(usages[2].process_name == std::nullopt);
  CHECK(usages[2].name_state == hypomnesis::name_status::exited);
}

TEST_CASE("options limit a snapshot to one device and one process") {
  hypomnesis::snapshot_options options;
  options.collect = hypomnesis::part::processes | hypomnesis::part::pools;
  options.device_index = 1;
  options.pid = 4000000200;
  options.deadline = std::chrono::seconds(5);
  const hypomnesis::snapshot snapshot = open_machine("processes.json").take(options);
  REQUIRE(snapshot.devices().size() == 1);
  CHECK(snapshot.device(0).index == 1);
  REQUIRE(snapshot.usages().size() == 1);
  CHECK(snapshot.usage(0).pid == 4000000200);
  CHECK(snapshot.pools().size() == 1);
}

TEST_CASE("a position past the end throws") {
  const hypomnesis::snapshot snapshot = open_machine("small.json").take();
  CHECK_THROWS_AS(snapshot.device(1), hypomnesis::error);
  CHECK_THROWS_AS(snapshot.pool(UINT32_MAX), hypomnesis::error);
  CHECK_THROWS_AS(snapshot.process_name(0), hypomnesis::error);
}

TEST_CASE("a snapshot is formatted as lines and as JSON") {
  const hypomnesis::snapshot snapshot = open_machine("small.json").take();
  CHECK(snapshot.device_line(0) == "  GPU 0: free 12800 MiB / 16384 MiB [Small GPU]\n");
  CHECK(snapshot.device_line(0, hypomnesis::device_format::used) ==
        "  GPU 0: used 3072 MiB [Small GPU]\n");
  CHECK(snapshot.json().find("\"free_bytes\":13421772800") != std::string::npos);
  CHECK(snapshot.json().back() == '}');
  CHECK(hypomnesis::before_after_lines(snapshot, snapshot, 0, "x")->find("[Small GPU]\n") !=
        std::string::npos);
}

TEST_CASE("numbers have names") {
  CHECK(name(hypomnesis::vendor_id::nvidia) == "nvidia");
  CHECK(name(hypomnesis::device_form::discrete) == "discrete");
  CHECK(name(static_cast<hypomnesis::vendor_id>(0x1a03)) == "unknown");
  CHECK(name(hypomnesis::note::stale | hypomnesis::note::partial) == "stale|partial");
  CHECK(name(hypomnesis::note{}).empty());
}

TEST_CASE("devices and processes are those of a snapshot") {
  const hypomnesis::context context = open_machine("processes.json");
  const auto devices = context.devices();
  REQUIRE(devices.size() == 2);
  CHECK(devices[1].device.name == "Second");
  CHECK(devices[1].pools.at(0).used_bytes == std::uint64_t{5} << 30);
  const auto processes = context.processes();
  REQUIRE(processes.size() == 8);
  CHECK(processes.back().device_index == 1);
}
