// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../intel/cards.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace intel_test;
using namespace hmn::telemetry_field;
using drm_test::card0;
using drm_test::render128;

namespace {

// As Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon numbers and labels them.
hmn_fake::PciDevice battlemage() {
  hmn_fake::PciDevice d = intel_card("xe");
  d.files = {{"hwmon/hwmon4/name", "xe\n"},
             {"hwmon/hwmon4/energy1_input", "0\n"},
             {"hwmon/hwmon4/energy1_label", "card\n"},
             {"hwmon/hwmon4/energy2_input", "5000000\n"},
             {"hwmon/hwmon4/energy2_label", "pkg\n"},
             {"hwmon/hwmon4/power1_max", "200000000\n"},
             {"hwmon/hwmon4/power1_label", "card\n"},
             {"hwmon/hwmon4/power2_max", "150000000\n"},
             {"hwmon/hwmon4/power2_label", "pkg\n"},
             {"hwmon/hwmon4/in1_input", "605\n"},
             {"hwmon/hwmon4/in1_label", "pkg\n"},
             {"hwmon/hwmon4/temp2_input", "46000\n"},
             {"hwmon/hwmon4/temp2_label", "pkg\n"},
             {"hwmon/hwmon4/temp3_input", "48000\n"},
             {"hwmon/hwmon4/temp3_label", "vram\n"},
             {"hwmon/hwmon4/temp6_input", "99000\n"},
             {"hwmon/hwmon4/temp6_label", "mctrl\n"},
             {"hwmon/hwmon4/fan1_input", "0\n"},
             {"hwmon/hwmon4/fan2_input", "418\n"}};
  return d;
}

void add_gt(hmn_fake::PciDevice& d, const std::string& name, const char* actual) {
  const std::string folder = name + "/freq0/";
  d.files[folder + "act_freq"] = actual;
  d.files[folder + "cur_freq"] = "1200\n";
  d.files[folder + "max_freq"] = "2850\n";
  d.files[folder + "throttle/status"] = "0\n";
  d.files[folder + "throttle/reasons"] = "none\n";
  d.files[folder + "throttle/reason_pl1"] = "0\n";
  d.files[folder + "throttle/reason_thermal"] = "0\n";
}

const std::string in_chip = "sys/" + hmn_fake::pci_folder(slot_address) + "/hwmon/hwmon4/";

}  // namespace

TEST_CASE("the power limit is the sustained one; that of bursts alone is named as the reason") {
  Machine m;
  hmn_fake::PciDevice d = battlemage();
  d.files["hwmon/hwmon4/power2_cap"] = "300000000\n";
  m.add_pci(d, {card0, render128});
  CHECK(read_telemetry(m, power_limit_watts).value.power_limit_watts == 150);
  for (const char* number : {"1", "2"}) {
    m.tree().remove(in_chip + "power" + number + "_max");
  }
  const auto only = read_telemetry(m, power_limit_watts | temperature_celsius);
  REQUIRE(only.result);
  CHECK_FALSE(only.value.power_limit_watts);
  const Diagnostic* const why = only.r.find("limit of bursts only");
  REQUIRE(why != nullptr);
  CHECK(why->field == power_limit_watts);
  PlainReading r;
  const auto all = read_metrics(m, r);
  CHECK_FALSE(value_of(all, MetricId::power_limit_watts, which::power_limit::current));
  CHECK(r.find("limit of bursts only") != nullptr);
}

TEST_CASE("sensors are found by their labels") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  const auto reported = read_telemetry(m, telemetry_field::all);
  REQUIRE(reported.result);
  CHECK(reported.value.from == Source::xe);
  CHECK(reported.value.temperature_celsius == 46);
  CHECK(reported.value.memory_celsius == 48);
  CHECK(reported.value.fan_rpm == 418u);
  // The card's counter stands at 0: the package's counts, and its limit goes with it.
  CHECK(reported.value.energy_joules == 5);
  CHECK(reported.value.power_limit_watts == 150);
  CHECK(read_telemetry(m, power_limit_watts).value.power_limit_watts == 150);
  m.tree().write(in_chip + "energy1_input", "9000000\n");
  const auto card = read_telemetry(m, energy_joules | power_limit_watts);
  CHECK(card.value.energy_joules == 9);
  CHECK(card.value.power_limit_watts == 200);
}

