// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/registry.hpp"

#include <doctest/doctest.h>

using namespace hmn::metal;

TEST_CASE("sensors by their names") {
  CHECK(place_of("GPU MTR Temp Sensor1") == Place::gpu);
  CHECK(place_of("PMU tdie4") == Place::chip);
  CHECK(place_of("PMU TP1g") == Place::chip);
  CHECK(place_of("PMU TP3s") == Place::chip);
  CHECK(place_of("PMU2 TP3s") == Place::elsewhere);
  CHECK(place_of("NAND CH0 temp") == Place::elsewhere);
  CHECK(place_of("gas gauge battery") == Place::elsewhere);
  CHECK(place_of("PMU tcal") == Place::elsewhere);
  CHECK(place_of("") == Place::elsewhere);
}

TEST_CASE("the processors' clusters are not the GPU's") {
  CHECK(place_of("pACC MTR Temp Sensor2") == Place::elsewhere);
  CHECK(place_of("eACC MTR Temp Sensor0") == Place::elsewhere);
}

TEST_CASE("the highest that makes sense") {
  const std::vector<Thermometer> all{{"GPU MTR Temp Sensor1", 41.5},
                                     {"GPU MTR Temp Sensor4", 44.25},
                                     {"GPU MTR Temp Sensor5", -1.85},
                                     {"GPU MTR Temp Sensor6", 150},
                                     {"PMU tdie1", 60}};
  CHECK(highest(all, Place::gpu) == 44.25);
  CHECK(highest(all, Place::chip) == 60.0);
  const std::vector<Thermometer> cold{{"GPU MTR Temp Sensor1", 0}};
  CHECK_FALSE(highest(cold, Place::gpu));
  CHECK_FALSE(highest({}, Place::gpu));
}

TEST_CASE("a card's address") {
  CHECK(address_of("1:0:0").view() == "0000:01:00.0");
  CHECK(address_of("3:0:0(4:4)").view() == "0000:03:00.0");
  CHECK(address_of("192:31:7").view() == "0000:c0:1f.7");
  CHECK(address_of("1:40:0").empty());
  CHECK(address_of("256:0:0").empty());
  CHECK(address_of("1:0").empty());
  CHECK(address_of("").empty());
}
