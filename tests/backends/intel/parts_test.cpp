// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>

#include <cstring>

#include "backends/i915/i915.hpp"
#include "backends/shared/intel/chip.hpp"
#include "backends/shared/intel/driver.hpp"
#include "backends/xe/xe.hpp"
#include "fake_tree.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::intel;

namespace {

constexpr std::uint64_t ms = platform::ns_per_ms;
constexpr std::uint64_t second = platform::ns_per_second;

// A count padded to `header` bytes, then the regions.
std::vector<std::byte> make_answer(std::uint32_t count, std::size_t header,
                                   std::initializer_list<RawRegion> regions) {
  std::vector<std::byte> answer(header + regions.size() * sizeof(RawRegion));
  std::memcpy(answer.data(), &count, sizeof count);
  std::size_t offset = header;
  for (const RawRegion& region : regions) {
    std::memcpy(answer.data() + offset, &region, sizeof region);
    offset += sizeof region;
  }
  return answer;
}

RawRegion device_region(std::uint64_t size, std::uint64_t amount, std::uint64_t visible = 0,
                        std::uint64_t visible_amount = 0) {
  RawRegion region;
  region.memory_class = 1;
  region.size = size;
  region.amount = amount;
  region.visible_size = visible;
  region.visible_amount = visible_amount;
  return region;
}

}  // namespace

TEST_CASE("power is the difference of two energy readings divided by their distance") {
  EnergyMeter meter;
  CHECK_FALSE(meter.read(1'000'000, second, 0));
  CHECK_FALSE(meter.read(1'100'000, second + 5 * ms, 0));  // too near
  const auto first = meter.read(3'100'000, second + 205 * ms, 0);
  REQUIRE(first);
  CHECK(first->watts == doctest::Approx(10));  // 2 J in 200 ms
  CHECK(first->window_ns == 200 * ms);
  CHECK_FALSE(meter.read(3'100'000, 100 * second, 0));  // the previous reading is too old
  const auto later = meter.read(4'100'000, 101 * second, 0);
  REQUIRE(later);
  CHECK(later->watts == doctest::Approx(1));
}

TEST_CASE("power across a suspend of the machine is absent") {
  constexpr std::uint64_t hours = 8 * 3600 * second;
  EnergyMeter meter;
  CHECK_FALSE(meter.read(1'000'000, second, 0));
  CHECK(meter.read(2'000'000, 2 * second, 9 * ms));
  CHECK_FALSE(meter.read(3'000'000, 3 * second, hours));
  const auto awake = meter.read(4'000'000, 4 * second, hours);
  REQUIRE(awake);
  CHECK(awake->watts == doctest::Approx(1));
  CHECK(awake->window_ns == second);
}

TEST_CASE("an energy counter that goes back yields no power and becomes the new start") {
  EnergyMeter meter;
  CHECK_FALSE(meter.read(5'000'000, second, 0));
  CHECK(meter.read(6'000'000, 2 * second, 0));
  CHECK_FALSE(meter.read(100, 3 * second, 0));
  const auto again = meter.read(2'000'100, 4 * second, 0);
  REQUIRE(again);
  CHECK(again->watts == doctest::Approx(2));
  CHECK_FALSE(meter.read(3'000'000, second, 0));  // a clock that goes back likewise
}

TEST_CASE("frequent readings do not lengthen the window") {
  EnergyMeter meter;
  std::uint64_t longest_window_ns = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto power = meter.read(1'000'000 + i * 20'000, second + i * 20 * ms, 0);
    if (i < 2) continue;
    REQUIRE(power);
    CHECK(power->watts == doctest::Approx(1));
    longest_window_ns = std::max(longest_window_ns, power->window_ns);
  }
  CHECK(longest_window_ns <= second + 20 * ms);
}

TEST_CASE("files of a sensor chip are recognized by name and label") {
  CHECK(parse_chip_file("temp2_input")->quantity == Quantity::temperature);
  CHECK(parse_chip_file("temp2_input")->number == 2);
  CHECK(parse_chip_file("power1_max")->quantity == Quantity::limit);
  CHECK(parse_chip_file("power1_cap")->quantity == Quantity::burst_limit);
  CHECK(parse_chip_file("power1_rated_max")->quantity == Quantity::default_limit);
  CHECK(parse_chip_file("in0_input")->quantity == Quantity::voltage);
  CHECK(parse_chip_file("temp3_emergency")->quantity == Quantity::shutdown);
  for (const char* name :
       {"", "temp_input", "temp2_label", "power1_max_interval", "power1_crit", "curr1_crit",
        "temp3_crit", "tempx_input", "temp99999999999_input", "in_input"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_chip_file(name));
  }
  CHECK(parse_label(Quantity::temperature, "") == SensorLocation::package);
  CHECK(parse_label(Quantity::shutdown, "") == SensorLocation::package);
  CHECK(parse_label(Quantity::energy, "") == SensorLocation::card);
  CHECK(parse_label(Quantity::temperature, "vram_ch_3") == SensorLocation::memory);
  CHECK(parse_label(Quantity::temperature, "pcie") == SensorLocation::other);
}

