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

// A count, `header` bytes in all, and regions.
std::vector<std::byte> answer_of(std::uint32_t count, std::size_t header,
                                 std::initializer_list<RawRegion> regions) {
  std::vector<std::byte> out(header + regions.size() * sizeof(RawRegion));
  std::memcpy(out.data(), &count, sizeof count);
  std::size_t at = header;
  for (const RawRegion& r : regions) {
    std::memcpy(out.data() + at, &r, sizeof r);
    at += sizeof r;
  }
  return out;
}

RawRegion device_region(std::uint64_t size, std::uint64_t amount, std::uint64_t visible = 0,
                        std::uint64_t visible_amount = 0) {
  RawRegion r;
  r.memory_class = 1;
  r.size = size;
  r.amount = amount;
  r.visible_size = visible;
  r.visible_amount = visible_amount;
  return r;
}

}  // namespace

TEST_CASE("watts from a counter") {
  EnergyMeter m;
  CHECK_FALSE(m.read(1'000'000, second, 0));
  CHECK_FALSE(m.read(1'100'000, second + 5 * ms, 0));  // too near
  const auto first = m.read(3'100'000, second + 205 * ms, 0);
  REQUIRE(first);
  CHECK(first->watts == doctest::Approx(10));  // 2 J in 200 ms
  CHECK(first->window_ns == 200 * ms);
  CHECK_FALSE(m.read(3'100'000, 100 * second, 0));  // too long ago
  const auto second_one = m.read(4'100'000, 101 * second, 0);
  REQUIRE(second_one);
  CHECK(second_one->watts == doctest::Approx(1));
}

TEST_CASE("watts across a suspend of the machine are absent") {
  constexpr std::uint64_t hours = 8 * 3600 * second;
  EnergyMeter m;
  CHECK_FALSE(m.read(1'000'000, second, 0));
  CHECK(m.read(2'000'000, 2 * second, 9 * ms));
  CHECK_FALSE(m.read(3'000'000, 3 * second, hours));
  const auto awake = m.read(4'000'000, 4 * second, hours);
  REQUIRE(awake);
  CHECK(awake->watts == doctest::Approx(1));
  CHECK(awake->window_ns == second);
}

TEST_CASE("a counter that goes back gives nothing, then starts anew") {
  EnergyMeter m;
  CHECK_FALSE(m.read(5'000'000, second, 0));
  CHECK(m.read(6'000'000, 2 * second, 0));
  CHECK_FALSE(m.read(100, 3 * second, 0));
  const auto again = m.read(2'000'100, 4 * second, 0);
  REQUIRE(again);
  CHECK(again->watts == doctest::Approx(2));
  CHECK_FALSE(m.read(3'000'000, second, 0));  // and so does a clock
}

TEST_CASE("who reads often gets a window that does not grow") {
  EnergyMeter m;
  std::uint64_t longest = 0;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const auto p = m.read(1'000'000 + i * 20'000, second + i * 20 * ms, 0);
    if (i < 2) continue;
    REQUIRE(p);
    CHECK(p->watts == doctest::Approx(1));
    longest = std::max(longest, p->window_ns);
  }
  CHECK(longest <= second + 20 * ms);
}

TEST_CASE("files of a sensor chip") {
  CHECK(parse_chip_file("temp2_input")->what == Quantity::temperature);
  CHECK(parse_chip_file("temp2_input")->number == 2);
  CHECK(parse_chip_file("power1_max")->what == Quantity::limit);
  CHECK(parse_chip_file("power1_cap")->what == Quantity::burst_limit);
  CHECK(parse_chip_file("power1_rated_max")->what == Quantity::usual_limit);
  CHECK(parse_chip_file("in0_input")->what == Quantity::voltage);
  for (const char* other : {"", "temp_input", "temp2_label", "power1_max_interval", "power1_crit",
                            "curr1_crit", "tempx_input", "temp99999999999_input", "in_input"}) {
    CAPTURE(other);
    CHECK_FALSE(parse_chip_file(other));
  }
  CHECK(parse_label(Quantity::temperature, "") == Place::package);
  CHECK(parse_label(Quantity::energy, "") == Place::card);
  CHECK(parse_label(Quantity::temperature, "vram_ch_3") == Place::memory);
  CHECK(parse_label(Quantity::temperature, "pcie") == Place::other);
}

