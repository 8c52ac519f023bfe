// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/amdgpu/telemetry.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cerrno>

#include "backends/amdgpu/sysfs.hpp"
#include "cards.hpp"
#include "core/query.hpp"
#include "machine.hpp"

using namespace hmn;
using namespace amdgpu_test;
using namespace drm_test;

namespace {

const std::string card_files = "sys/" + hmn_fake::pci_folder("0000:03:00.0") + "/";
const std::string hwmon = card_files + "hwmon/hwmon4/";

std::vector<Metric> metrics_of(Machine& m, PlainReading& r, bool slow = false) {
  std::vector<Metric> out;
  m.devices(r);
  REQUIRE(m.source().metrics(0, slow, out, r));
  return out;
}

const Metric* find(const std::vector<Metric>& all, MetricId id, std::uint32_t instance) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const Metric& x) {
    return x.id == id && x.instance == instance;
  });
  return at == all.end() ? nullptr : &*at;
}

double value_of(const std::vector<Metric>& all, MetricId id, std::uint32_t instance) {
  const Metric* const m = find(all, id, instance);
  REQUIRE(m != nullptr);
  REQUIRE(m->value);
  CHECK(m->from == Source::amdgpu);
  return *m->value;
}

std::uint64_t count_of(const std::vector<Metric>& all, MetricId id, std::uint32_t instance) {
  const Metric* const m = find(all, id, instance);
  REQUIRE(m != nullptr);
  REQUIRE(m->count);
  return *m->count;
}

// struct gpu_metrics_v1_3: 120 bytes, all ones where nothing is filled in.
std::string table_1_3(std::uint64_t independent_throttle) {
  std::string t(120, '\xff');
  t[0] = 120;
  t[1] = 0;
  t[2] = 1;
  t[3] = 3;
  t[10] = 61;  // temperature_vrgfx
  t[11] = 0;
  t[20] = 5;  // average_mm_activity
  t[21] = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    t[112 + i] = static_cast<char>(independent_throttle >> 8 * i & 0xff);
  }
  return t;
}

// SMU_THROTTLER_…_BIT
constexpr std::uint64_t power_bit = 1;
constexpr std::uint64_t memory_bit = std::uint64_t{1} << 34;
constexpr std::uint64_t edge_bit = std::uint64_t{1} << 35;
constexpr std::uint64_t hotspot_bit = std::uint64_t{1} << 36;
constexpr std::uint64_t regulator_bit = std::uint64_t{1} << 38;

void set_celsius(hmn_fake::PciDevice& of, int sensor, int celsius, int limit) {
  const std::string file = "hwmon/hwmon4/temp" + std::to_string(sensor);
  of.files[file + "_input"] = std::to_string(celsius) + "000\n";
  of.files[file + "_crit"] = std::to_string(limit) + "000\n";
}

}  // namespace

TEST_CASE("load, temperatures by label, power, clocks, fan and link") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.files["gpu_metrics"] = table_1_3(regulator_bit);
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.from == Source::amdgpu);
  CHECK(t.sources == bit_of(Source::amdgpu));
  CHECK(t.gpu_busy_percent == 37);
  CHECK(t.memory_busy_percent == 12);
  CHECK(t.temperature_celsius == 56);
  CHECK(t.hotspot_celsius == 59);
  CHECK(t.memory_celsius == 54);
  CHECK(t.power_watts == 36.5);
  CHECK(t.power_limit_watts == 289);
  CHECK(t.core_clock_mhz == 2505u);
  CHECK(t.memory_clock_mhz == 96u);
  CHECK(t.fan_rpm == 900u);
  CHECK(t.fan_percent == 20u);  // 51 of 255
  CHECK(t.pcie_generation == 4u);
  CHECK(t.pcie_width == 16u);
  CHECK(t.throttle == throttle::thermal);
  CHECK_FALSE(t.energy_joules);
  CHECK_FALSE(t.encoder_busy_percent);
  const Diagnostic* const rest = r.find("not reported by the driver");
  REQUIRE(rest != nullptr);
  CHECK((rest->field & telemetry_field::energy_joules) != 0);
  CHECK((rest->field & telemetry_field::throttle) == 0);
}