TEST_CASE("throttle reasons are recognized by name") {
  for (const char* reason : {"thermal", "soc_thermal", "mem_thermal", "vr_thermal", "vr_thermalert",
                             "soc_avg_thermal", "ratl"}) {
    CHECK(convert_throttle_reason(reason) == throttle::thermal);
  }
  for (const char* reason : {"pl1", "pl2", "pl4", "vr_tdc", "iccmax", "fastvmode", "psys_pl1",
                             "psys_pl2", "psys_crit"}) {
    CHECK(convert_throttle_reason(reason) == throttle::power);
  }
  CHECK(convert_throttle_reason("prochot") == throttle::hardware);
  CHECK(convert_throttle_reason("p0_freq") == throttle::other);
  CHECK(convert_throttle_reason("") == throttle::other);
}

TEST_CASE("the link of a card behind its own switch is that of the switch") {
  const hmn_fake::Tree tree;
  const std::string upper = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
  const std::string card = upper + "/0000:02:01.0/0000:03:00.0";
  const auto write = [&](const std::string& folder, const char* speed, const char* width) {
    tree.write(folder + "/current_link_speed", speed);
    tree.write(folder + "/current_link_width", width);
  };
  write(card, "2.5 GT/s PCIe\n", "1\n");
  write(upper, "16.0 GT/s PCIe\n", "8\n");
  tree.write(upper + "/vendor", "0x8086\n");
  tree.write(upper + "/class", "0x060400\n");
  CHECK(find_link_folder(tree.path(card)) == tree.path(upper));
  tree.write(upper + "/vendor", "0x10b5\n");  // another vendor's switch
  CHECK(find_link_folder(tree.path(card)) == std::string());
  tree.write(upper + "/vendor", "0x8086\n");
  tree.write(upper + "/class", "0x040300\n");
  CHECK(find_link_folder(tree.path(card)) == std::string());
  tree.write(upper + "/class", "0x060400\n");
  write(card, "8.0 GT/s PCIe\n", "16\n");  // a card that reports its own link
  CHECK(find_link_folder(tree.path(card)) == tree.path(card));
  const std::string root_bus_card = "sys/devices/pci0000:00/0000:00:02.0";
  write(root_bus_card, "2.5 GT/s PCIe\n", "1\n");
  CHECK(find_link_folder(tree.path(root_bus_card)) == std::string());
}

TEST_CASE("i915: a size that the kernel does not report is unknown") {
  const std::uint64_t unknown = ~std::uint64_t{0};
  auto regions = i915::parse_regions(make_answer(1, 16, {device_region(unknown, unknown)}));
  REQUIRE(regions);
  CHECK(regions->device.region_count == 1);
  CHECK_FALSE(regions->device.total);
  CHECK_FALSE(regions->device.used);
  // One tile that is not reported makes the sum unknown.
  regions = i915::parse_regions(
      make_answer(2, 16, {device_region(100, 40), device_region(100, unknown)}));
  CHECK(regions->device.total == 200u);
  CHECK_FALSE(regions->device.used);
  regions = i915::parse_regions(make_answer(1, 16, {device_region(100, 40, 50, 60)}));
  CHECK(regions->device.used == 60u);
  CHECK(regions->device.visible == 50u);
  CHECK_FALSE(regions->device.visible_used);
  regions = i915::parse_regions(make_answer(1, 16, {device_region(100, 40, 150, 60)}));
  CHECK_FALSE(regions->device.visible);
  CHECK_FALSE(i915::parse_regions(make_answer(0, 16, {})));
  CHECK_FALSE(i915::parse_regions({}));
  CHECK_FALSE(i915::parse_regions(make_answer(2, 16, {device_region(100, 40)})));
}

TEST_CASE("xe: an implausible value is unknown") {
  auto regions = xe::parse_regions(make_answer(1, 8, {device_region(100, 140, 50, 60)}));
  REQUIRE(regions);
  CHECK(regions->device.total == 100u);
  CHECK_FALSE(regions->device.used);
  CHECK(regions->device.visible == 50u);
  CHECK_FALSE(regions->device.visible_used);
  const std::uint64_t huge_size = ~std::uint64_t{0} - 1;
  regions = xe::parse_regions(
      make_answer(2, 8, {device_region(huge_size, 1), device_region(huge_size, 1)}));
  CHECK_FALSE(regions->device.total);
  CHECK(regions->device.used == 2u);
  RawRegion unknown_region = device_region(100, 1);
  unknown_region.memory_class = 9;
  regions = xe::parse_regions(make_answer(1, 8, {unknown_region}));
  CHECK(regions->device.region_count == 0);
  CHECK(regions->system.region_count == 0);
  CHECK_FALSE(xe::parse_regions(make_answer(0xFFFFFFFF, 8, {device_region(100, 40)})));
}
