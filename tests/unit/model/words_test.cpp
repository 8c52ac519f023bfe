// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/words.hpp"

#include <doctest/doctest.h>
#include <hypomnesis.h>

#include <string_view>

using hmn::find_metric_info;
using hmn::instance_name;
using std::string_view;

TEST_CASE("each metric has a name and a unit") {
  REQUIRE(find_metric_info(HMN_METRIC_TEMPERATURE) != nullptr);
  CHECK(string_view(find_metric_info(HMN_METRIC_TEMPERATURE)->name) == "temperature");
  CHECK(string_view(find_metric_info(HMN_METRIC_TEMPERATURE)->unit) == "C");
  REQUIRE(find_metric_info(HMN_METRIC_LINK_TX_BYTES) != nullptr);
  CHECK(string_view(find_metric_info(HMN_METRIC_LINK_TX_BYTES)->name) == "link_tx_bytes");
  CHECK(string_view(find_metric_info(HMN_METRIC_PCIE_REPLAYS)->unit).empty());
}

TEST_CASE("0 and numbers between the groups are not metrics") {
  for (const std::uint32_t id : {0U, 19U, 39U, 59U, 79U, 99U, ~0U}) {
    CAPTURE(id);
    CHECK(find_metric_info(id) == nullptr);
    CHECK(string_view(instance_name(id, 1)).empty());
  }
}

TEST_CASE("instances are named according to their metric") {
  CHECK(string_view(instance_name(HMN_METRIC_TEMPERATURE, HMN_SENSOR_HOTSPOT)) == "hotspot");
  CHECK(string_view(instance_name(HMN_METRIC_ENGINE_PERCENT, HMN_ENGINE_COMPUTE)) == "compute");
  CHECK(string_view(instance_name(HMN_METRIC_ENGINE_PERCENT, HMN_ENGINE_MEMORY)) == "memory");
  CHECK(string_view(instance_name(HMN_METRIC_POWER_LIMIT_WATTS, HMN_POWER_LIMIT_MAX)) == "max");
  CHECK(string_view(instance_name(HMN_METRIC_CLOCK_MHZ, HMN_CLOCK_REQUESTED)) == "requested");
  CHECK(string_view(instance_name(HMN_METRIC_ROWS_REMAPPED, HMN_REMAPPED_FAILED)) == "failed");
  CHECK(string_view(instance_name(HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_THERMAL)) == "thermal");
  CHECK(string_view(instance_name(HMN_METRIC_THROTTLE_NS, HMN_THROTTLE_OTHER)) == "other");
}

TEST_CASE("unknown, counted and whole-device instances have no name") {
  CHECK(string_view(instance_name(HMN_METRIC_TEMPERATURE, HMN_SENSOR_UNKNOWN)).empty());
  CHECK(string_view(instance_name(HMN_METRIC_TEMPERATURE, 99)).empty());
  CHECK(string_view(instance_name(HMN_METRIC_FAN_RPM, 1)).empty());
  CHECK(string_view(instance_name(HMN_METRIC_LINK_RX_BYTES, 3)).empty());
  CHECK(string_view(instance_name(HMN_METRIC_THROTTLE_NS, 0)).empty());
  CHECK(string_view(instance_name(HMN_METRIC_THROTTLE_NS, 3)).empty());
}
