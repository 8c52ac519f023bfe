// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/generic.hpp"

#include <doctest/doctest.h>

#include <cerrno>

#include "backends/drm/sensors.hpp"
#include "backends/shared/sysfs/attribute.hpp"
#include "core/query.hpp"
#include "machine.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace hmn::drm;
using namespace hmn::sysfs;
using namespace drm_test;

TEST_CASE("a value ends at its line or at padding") {
  const hmn_fake::Tree t;
  t.write("sys/a", "  42 \nmore\n");
  t.write("sys/b", std::string("43\0\0\0", 5));
  t.write("sys/c", "");
  t.write("sys/d", "-5\n");
  t.write("sys/e", "0x1f\n");
  CHECK(read_number(t.sys(), "a").value == 42);
  CHECK(read_number(t.sys(), "b").value == 43);
  CHECK(read_number(t.sys(), "c").error == no_number);
  CHECK(read_number(t.sys(), "d").error == no_number);
  CHECK(read_signed(t.sys(), "d").value == -5);
  CHECK(read_hex(t.sys(), "e").value == 31);
  CHECK(read_hex(t.sys(), "a").error == no_number);
  CHECK(read_number(t.sys(), "none").error == ENOENT);
  CHECK(read_number(std::string(5000, 'x'), "none").error == ENOENT);
  CHECK(unreadable(Source::drm, ENOENT, "/f", "x").code == Status::unsupported);
  CHECK(unreadable(Source::drm, EACCES, "/f", "x").code == Status::permission);
  CHECK(unreadable(Source::drm, ENODEV, "/f", "x").code == Status::device_lost);
  CHECK(unreadable(Source::drm, no_number, "/f", "x").code == Status::backend);
  CHECK(unreadable(Source::drm, EIO, "/f", "x").native.code == EIO);
}

TEST_CASE("sensors are found by chip and label, not by number") {
  const hmn_fake::Tree t;
  t.write("sys/hwmon/hwmon3/name", "other\n");
  t.write("sys/hwmon/hwmon7/name", "xe\n");
  t.write("sys/hwmon/hwmon7/temp2_input", "40000\n");
  t.write("sys/hwmon/hwmon7/temp2_label", "pkg\n");
  t.write("sys/hwmon/hwmon7/temp3_input", "41000\n");
  t.write("sys/hwmon/hwmon7/temp3_label", "vram\n");
  t.write("sys/hwmon/hwmon7/temp10_input", "1\n");
  const std::string chip = find_hwmon(t.sys(), "xe");
  CHECK(chip == t.sys() + "/hwmon/hwmon7");
  CHECK(find_hwmon(t.sys(), "i915").empty());
  CHECK_FALSE(find_hwmon(t.sys(), "").empty());
  CHECK(find_input(chip, "temp", "vram") == "temp3");
  CHECK(find_input(chip, "temp", "pkg") == "temp2");
  CHECK(find_input(chip, "temp", "") == "temp10");
  CHECK(find_input(chip, "fan", "").empty());
}

TEST_CASE("the generation of a link") {
  CHECK(generation_of("2.5 GT/s PCIe") == 1u);
  CHECK(generation_of("8.0 GT/s") == 3u);
  CHECK(generation_of("8 GT/s") == 3u);
  CHECK(generation_of("16.0 GT/s PCIe") == 4u);
  CHECK(generation_of("64.0 GT/s PCIe") == 6u);
  for (const char* other : {"", "Unknown", "16.0", "16.0 MT/s", "9.0 GT/s"}) {
    CHECK_FALSE(generation_of(other));
  }
}

TEST_CASE("sensors of nouveau") {
  Machine m;
  hmn_fake::PciDevice d = nouveau();
  d.files = {
      {"hwmon/hwmon2/name", "nouveau\n"},          {"hwmon/hwmon2/temp1_input", "48500\n"},
      {"hwmon/hwmon2/power1_input", "31250000\n"}, {"hwmon/hwmon2/power1_max", "180000000\n"},
      {"hwmon/hwmon2/fan1_input", "1200\n"},       {"hwmon/hwmon2/pwm1", "40\n"},
      {"current_link_speed", "8.0 GT/s PCIe\n"},   {"current_link_width", "16\n"}};
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.from == Source::drm);
  CHECK(t.temperature_celsius == 48.5);
  CHECK(t.power_watts == 31.25);
  CHECK(t.power_limit_watts == 180);
  CHECK(t.fan_percent == 40u);
  CHECK_FALSE(t.fan_rpm);
  const Diagnostic* const slow = r.find("too long");
  REQUIRE(slow != nullptr);
  CHECK(slow->field == telemetry_field::fan_rpm);
  CHECK(t.pcie_generation == 3u);
  CHECK(t.pcie_width == 16u);
  CHECK_FALSE(t.gpu_busy_percent);
  const Diagnostic* const rest = r.find("not reported by the driver");
  REQUIRE(rest != nullptr);
  CHECK(rest->why.code == Status::unsupported);
  CHECK((rest->field & telemetry_field::hotspot_celsius) != 0);
  CHECK((rest->field & telemetry_field::temperature_celsius) == 0);
  Pools p;
  CHECK(m.source().memory(0, p, r).why().code == Status::unsupported);
}