TEST_CASE("each sensor is a metric") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  m.tree().write(in_chip + "temp4_input", "52000\n");
  m.tree().write(in_chip + "temp4_label", "vram_ch_1\n");
  const auto all = read_metrics(m);
  CHECK(value_of(all, MetricId::temperature, which::sensor::package) == 46);
  CHECK(value_of(all, MetricId::temperature, which::sensor::memory) == 52);
  CHECK_FALSE(value_of(all, MetricId::temperature, which::sensor::unknown));
  CHECK(value_of(all, MetricId::fan_rpm, 1) == 0);
  CHECK(value_of(all, MetricId::fan_rpm, 2) == 418);
  CHECK_FALSE(value_of(all, MetricId::energy_joules, which::power_reading::board));
  CHECK(value_of(all, MetricId::energy_joules, which::power_reading::package) == 5);
  CHECK(value_of(all, MetricId::power_limit_watts, which::power_limit::current) == 150);
  CHECK(value_of(all, MetricId::voltage, which::rail::core) == 0.605);
}

TEST_CASE("a card whose counters stand at 0 tells no energy and no power") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  m.tree().write(in_chip + "energy2_input", "0\n");
  for (int i = 0; i < 2; ++i) {
    const auto reported = read_telemetry(m, energy_joules | power_watts | temperature_celsius);
    REQUIRE(reported.result);
    CHECK_FALSE(reported.value.energy_joules);
    CHECK_FALSE(reported.value.power_watts);
    const Diagnostic* const why = reported.r.find("stands at 0");
    REQUIRE(why != nullptr);
    CHECK(why->field == (energy_joules | power_watts));
  }
  PlainReading r;
  CHECK_FALSE(value_of(read_metrics(m, r), MetricId::energy_joules, which::power_reading::package));
  CHECK(r.find("stands at 0")->about == subject::metrics);
}

TEST_CASE("a counter that stands still tells no power") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  CHECK(read_telemetry(m, power_watts).result.why().stated == Reason::not_yet);
  platform::sleep_ns(30 * platform::ns_per_ms);
  const auto still = read_telemetry(m, power_watts | energy_joules);
  CHECK(still.value.energy_joules == 5);
  CHECK_FALSE(still.value.power_watts);
  const Diagnostic* const why = still.r.find("stands still");
  REQUIRE(why != nullptr);
  CHECK(why->field == power_watts);
  CHECK(why->why.stated == Reason::ambiguous);
  PlainReading r;
  CHECK_FALSE(value_of(read_metrics(m, r), MetricId::power_watts, which::power_reading::package));
  CHECK(r.find("stands still")->about == subject::metrics);
  m.tree().write(in_chip + "energy2_input", "5600000\n");
  CHECK(read_telemetry(m, power_watts).value.power_watts > 0);
}

TEST_CASE("watts of the package come from two readings of energy") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  CHECK_FALSE(read_telemetry(m, power_watts).result);
  platform::sleep_ns(30 * platform::ns_per_ms);
  m.tree().write(in_chip + "energy2_input", "5600000\n");
  const auto all = read_metrics(m);
  for (const Metric& x : all) {
    if (x.id != MetricId::power_watts) continue;
    CHECK(x.instance == which::power_reading::package);
    CHECK(*x.window_ns >= 30 * platform::ns_per_ms);
    CHECK(*x.value == doctest::Approx(6e8 / static_cast<double>(*x.window_ns)));
  }
  CHECK(value_of(all, MetricId::power_watts, which::power_reading::package));
}

TEST_CASE("clocks and throttling of tiles and media parts") {
  Machine m;
  hmn_fake::PciDevice d = battlemage();
  add_gt(d, "tile0/gt0", "2100\n");
  add_gt(d, "tile0/gt1", "0\n");
  add_gt(d, "tile1/gt2", "1900\n");
  m.add_pci(d, {card0, render128});
  const auto reported = read_telemetry(m, core_clock_mhz | telemetry_field::throttle);
  REQUIRE(reported.result);
  CHECK(reported.value.core_clock_mhz == 2100u);
  CHECK(reported.value.throttle == 0u);
  const auto all = read_metrics(m);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::core) == 2100);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::media) == 0);
  CHECK(value_of(all, MetricId::clock_mhz, which::clock::requested) == 1200);
  CHECK(value_of(all, MetricId::clock_limit_mhz, which::clock::media) == 2850);
  const std::string folder = "sys/" + hmn_fake::pci_folder(slot_address) + "/tile0/";
  m.tree().write(folder + "gt0/freq0/throttle/status", "1\n");
  CHECK(read_telemetry(m, telemetry_field::throttle).value.throttle == throttle::other);
  m.tree().write(folder + "gt0/freq0/throttle/reason_pl1", "1\n");
  m.tree().write(folder + "gt1/freq0/throttle/status", "1\n");
  m.tree().write(folder + "gt1/freq0/throttle/reason_mem_thermal", "1\n");
  CHECK(read_telemetry(m, telemetry_field::throttle).value.throttle ==
        (throttle::power | throttle::thermal));
}

