// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/registry.hpp"

#include <doctest/doctest.h>

using namespace hmn::metal;

TEST_CASE("sensors are classified by name") {
  CHECK(classify_sensor("GPU MTR Temp Sensor1") == SensorLocation::gpu);
  CHECK(classify_sensor("PMU tdie4") == SensorLocation::chip);
  CHECK(classify_sensor("PMU TP1g") == SensorLocation::chip);
  CHECK(classify_sensor("PMU TP3s") == SensorLocation::chip);
  CHECK(classify_sensor("PMU2 TP3s") == SensorLocation::elsewhere);
  CHECK(classify_sensor("NAND CH0 temp") == SensorLocation::elsewhere);
  CHECK(classify_sensor("gas gauge battery") == SensorLocation::elsewhere);
  CHECK(classify_sensor("PMU tcal") == SensorLocation::elsewhere);
  CHECK(classify_sensor("") == SensorLocation::elsewhere);
}

TEST_CASE("the clusters of the processor are not sensors of the GPU") {
  CHECK(classify_sensor("pACC MTR Temp Sensor2") == SensorLocation::elsewhere);
  CHECK(classify_sensor("eACC MTR Temp Sensor0") == SensorLocation::elsewhere);
}

TEST_CASE("the highest plausible temperature is used") {
  const std::vector<Thermometer> all{{"GPU MTR Temp Sensor1", 41.5},
                                     {"GPU MTR Temp Sensor4", 44.25},
                                     {"GPU MTR Temp Sensor5", -1.85},
                                     {"GPU MTR Temp Sensor6", 150},
                                     {"PMU tdie1", 60}};
  CHECK(find_highest(all, SensorLocation::gpu) == 44.25);
  CHECK(find_highest(all, SensorLocation::chip) == 60.0);
  const std::vector<Thermometer> cold{{"GPU MTR Temp Sensor1", 0}};
  CHECK_FALSE(find_highest(cold, SensorLocation::gpu));
  CHECK_FALSE(find_highest({}, SensorLocation::gpu));
}

TEST_CASE("a card's PCI address is parsed") {
  CHECK(parse_address("1:0:0").view() == "0000:01:00.0");
  CHECK(parse_address("3:0:0(4:4)").view() == "0000:03:00.0");
  CHECK(parse_address("192:31:7").view() == "0000:c0:1f.7");
  CHECK(parse_address("1:40:0").empty());
  CHECK(parse_address("256:0:0").empty());
  CHECK(parse_address("1:0").empty());
  CHECK(parse_address("").empty());
}