TEST_CASE("a sensor far below its limit throttles nothing, whatever the firmware's bit") {
  struct {
    const char* what;
    int edge, hotspot, memory;
    std::uint64_t status;
    std::uint32_t means;
  } const cards[] = {
      {"idle", 41, 45, 52, hotspot_bit, 0},
      {"idle, every temperature", 41, 45, 52, edge_bit | hotspot_bit | memory_bit, 0},
      {"at its power limit", 60, 75, 70, hotspot_bit | power_bit, throttle::power},
      {"at the limit of the hotspot", 80, 109, 70, hotspot_bit, throttle::thermal},
      {"below it by less than 10 C", 80, 101, 70, hotspot_bit, throttle::thermal},
      {"at the limit of the memory", 60, 70, 107, hotspot_bit | memory_bit, throttle::thermal},
      {"too hot elsewhere", 41, 45, 52, hotspot_bit | regulator_bit, throttle::thermal},
  };
  for (const auto& c : cards) {
    CAPTURE(c.what);
    Machine m;
    hmn_fake::PciDevice d = navi();
    set_celsius(d, 1, c.edge, 100);
    set_celsius(d, 2, c.hotspot, 110);
    set_celsius(d, 3, c.memory, 108);
    d.files["gpu_metrics"] = table_1_3(c.status);
    m.add_pci(d, {card0, render128});
    PlainReading r;
    m.devices(r);
    Telemetry t;
    REQUIRE(m.source().telemetry(0, telemetry_field::throttle, t, r));
    CHECK(t.throttle == c.means);
  }
}

TEST_CASE("a bit of a sensor without a known temperature or limit determines nothing") {
  for (const char* file : {"temp2_crit", "temp2_input", "temp2_label"}) {
    for (const bool is_there : {false, true}) {
      CAPTURE(file);
      Machine m;
      hmn_fake::PciDevice d = navi();
      set_celsius(d, 2, 45, 110);
      d.files["gpu_metrics"] = table_1_3(hotspot_bit);
      const std::string path = "hwmon/hwmon4/" + std::string(file);
      is_there ? void(d.files[path] = "0\n") : void(d.files.erase(path));
      m.add_pci(d, {card0, render128});
      PlainReading r;
      m.devices(r);
      Telemetry t;
      REQUIRE_FALSE(m.source().telemetry(0, telemetry_field::throttle, t, r));
      CHECK_FALSE(t.throttle);
      const Diagnostic* const why = r.find(file == std::string("temp2_input") ? "_input" : "_crit");
      REQUIRE(why != nullptr);
      CHECK(why->field == telemetry_field::throttle);
    }
  }
}

TEST_CASE("0 W is no power: that of an MI200 is its first half's") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  for (const char* file : {"power1_average", "power1_cap", "power1_cap_max", "power1_cap_default"})
    d.files["hwmon/hwmon4/" + std::string(file)] = "0\n";
  m.add_pci(d, {card0, render128});
  PlainReading r;
  const auto all = metrics_of(m, r);
  for (const Metric& each : all) {
    if (each.id != MetricId::power_watts && each.id != MetricId::power_limit_watts) continue;
    CHECK(each.instance == which::power_limit::min);
  }
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK_FALSE(t.power_watts);
  CHECK_FALSE(t.power_limit_watts);
  std::uint64_t fields = 0;
  for (const Diagnostic& each : r.diagnostics) {
    if (each.why.message.view().find("0 W") == std::string_view::npos) continue;
    CHECK(reason_for(each.why) == Reason::unsupported);
    if (each.about == subject::telemetry) fields |= each.field;
  }
  CHECK(fields == (telemetry_field::power_watts | telemetry_field::power_limit_watts));
}

TEST_CASE("a virtual function has no sensors of the GPU next to it, and alone has its own") {
  const std::string part_folder = "sys/" + hmn_fake::pci_folder("0000:03:02.0");
  for (const bool is_listed : {true, false}) {
    CAPTURE(is_listed);
    Machine m;
    if (is_listed) m.add_pci(navi("0000:03:00.0"), {card0, render128});
    m.add_pci(navi("0000:03:02.0"), {{"card1", "/dev/full"}, render129});
    m.tree().link(part_folder + "/physfn", "../0000:03:00.0");
    PlainReading r;
    std::size_t checked = 0;
    for (const Device& d : m.devices(r)) {
      if (d.pci_bus_id.view() != "0000:03:02.0") continue;
      ++checked;
      Pools p;
      REQUIRE(m.source().memory(d.number, p, r));
      CHECK(p.find(PoolKind::vram)->total == 16 * gib);
      Telemetry t;
      const Result<void> ok = m.source().telemetry(d.number, telemetry_field::all, t, r);
      std::vector<Metric> all;
      REQUIRE(m.source().metrics(d.number, true, all, r));
      CHECK(static_cast<bool>(ok) != is_listed);
      CHECK(t.power_watts.has_value() != is_listed);
      CHECK(all.empty() == is_listed);
      if (is_listed) CHECK(ok.why().message.view().find("whole GPU") != std::string_view::npos);
    }
    CHECK(checked == 1);
  }
}