TEST_CASE("load is cycles by the clock they are counted with") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  const auto text = [](int rcs, int vcs, int clock) {
    const std::string total = std::to_string(clock);
    return "drm-driver:\txe\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-cycles-rcs:\t" +
           std::to_string(rcs) + "\ndrm-total-cycles-rcs:\t" + total + "\ndrm-cycles-vcs:\t" +
           std::to_string(vcs) + "\ndrm-total-cycles-vcs:\t" + total +
           "\ndrm-engine-capacity-vcs:\t2\n";
  };
  m.add_process(10, {{3, "/dev/null", text(100, 0, 1000)}});
  CHECK_FALSE(read_telemetry(m, gpu_busy_percent).result);
  platform::sleep_ns(120 * platform::ns_per_ms);
  m.tree().write("proc/10/fdinfo/3", text(300, 600, 2000));
  const auto reported = read_telemetry(m, gpu_busy_percent);
  REQUIRE(reported.result);
  CHECK(*reported.value.gpu_busy_percent == 30);  // 600 of 1000, two engines
  PlainReading r;
  const auto rows = m.rows(0, r);
  REQUIRE(rows.size() == 1);
  CHECK(*rows[0].busy_percent == 30);
  CHECK(rows[0].kinds == (usage_kind::graphics | usage_kind::media));
  CHECK_FALSE(rows[0].busy_ns);
}

TEST_CASE("a card without clients, or with idle ones, is left alone: node and fdinfo, too") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(1, 1, 4 * gib, gib, 4 * gib, 0)).c_str());
  drm_test::Impatient one(m);
  Pools p;
  bool has_client = false;
  SUBCASE("none") {
    one.begin();
  }
  SUBCASE("an idle one") {
    const auto text = [](int clock) {
      return "drm-driver:\txe\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\n"
             "drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t" +
             std::to_string(clock) + "\n";
    };
    m.add_process(10, {{3, "/dev/null", text(1000)}});
    has_client = true;
    one.begin();
    Telemetry t;
    CHECK_FALSE(one.source().telemetry(0, gpu_busy_percent, t, one.reading()));
    platform::sleep_ns(120 * platform::ns_per_ms);
    m.tree().write("proc/10/fdinfo/3", text(2000));
    one.begin();
  }
  REQUIRE(one.source().memory(0, p, one.reading()));
  CHECK(p.find(PoolKind::main)->used == gib);
  one.source().finish(one.reading());
  fake_drm_load("");
  one.begin();
  CHECK(one.source().memory(0, p, one.reading()).why().code == Status::asleep);
  CHECK(one.source().rests());
  std::vector<Usage> rows;
  CHECK(one.source().processes(0, rows, one.reading()).why().code == Status::asleep);
  CHECK(one.source().rests());
  Usage row;
  const Status wanted = has_client ? Status::asleep : Status::no_process;
  CHECK(one.source().process(0, 10, false, row, one.reading()).why().code == wanted);
  CHECK(std::string_view(fake_drm_log()).empty());
}

TEST_CASE("a card with a client of which no load is told is not left alone") {
  Machine m;
  m.add_pci(battlemage(), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(1, 1, 4 * gib, gib, 4 * gib, 0)).c_str());
  m.add_process(10, {{3, "/dev/null", "drm-driver:\txe\ndrm-client-id:\t1\n"}});
  drm_test::Impatient one(m);
  Pools p;
  one.begin();
  REQUIRE(one.source().memory(0, p, one.reading()));
  one.source().finish(one.reading());
  one.begin();
  CHECK(one.source().memory(0, p, one.reading()));
  CHECK_FALSE(one.source().rests());
}

TEST_CASE("a virtual function has no sensors of the GPU next to it") {
  Machine m;
  hmn_fake::PciDevice part = intel_card("xe", "0000:03:00.1");
  part.files = battlemage().files;
  add_gt(part, "tile0/gt0", "1700\n");
  part.files["current_link_speed"] = "16.0 GT/s PCIe\n";
  m.add_pci(battlemage(), {card0, render128});
  m.add_pci(part, {{"card1", "/dev/full"}, {"renderD129", "/dev/zero"}});
  m.tree().link("sys/" + hmn_fake::pci_folder("0000:03:00.1") + "/physfn", "../0000:03:00.0");
  PlainReading r;
  const auto found = m.devices(r);
  REQUIRE(found.size() == 2);
  for (const Device& d : found) {
    const bool is_part = d.pci_bus_id.view() == "0000:03:00.1";
    Telemetry t;
    const Result<void> done = m.source().telemetry(d.number, all, t, r);
    std::vector<Metric> metrics;
    REQUIRE(m.source().metrics(d.number, true, metrics, r));
    CHECK(static_cast<bool>(done) != is_part);
    CHECK(t.temperature_celsius.has_value() != is_part);
    CHECK(metrics.empty() == is_part);
    if (is_part) CHECK(done.why().message.view().find("whole GPU") != std::string_view::npos);
  }
}