TEST_CASE("sensors that cannot be looked for are not said to be missing") {
  Machine m;
  hmn_fake::PciDevice d = nouveau();
  d.files = {{"hwmon", "no folder\n"}};
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  const auto why = m.source().telemetry(0, telemetry_field::temperature_celsius, t, r).why();
  CHECK(why.code == Status::backend);
  CHECK(mentions(why, "hwmon"));
  std::vector<Metric> all;
  REQUIRE(m.source().metrics(0, false, all, r));
  CHECK(all.empty());
  REQUIRE(r.find("hwmon") != nullptr);
  CHECK(r.find("hwmon")->about == subject::metrics);
}

namespace {

std::optional<double> reported(const std::vector<Metric>& all, MetricId id,
                               std::uint32_t instance) {
  std::optional<double> found;
  for (const Metric& m : all) {
    if (m.id != id || m.instance != instance) continue;
    CHECK_FALSE(found);
    CHECK(m.from == Source::drm);
    found = m.value;
  }
  return found;
}

}  // namespace

TEST_CASE("each sensor of a driver without words of its own is a metric") {
  Machine m;
  hmn_fake::PciDevice d = nouveau();
  d.files = {
      {"hwmon/hwmon2/name", "nouveau\n"},          {"hwmon/hwmon2/temp1_input", "48500\n"},
      {"hwmon/hwmon2/temp1_crit", "105000\n"},     {"hwmon/hwmon2/temp1_emergency", "hot\n"},
      {"hwmon/hwmon2/power1_input", "31250000\n"}, {"hwmon/hwmon2/power1_max", "180000000\n"},
      {"hwmon/hwmon2/fan1_input", "1200\n"},       {"hwmon/hwmon2/pwm1", "40\n"}};
  m.add_pci(d, {card0, render128});
  m.add_platform("fde60000.gpu", "panfrost", {card1, render129});
  const std::string clock = "sys/devices/platform/fde60000.gpu/devfreq/fde60000.gpu/";
  m.tree().write(clock + "cur_freq", "600000000\n");
  m.tree().write(clock + "max_freq", "800000000\n");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  for (const Device& which_one : found) {
    std::vector<Metric> all;
    REQUIRE(m.source().metrics(which_one.number, false, all, r));
    if (which_one.pci_bus_id.empty()) {
      CHECK(all.size() == 2);
      CHECK(reported(all, MetricId::clock_mhz, which::clock::core) == 600);
      CHECK(reported(all, MetricId::clock_limit_mhz, which::clock::core) == 800);
      continue;
    }
    CHECK(all.size() == 5);
    CHECK(reported(all, MetricId::temperature, which::sensor::core) == 48.5);
    CHECK(reported(all, MetricId::temperature_limit, which::sensor::core) == 105);
    CHECK(reported(all, MetricId::power_watts, which::power_reading::instant) == 31.25);
    CHECK(reported(all, MetricId::power_limit_watts, which::power_limit::current) == 180);
    CHECK(reported(all, MetricId::fan_percent, 1) == 40);
  }
  const Diagnostic* const why = r.find("temp1_emergency holds no number");
  REQUIRE(why != nullptr);
  CHECK(why->field == missing_metric(MetricId::temperature_shutdown, which::sensor::core));
}

TEST_CASE("what no sensor can measure is none") {
  Machine m;
  hmn_fake::PciDevice d = radeon();
  d.files = {{"hwmon/hwmon2/name", "radeon\n"},       {"hwmon/hwmon2/temp1_input", "-273150\n"},
             {"hwmon/hwmon2/power1_average", "-1\n"}, {"hwmon/hwmon2/power1_input", "21000000\n"},
             {"hwmon/hwmon2/fan1_input", "65535\n"},  {"hwmon/hwmon2/pwm1", "300\n"}};
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  REQUIRE(keep_plausible(t, 0, r));
  CHECK_FALSE(t.temperature_celsius);
  CHECK_FALSE(t.fan_rpm);
  CHECK_FALSE(t.fan_percent);
  CHECK(t.power_watts == 21);  // the file before it does not void it
  CHECK(r.find("reported fan_rpm 65535")->why.stated == Reason::implausible);
  m.tree().write("sys/" + hmn_fake::pci_folder(d.address) + "/hwmon/hwmon2/pwm1", "51\n");
  REQUIRE(m.source().telemetry(0, telemetry_field::fan_percent, t, r));
  CHECK(t.fan_percent == 20u);  // of 255
}