TEST_CASE("labels that moved are followed") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.files["hwmon/hwmon4/temp1_label"] = "junction\n";
  d.files["hwmon/hwmon4/temp2_label"] = "edge\n";
  d.files.erase("hwmon/hwmon4/temp3_label");
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.temperature_celsius == 59);
  CHECK(t.hotspot_celsius == 56);
  CHECK_FALSE(t.memory_celsius);
}

TEST_CASE("the one sensor of an old kernel has no label") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  for (const char* file : {"temp1_label", "temp2_label", "temp3_label", "freq1_label"}) {
    d.files.erase("hwmon/hwmon4/" + std::string(file));
  }
  m.add_pci(d, {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.temperature_celsius == 56);
  CHECK(t.core_clock_mhz == 2505u);
  CHECK_FALSE(t.hotspot_celsius);
}

TEST_CASE("clocks of levels where there is no sensor of them") {
  Machine m;
  m.add_pci(phoenix("0000:03:00.0"), {card0, render128});
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  CHECK(t.core_clock_mhz == 800u);
  CHECK(t.memory_clock_mhz == 400u);
  CHECK(t.power_watts == 3.103);
  CHECK_FALSE(t.memory_busy_percent);
  CHECK_FALSE(t.throttle);
}

TEST_CASE("the reason for absent throttling is that of the firmware's table, in each reading") {
  struct One {
    std::string table;
    Reason why;
    const char* words;
  };
  const auto header = [](std::size_t size, char format, char content) {
    std::string t(size, '\xff');
    t[0] = static_cast<char>(size & 0xff);
    t[1] = static_cast<char>(size >> 8);
    t[2] = format;
    t[3] = content;
    return t;
  };
  const One all[] = {
      {header(288, 1, 4), Reason::unsupported, "(format 1.4) does not report why"},
      {header(264, 3, 0), Reason::unsupported, "(format 3.0) does not report why"},
      {header(400, 1, 9), Reason::not_understood, "in a format that is not known"},
      {header(264, 3, 0).substr(0, 40), Reason::not_understood, "gpu_metrics is cut"},
      {"", Reason::not_understood, "gpu_metrics is cut"},
  };
  for (const One& o : all) {
    CAPTURE(o.words);
    Machine m;
    hmn_fake::PciDevice d = navi();
    d.files["gpu_metrics"] = o.table;
    m.add_pci(d, {card0, render128});
    for (int reading = 0; reading < 2; ++reading) {
      PlainReading r;
      m.devices(r);
      Telemetry t;
      REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
      CHECK_FALSE(t.throttle);
      const Diagnostic* const why = r.find(o.words);
      REQUIRE(why != nullptr);
      CHECK(why->field == telemetry_field::throttle);
      CHECK(reason_for(why->why) == o.why);
    }
  }
}

TEST_CASE("the reason for an absent clock is that of its levels") {
  struct One {
    const char* levels;
    Reason why;
    const char* words;
  };
  const One all[] = {
      {"0: 500Mhz *\n1: 2400Mhz *\n", Reason::ambiguous, "pp_dpm_mclk marks several levels"},
      {"0: 500Mhz\n1: 2400Mhz\n", Reason::unsupported, "pp_dpm_mclk marks no level"},
      {"500 *\n", Reason::not_understood, "pp_dpm_mclk holds no number"},
      {"\n", Reason::unsupported, "not reported by the driver"},
  };
  for (const One& o : all) {
    CAPTURE(o.words);
    Machine m;
    hmn_fake::PciDevice d = navi();
    d.files.erase("hwmon/hwmon4/freq2_input");
    d.files.erase("hwmon/hwmon4/freq2_label");
    d.files["pp_dpm_mclk"] = o.levels;
    m.add_pci(d, {card0, render128});
    PlainReading r;
    m.devices(r);
    Telemetry t;
    REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
    CHECK_FALSE(t.memory_clock_mhz);
    const Diagnostic* const why = r.find(o.words);
    REQUIRE(why != nullptr);
    INFO(why->why.message.view());
    CHECK((why->field & telemetry_field::memory_clock_mhz) != 0);
    CHECK(reason_for(why->why) == o.why);
  }
}