TEST_CASE("throttle reasons by name") {
  for (const char* hot : {"thermal", "soc_thermal", "mem_thermal", "vr_thermal", "vr_thermalert",
                          "soc_avg_thermal", "ratl"}) {
    CHECK(throttle_bit(hot) == throttle::thermal);
  }
  for (const char* power : {"pl1", "pl2", "pl4", "vr_tdc", "iccmax", "fastvmode", "psys_pl1",
                            "psys_pl2", "psys_crit"}) {
    CHECK(throttle_bit(power) == throttle::power);
  }
  CHECK(throttle_bit("prochot") == throttle::hardware);
  CHECK(throttle_bit("p0_freq") == throttle::other);
  CHECK(throttle_bit("") == throttle::other);
}

TEST_CASE("the link of a card behind its own switch is that of the switch") {
  const hmn_fake::Tree t;
  const std::string upper = "sys/devices/pci0000:00/0000:00:01.0/0000:01:00.0";
  const std::string card = upper + "/0000:02:01.0/0000:03:00.0";
  const auto write = [&](const std::string& folder, const char* speed, const char* width) {
    t.write(folder + "/current_link_speed", speed);
    t.write(folder + "/current_link_width", width);
  };
  write(card, "2.5 GT/s PCIe\n", "1\n");
  write(upper, "16.0 GT/s PCIe\n", "8\n");
  t.write(upper + "/vendor", "0x8086\n");
  t.write(upper + "/class", "0x060400\n");
  CHECK(link_folder(t.path(card)) == t.path(upper));
  t.write(upper + "/vendor", "0x10b5\n");  // somebody else's switch
  CHECK(link_folder(t.path(card)) == std::string());
  t.write(upper + "/vendor", "0x8086\n");
  t.write(upper + "/class", "0x040300\n");
  CHECK(link_folder(t.path(card)) == std::string());
  t.write(upper + "/class", "0x060400\n");
  write(card, "8.0 GT/s PCIe\n", "16\n");  // a card that reports its own
  CHECK(link_folder(t.path(card)) == t.path(card));
  const std::string near = "sys/devices/pci0000:00/0000:00:02.0";
  write(near, "2.5 GT/s PCIe\n", "1\n");
  CHECK(link_folder(t.path(near)) == std::string());
}

TEST_CASE("i915: sizes that are not known") {
  const std::uint64_t unknown = ~std::uint64_t{0};
  auto all = i915::parse_regions(answer_of(1, 16, {device_region(unknown, unknown)}));
  REQUIRE(all);
  CHECK(all->device.regions == 1);
  CHECK_FALSE(all->device.total);
  CHECK_FALSE(all->device.used);
  // One tile that is not reported makes the sum unknown.
  all =
      i915::parse_regions(answer_of(2, 16, {device_region(100, 40), device_region(100, unknown)}));
  CHECK(all->device.total == 200u);
  CHECK_FALSE(all->device.used);
  all = i915::parse_regions(answer_of(1, 16, {device_region(100, 40, 50, 60)}));
  CHECK(all->device.used == 60u);
  CHECK(all->device.visible == 50u);
  CHECK_FALSE(all->device.visible_used);
  all = i915::parse_regions(answer_of(1, 16, {device_region(100, 40, 150, 60)}));
  CHECK_FALSE(all->device.visible);
  CHECK_FALSE(i915::parse_regions(answer_of(0, 16, {})));
  CHECK_FALSE(i915::parse_regions({}));
  CHECK_FALSE(i915::parse_regions(answer_of(2, 16, {device_region(100, 40)})));
}

TEST_CASE("xe: figures that cannot be") {
  auto all = xe::parse_regions(answer_of(1, 8, {device_region(100, 140, 50, 60)}));
  REQUIRE(all);
  CHECK(all->device.total == 100u);
  CHECK_FALSE(all->device.used);
  CHECK(all->device.visible == 50u);
  CHECK_FALSE(all->device.visible_used);
  const std::uint64_t most = ~std::uint64_t{0} - 1;
  all = xe::parse_regions(answer_of(2, 8, {device_region(most, 1), device_region(most, 1)}));
  CHECK_FALSE(all->device.total);
  CHECK(all->device.used == 2u);
  RawRegion other = device_region(100, 1);
  other.memory_class = 9;
  all = xe::parse_regions(answer_of(1, 8, {other}));
  CHECK(all->device.regions == 0);
  CHECK(all->system.regions == 0);
  CHECK_FALSE(xe::parse_regions(answer_of(0xFFFFFFFF, 8, {device_region(100, 40)})));
}