TEST_CASE("a sensor that answers nonsense or an error is told with its file") {
  Machine m;
  hmn_fake::PciDevice d = radeon();
  d.files = {{"hwmon/hwmon2/temp1_input", "hot\n"}, {"hwmon/hwmon2/fan1_input", "900\n"}};
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  constexpr auto wanted = telemetry_field::temperature_celsius | telemetry_field::fan_rpm;
  REQUIRE(m.source().telemetry(0, wanted, t, r));
  CHECK_FALSE(t.temperature_celsius);
  CHECK(t.fan_rpm == 900u);
  const Diagnostic* const why = r.find("temp1_input holds no number");
  REQUIRE(why != nullptr);
  CHECK(why->field == telemetry_field::temperature_celsius);
  CHECK(m.source().telemetry(0, telemetry_field::temperature_celsius, t, r).why().code ==
        Status::backend);
  CHECK_FALSE(m.source().telemetry(0, telemetry_field::hotspot_celsius, t, r));
}

TEST_CASE("clock of a platform device, and engines that are not counted") {
  Machine m;
  m.add_platform("fde60000.gpu", "panfrost", {card0, render128});
  const std::string folder = "sys/devices/platform/fde60000.gpu";
  m.tree().write(folder + "/devfreq/fde60000.gpu/cur_freq", "799999987\n");
  m.tree().write(folder + "/profiling", "0\n");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 1);
  CHECK(found[0].form == DeviceForm::integrated);
  CHECK(found[0].memory_kind == MemoryKind::unified);
  Telemetry t;
  constexpr auto wanted = telemetry_field::core_clock_mhz | telemetry_field::gpu_busy_percent;
  REQUIRE(m.source().telemetry(0, wanted, t, r));
  CHECK(t.core_clock_mhz == 800u);
  const Diagnostic* const why = r.find("engines are not counted");
  REQUIRE(why != nullptr);
  CHECK(why->why.code == Status::unsupported);
  CHECK((why->field & telemetry_field::gpu_busy_percent) != 0);
}

TEST_CASE("load of a device from the engines of its clients") {
  Machine m;
  m.add_platform("fd500000.gpu", "v3d", {card0, render128});
  const auto text = [](const char* busy) {
    return std::string("drm-driver:\tv3d\ndrm-client-id:\t1\ndrm-engine-render:\t") + busy +
           " ns\ndrm-total-memory:\t8 KiB\n";
  };
  m.add_process(10, {{3, "/dev/null", text("0")}});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  const auto first = m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, r);
  REQUIRE_FALSE(first);
  CHECK(mentions(first.why(), "difference of two readings"));
  m.tree().write("proc/10/fdinfo/3", text("50000000"));
  platform::sleep_ns(120 * platform::ns_per_ms);
  REQUIRE(m.source().prepare(r));
  REQUIRE(m.source().telemetry(0, telemetry_field::gpu_busy_percent | telemetry_field::window_ns, t,
                               r));
  CHECK(*t.gpu_busy_percent > 1);
  CHECK(*t.gpu_busy_percent < 45);
  CHECK(*t.window_ns >= 120 * platform::ns_per_ms);
  Pools p;
  REQUIRE(m.source().memory(0, p, r));
  CHECK(p.find(PoolKind::unified)->used == 8 * kib);
  CHECK(p.find(PoolKind::unified)->accounting == Accounting::committed);
}

TEST_CASE("without a load the reason is what it lacks, also at the next reading") {
  Machine m;
  m.add_platform("406400000.gpu", "asahi", {card0, render128});
  PlainReading r;
  m.devices(r);
  const auto why = [&] {
    Telemetry t;
    REQUIRE(m.source().prepare(r));
    const auto said = m.source().telemetry(0, telemetry_field::gpu_busy_percent, t, r);
    REQUIRE_FALSE(said);
    CHECK(said.why().code == Status::unsupported);
    CHECK_FALSE(t.gpu_busy_percent);
    return said.why();
  };
  const auto next = [&] {
    platform::sleep_ns(120 * platform::ns_per_ms);
    return why();
  };
  constexpr const char* nobody = "no visible process uses the device";
  constexpr const char* silent = "no client of the device reports engine time";
  constexpr const char* first = "difference of two readings";
  CHECK(mentions(why(), nobody));
  CHECK(mentions(next(), nobody));
  m.add_process(10, {{3, "/dev/null", "drm-driver:\tasahi\ndrm-client-id:\t1\n"}});
  CHECK(mentions(next(), silent));
  CHECK(mentions(next(), silent));
  m.add_process(11, {{3, "/dev/null",
                      "drm-driver:\tasahi\ndrm-client-id:\t2\n"
                      "drm-engine-render:\t5 ns\n"}});
  CHECK(mentions(next(), first));
}