TEST_CASE("fillers and garbage are no readings") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  const std::pair<std::string, const char*> broken[] = {
      {card_files + "gpu_busy_percent", "101\n"},
      {card_files + "mem_busy_percent", "4294967295\n"},
      {hwmon + "temp1_input", "65535000\n"},
      {hwmon + "temp2_input", "hot\n"},
      {hwmon + "power1_average", "-1\n"},
      {hwmon + "power1_cap", ""},
      {hwmon + "freq1_input", "9999999999999999\n"},
      {hwmon + "fan1_input", "65535\n"},
      {hwmon + "pwm1", "300\n"},
      {card_files + "current_link_width", "255\n"},
      {card_files + "current_link_speed", "Unknown\n"},
      {card_files + "pp_dpm_sclk", "0: 5Mhz \n"}};
  for (const auto& [file, text] : broken) m.tree().write(file, text);
  PlainReading r;
  m.devices(r);
  Telemetry t;
  REQUIRE(m.source().telemetry(0, telemetry_field::all, t, r));
  REQUIRE(keep_plausible(t, 0, r));
  CHECK_FALSE(t.gpu_busy_percent);
  CHECK_FALSE(t.memory_busy_percent);
  CHECK_FALSE(t.temperature_celsius);
  CHECK_FALSE(t.hotspot_celsius);
  CHECK(t.memory_celsius == 54);  // one that fails voids no other
  CHECK_FALSE(t.power_watts);
  CHECK_FALSE(t.power_limit_watts);
  CHECK_FALSE(t.core_clock_mhz);
  CHECK_FALSE(t.fan_rpm);
  CHECK_FALSE(t.fan_percent);
  CHECK_FALSE(t.pcie_generation);
  CHECK_FALSE(t.pcie_width);
  CHECK(r.find("reported gpu_busy_percent 101")->field == telemetry_field::gpu_busy_percent);
  CHECK(r.find("reported gpu_busy_percent 101")->why.stated == Reason::implausible);
  CHECK(r.find("temp2_input holds no number")->field == telemetry_field::hotspot_celsius);
}

TEST_CASE("errors of the system keep their meaning") {
  using hmn::amdgpu::unread;
  CHECK(unread(EPERM, "/d", "gpu_busy_percent").code == Status::asleep);
  CHECK(unread(EACCES, "/d", "f").code == Status::permission);
  CHECK(unread(ENODEV, "/d", "f").code == Status::device_lost);
  CHECK(unread(EIO, "/d", "f").code == Status::backend);
  CHECK(unread(ENOENT, "/d", "f").code == Status::unsupported);
  CHECK(unread(EIO, "/d", "f").from == Source::amdgpu);
  Machine m;
  m.add_pci(navi(), {card0, render128});
  m.tree().link(hwmon + "temp1_input", "/proc/self/mem");  // EIO from its start
  PlainReading r;
  m.devices(r);
  Telemetry t;
  CHECK(m.source().telemetry(0, telemetry_field::temperature_celsius, t, r).why().native.code ==
        EIO);
}

TEST_CASE("the link to the slot is that of the switch on the card") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  drm::Card c;
  m.tree().write("sys/devices/pci0000:00/0000:01:00.0/vendor", "0x1002\n");
  m.tree().write("sys/devices/pci0000:00/0000:01:00.0/device", "0x1478\n");
  m.tree().write("sys/devices/pci0000:00/0000:01:00.0/0000:02:00.0/vendor", "0x1002\n");
  m.tree().write("sys/devices/pci0000:00/0000:01:00.0/0000:02:00.0/device", "0x1479\n");
  const std::string slot = m.tree().sys() + "/devices/pci0000:00/0000:01:00.0";
  const std::string own = slot + "/0000:02:00.0/0000:03:00.0";
  c.folder.assign(own);
  CHECK(amdgpu::slot_folder(c, m.tree().sys()) == slot);
  m.tree().write("sys/devices/pci0000:00/0000:01:00.0/device", "0x43c6\n");
  CHECK(amdgpu::slot_folder(c, m.tree().sys()) == own);
}

TEST_CASE("metrics have each sensor, limit and clock") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  PlainReading r;
  const auto all = metrics_of(m, r);
  using Id = MetricId;
  CHECK(value_of(all, Id::engine_percent, which::engine::graphics) == 37);
  CHECK(value_of(all, Id::engine_percent, which::engine::memory) == 12);
  CHECK(value_of(all, Id::temperature, which::sensor::core) == 56);
  CHECK(value_of(all, Id::temperature, which::sensor::hotspot) == 59);
  CHECK(value_of(all, Id::temperature, which::sensor::memory) == 54);
  CHECK(value_of(all, Id::temperature_limit, which::sensor::core) == 100);
  CHECK(value_of(all, Id::temperature_shutdown, which::sensor::core) == 105);
  CHECK(find(all, Id::temperature_limit, which::sensor::memory) == nullptr);
  CHECK(value_of(all, Id::power_watts, which::power_reading::average) == 36.5);
  CHECK(find(all, Id::power_watts, which::power_reading::instant) == nullptr);
  CHECK(value_of(all, Id::power_limit_watts, which::power_limit::current) == 289);
  CHECK(value_of(all, Id::power_limit_watts, which::power_limit::max) == 332);
  CHECK(value_of(all, Id::power_limit_watts, which::power_limit::min) == 0);
  CHECK(value_of(all, Id::clock_mhz, which::clock::core) == 2505);
  CHECK(value_of(all, Id::clock_mhz, which::clock::soc) == 480);
  CHECK(find(all, Id::clock_mhz, which::clock::fabric) == nullptr);  // no level has the star
  CHECK(value_of(all, Id::clock_limit_mhz, which::clock::fabric) == 1940);
  CHECK(value_of(all, Id::clock_limit_mhz, which::clock::memory) == 1000);
  CHECK(value_of(all, Id::fan_rpm, 1) == 900);
  CHECK(value_of(all, Id::fan_percent, 1) == 20);
  CHECK(value_of(all, Id::voltage, which::rail::core) == 0.762);
  CHECK(count_of(all, Id::pcie_replays, 0) == 7);
  CHECK(find(all, Id::ecc_corrected, which::era::since_load) == nullptr);  // slow
  const auto twice = std::count_if(all.begin(), all.end(), [](const Metric& x) {
    return x.id == MetricId::clock_mhz && x.instance == which::clock::core;
  });
  CHECK(twice == 1);
}

TEST_CASE("a metric that fails is told and voids no other") {
  Machine m;
  m.add_pci(navi(), {card0, render128});
  m.tree().write(hwmon + "temp2_input", "hot\n");
  m.tree().link(card_files + "pcie_replay_count", "/proc/self/mem");  // EIO from its start
  PlainReading r;
  const auto all = metrics_of(m, r);
  CHECK(find(all, MetricId::temperature, which::sensor::hotspot) == nullptr);
  CHECK(find(all, MetricId::pcie_replays, 0) == nullptr);
  CHECK(value_of(all, MetricId::temperature, which::sensor::memory) == 54);
  const Diagnostic* const hot = r.find("temp2_input holds no number");
  REQUIRE(hot != nullptr);
  CHECK(hot->about == subject::metrics);
  CHECK(hot->field == missing_metric(MetricId::temperature, which::sensor::hotspot));
  const Diagnostic* const replays = r.find("pcie_replay_count cannot be read");
  REQUIRE(replays != nullptr);
  CHECK(replays->why.native.code == EIO);
}

TEST_CASE("slow metrics: error counts and the firmware's table") {
  Machine m;
  hmn_fake::PciDevice d = navi();
  d.files["gpu_metrics"] = table_1_3(0);
  m.add_pci(d, {card0, render128});
  PlainReading r;
  const auto all = metrics_of(m, r, true);
  CHECK(count_of(all, MetricId::ecc_corrected, which::era::since_load) == 23);
  CHECK(count_of(all, MetricId::ecc_uncorrected, which::era::since_load) == 1);
  CHECK(value_of(all, MetricId::temperature, which::sensor::regulator) == 61);
  CHECK(value_of(all, MetricId::engine_percent, which::engine::video) == 5);
  CHECK(find(all, MetricId::energy_joules, which::power_reading::package) == nullptr);
}

TEST_CASE("power of a part of a processor is the package's, once") {
  Machine m;
  m.add_pci(phoenix("0000:03:00.0"), {card0, render128});
  PlainReading r;
  auto all = metrics_of(m, r);
  keep_plausible(all, 0, r);
  CHECK(value_of(all, MetricId::power_watts, which::power_reading::package) == 3.103);
  CHECK(find(all, MetricId::power_watts, which::power_reading::average) == nullptr);
  CHECK(find(all, MetricId::power_watts, which::power_reading::instant) == nullptr);
  CHECK(value_of(all, MetricId::voltage, which::rail::soc) == 0.615);
  CHECK(find(all, MetricId::voltage, which::rail::core) == nullptr);  // 0 mV: gated
}
