// SPDX-License-Identifier: MIT OR Apache-2.0
#include "../intel/cards.hpp"
#include "platform/clock.hpp"

using namespace hmn;
using namespace intel_test;
using namespace hmn::telemetry_field;
using drm_test::card0;
using drm_test::render128;

namespace {

// Numbered and labelled as in Documentation/ABI/testing/sysfs-driver-intel-xe-hwmon.
hmn_fake::PciDevice battlemage() {
  hmn_fake::PciDevice card = intel_card("xe");
  card.files = {{"hwmon/hwmon4/name", "xe\n"},
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
  return card;
}

void add_gt(hmn_fake::PciDevice& card, const std::string& name, const char* actual) {
  const std::string folder = name + "/freq0/";
  card.files[folder + "act_freq"] = actual;
  card.files[folder + "cur_freq"] = "1200\n";
  card.files[folder + "max_freq"] = "2850\n";
  card.files[folder + "throttle/status"] = "0\n";
  card.files[folder + "throttle/reasons"] = "none\n";
  card.files[folder + "throttle/reason_pl1"] = "0\n";
  card.files[folder + "throttle/reason_thermal"] = "0\n";
}

const std::string chip_folder = "sys/" + hmn_fake::pci_folder(slot_address) + "/hwmon/hwmon4/";

}  // namespace

TEST_CASE("the power limit is the sustained one; without it a limit of bursts is the reason") {
  Machine machine;
  hmn_fake::PciDevice card = battlemage();
  card.files["hwmon/hwmon4/power2_cap"] = "300000000\n";
  machine.add_pci(card, {card0, render128});
  CHECK(read_telemetry(machine, power_limit_watts).value.power_limit_watts == 150);
  for (const char* number : {"1", "2"}) {
    machine.tree().remove(chip_folder + "power" + number + "_max");
  }
  const auto telemetry = read_telemetry(machine, power_limit_watts | temperature_celsius);
  REQUIRE(telemetry.result);
  CHECK_FALSE(telemetry.value.power_limit_watts);
  const Diagnostic* const diagnostic = telemetry.reading.find("limit of bursts only");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == power_limit_watts);
  PlainReading reading;
  const auto metrics = read_metrics(machine, reading);
  CHECK_FALSE(
      find_value(metrics, MetricId::power_limit_watts, metric_instance::power_limit::current));
  CHECK(reading.find("limit of bursts only") != nullptr);
}

TEST_CASE("sensors are found by their labels") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  const auto telemetry = read_telemetry(machine, telemetry_field::all);
  REQUIRE(telemetry.result);
  CHECK(telemetry.value.source == Source::xe);
  CHECK(telemetry.value.temperature_celsius == 46);
  CHECK(telemetry.value.memory_celsius == 48);
  CHECK(telemetry.value.fan_rpm == 418u);
  // The card's counter is 0: energy and limit are those of the package.
  CHECK(telemetry.value.energy_joules == 5);
  CHECK(telemetry.value.power_limit_watts == 150);
  CHECK(read_telemetry(machine, power_limit_watts).value.power_limit_watts == 150);
  machine.tree().write(chip_folder + "energy1_input", "9000000\n");
  const auto card_telemetry = read_telemetry(machine, energy_joules | power_limit_watts);
  CHECK(card_telemetry.value.energy_joules == 9);
  CHECK(card_telemetry.value.power_limit_watts == 200);
}

TEST_CASE("each sensor is a metric") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  machine.tree().write(chip_folder + "temp4_input", "52000\n");
  machine.tree().write(chip_folder + "temp4_label", "vram_ch_1\n");
  const auto metrics = read_metrics(machine);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::package) == 46);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::memory) == 52);
  CHECK_FALSE(find_value(metrics, MetricId::temperature, metric_instance::sensor::unknown));
  CHECK(find_value(metrics, MetricId::fan_rpm, 1) == 0);
  CHECK(find_value(metrics, MetricId::fan_rpm, 2) == 418);
  CHECK_FALSE(find_value(metrics, MetricId::energy_joules, metric_instance::power_reading::board));
  CHECK(find_value(metrics, MetricId::energy_joules, metric_instance::power_reading::package) == 5);
  CHECK(find_value(metrics, MetricId::power_limit_watts, metric_instance::power_limit::current) ==
        150);
  CHECK(find_value(metrics, MetricId::voltage, metric_instance::rail::core) == 0.605);
}

TEST_CASE("the temperature at which the card shuts down is a metric of package and memory") {
  Machine machine;
  hmn_fake::PciDevice card = battlemage();
  card.files["hwmon/hwmon4/temp2_emergency"] = "105000\n";
  card.files["hwmon/hwmon4/temp3_emergency"] = "100000\n";
  card.files["hwmon/hwmon4/temp4_emergency"] = "95000\n";
  card.files["hwmon/hwmon4/temp4_label"] = "vram_ch_1\n";
  card.files["hwmon/hwmon4/temp6_emergency"] = "90000\n";
  machine.add_pci(card, {card0, render128});
  const auto metrics = read_metrics(machine);
  CHECK(find_value(metrics, MetricId::temperature_shutdown, metric_instance::sensor::package) ==
        105);
  // The first channel to become too hot shuts the card down. temp6 is the memory controller.
  CHECK(find_value(metrics, MetricId::temperature_shutdown, metric_instance::sensor::memory) == 95);
  CHECK(find_value(metrics, MetricId::temperature, metric_instance::sensor::memory) == 48);
  machine.tree().write(chip_folder + "temp4_emergency", "hot\n");
  PlainReading reading;
  const auto rest = read_metrics(machine, reading);
  CHECK_FALSE(find_value(rest, MetricId::temperature_shutdown, metric_instance::sensor::memory));
  CHECK(find_value(rest, MetricId::temperature_shutdown, metric_instance::sensor::package) == 105);
  CHECK(find_value(rest, MetricId::temperature, metric_instance::sensor::memory) == 48);
  const Diagnostic* const diagnostic = reading.find("temp4_emergency holds no number");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == missing_metric(MetricId::temperature_shutdown));
}

TEST_CASE("without the files of a newer kernel no temperature of shutdown is reported") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  PlainReading reading;
  for (const Metric& metric : read_metrics(machine, reading)) {
    CHECK(metric.id != MetricId::temperature_shutdown);
  }
}

TEST_CASE("a card whose energy counters are 0 has neither energy nor power") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  machine.tree().write(chip_folder + "energy2_input", "0\n");
  for (int i = 0; i < 2; ++i) {
    const auto telemetry =
        read_telemetry(machine, energy_joules | power_watts | temperature_celsius);
    REQUIRE(telemetry.result);
    CHECK_FALSE(telemetry.value.energy_joules);
    CHECK_FALSE(telemetry.value.power_watts);
    const Diagnostic* const diagnostic = telemetry.reading.find("is always 0");
    REQUIRE(diagnostic != nullptr);
    CHECK(diagnostic->field == (energy_joules | power_watts));
  }
  PlainReading reading;
  CHECK_FALSE(find_value(read_metrics(machine, reading), MetricId::energy_joules,
                         metric_instance::power_reading::package));
  CHECK(reading.find("is always 0")->subject == subject::metrics);
}

TEST_CASE("an energy counter that does not change yields no power") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  CHECK(read_telemetry(machine, power_watts).result.failure().reason == Reason::not_yet);
  platform::sleep_ns(30 * platform::ns_per_ms);
  const auto telemetry = read_telemetry(machine, power_watts | energy_joules);
  CHECK(telemetry.value.energy_joules == 5);
  CHECK_FALSE(telemetry.value.power_watts);
  const Diagnostic* const diagnostic = telemetry.reading.find("does not advance");
  REQUIRE(diagnostic != nullptr);
  CHECK(diagnostic->field == power_watts);
  CHECK(diagnostic->failure.reason == Reason::ambiguous);
  PlainReading reading;
  CHECK_FALSE(find_value(read_metrics(machine, reading), MetricId::power_watts,
                         metric_instance::power_reading::package));
  CHECK(reading.find("does not advance")->subject == subject::metrics);
  machine.tree().write(chip_folder + "energy2_input", "5600000\n");
  CHECK(read_telemetry(machine, power_watts).value.power_watts > 0);
}

TEST_CASE("power of the package is computed from two readings of energy") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  CHECK_FALSE(read_telemetry(machine, power_watts).result);
  platform::sleep_ns(30 * platform::ns_per_ms);
  machine.tree().write(chip_folder + "energy2_input", "5600000\n");
  const auto metrics = read_metrics(machine);
  for (const Metric& metric : metrics) {
    if (metric.id != MetricId::power_watts) continue;
    CHECK(metric.instance == metric_instance::power_reading::package);
    CHECK(*metric.window_ns >= 30 * platform::ns_per_ms);
    CHECK(*metric.value == doctest::Approx(6e8 / static_cast<double>(*metric.window_ns)));
  }
  CHECK(find_value(metrics, MetricId::power_watts, metric_instance::power_reading::package));
}

TEST_CASE("clocks and throttle reasons are read for every tile and media GT") {
  Machine machine;
  hmn_fake::PciDevice card = battlemage();
  add_gt(card, "tile0/gt0", "2100\n");
  add_gt(card, "tile0/gt1", "0\n");
  add_gt(card, "tile1/gt2", "1900\n");
  machine.add_pci(card, {card0, render128});
  const auto telemetry = read_telemetry(machine, core_clock_mhz | telemetry_field::throttle);
  REQUIRE(telemetry.result);
  CHECK(telemetry.value.core_clock_mhz == 2100u);
  CHECK(telemetry.value.throttle == 0u);
  const auto metrics = read_metrics(machine);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::core) == 2100);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::media) == 0);
  CHECK(find_value(metrics, MetricId::clock_mhz, metric_instance::clock::requested) == 1200);
  CHECK(find_value(metrics, MetricId::clock_limit_mhz, metric_instance::clock::media) == 2850);
  const std::string folder = "sys/" + hmn_fake::pci_folder(slot_address) + "/tile0/";
  machine.tree().write(folder + "gt0/freq0/throttle/status", "1\n");
  CHECK(read_telemetry(machine, telemetry_field::throttle).value.throttle == throttle::other);
  machine.tree().write(folder + "gt0/freq0/throttle/reason_pl1", "1\n");
  machine.tree().write(folder + "gt1/freq0/throttle/status", "1\n");
  machine.tree().write(folder + "gt1/freq0/throttle/reason_mem_thermal", "1\n");
  CHECK(read_telemetry(machine, telemetry_field::throttle).value.throttle ==
        (throttle::power | throttle::thermal));
}

TEST_CASE("load is cycles divided by the cycles of the engine's clock") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  const auto text = [](int rcs, int vcs, int clock) {
    const std::string total = std::to_string(clock);
    return "drm-driver:\txe\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\ndrm-cycles-rcs:\t" +
           std::to_string(rcs) + "\ndrm-total-cycles-rcs:\t" + total + "\ndrm-cycles-vcs:\t" +
           std::to_string(vcs) + "\ndrm-total-cycles-vcs:\t" + total +
           "\ndrm-engine-capacity-vcs:\t2\n";
  };
  machine.add_process(10, {{3, "/dev/null", text(100, 0, 1000)}});
  CHECK_FALSE(read_telemetry(machine, gpu_busy_percent).result);
  platform::sleep_ns(120 * platform::ns_per_ms);
  machine.tree().write("proc/10/fdinfo/3", text(300, 600, 2000));
  const auto telemetry = read_telemetry(machine, gpu_busy_percent);
  REQUIRE(telemetry.result);
  CHECK(*telemetry.value.gpu_busy_percent == 30);  // 600 of 1000, two engines
  PlainReading reading;
  const auto rows = machine.rows(0, reading);
  REQUIRE(rows.size() == 1);
  CHECK(*rows[0].busy_percent == 30);
  CHECK(rows[0].kinds == (usage_kind::graphics | usage_kind::media));
  CHECK_FALSE(rows[0].busy_ns);
}

TEST_CASE("a card without clients, or with idle ones, is left alone, including node and fdinfo") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(1, 1, 4 * gib, gib, 4 * gib, 0)).c_str());
  drm_test::ImpatientReader reader(machine);
  PoolList pools;
  bool has_client = false;
  SUBCASE("without clients") {
    reader.begin();
  }
  SUBCASE("with an idle client") {
    const auto text = [](int clock) {
      return "drm-driver:\txe\ndrm-client-id:\t1\ndrm-pdev:\t0000:03:00.0\n"
             "drm-cycles-rcs:\t100\ndrm-total-cycles-rcs:\t" +
             std::to_string(clock) + "\n";
    };
    machine.add_process(10, {{3, "/dev/null", text(1000)}});
    has_client = true;
    reader.begin();
    Telemetry telemetry;
    CHECK_FALSE(reader.source().telemetry(0, gpu_busy_percent, telemetry, reader.reading()));
    platform::sleep_ns(120 * platform::ns_per_ms);
    machine.tree().write("proc/10/fdinfo/3", text(2000));
    reader.begin();
  }
  REQUIRE(reader.source().memory(0, pools, reader.reading()));
  CHECK(pools.find(PoolKind::main)->used == gib);
  reader.source().finish(reader.reading());
  fake_drm_load("");
  reader.begin();
  CHECK(reader.source().memory(0, pools, reader.reading()).failure().code == Status::asleep);
  CHECK(reader.source().is_suspended());
  std::vector<Usage> rows;
  CHECK(reader.source().processes(0, rows, reader.reading()).failure().code == Status::asleep);
  CHECK(reader.source().is_suspended());
  Usage row;
  const Status expected = has_client ? Status::asleep : Status::no_process;
  CHECK(reader.source().process(0, 10, false, row, reader.reading()).failure().code == expected);
  CHECK(std::string_view(fake_drm_log()).empty());
}

TEST_CASE("a card with a client that reports no load is not left alone") {
  Machine machine;
  machine.add_pci(battlemage(), {card0, render128});
  fake_drm_load(("perfmon\nnode renderD128 xe\n" + region(1, 1, 4 * gib, gib, 4 * gib, 0)).c_str());
  machine.add_process(10, {{3, "/dev/null", "drm-driver:\txe\ndrm-client-id:\t1\n"}});
  drm_test::ImpatientReader reader(machine);
  PoolList pools;
  reader.begin();
  REQUIRE(reader.source().memory(0, pools, reader.reading()));
  reader.source().finish(reader.reading());
  reader.begin();
  CHECK(reader.source().memory(0, pools, reader.reading()));
  CHECK_FALSE(reader.source().is_suspended());
}

TEST_CASE("a virtual function does not report the sensors of its GPU") {
  Machine machine;
  hmn_fake::PciDevice virtual_function = intel_card("xe", "0000:03:00.1");
  virtual_function.files = battlemage().files;
  add_gt(virtual_function, "tile0/gt0", "1700\n");
  virtual_function.files["current_link_speed"] = "16.0 GT/s PCIe\n";
  machine.add_pci(battlemage(), {card0, render128});
  machine.add_pci(virtual_function, {{"card1", "/dev/full"}, {"renderD129", "/dev/zero"}});
  machine.tree().link("sys/" + hmn_fake::pci_folder("0000:03:00.1") + "/physfn", "../0000:03:00.0");
  PlainReading reading;
  const auto devices = machine.devices(reading);
  REQUIRE(devices.size() == 2);
  for (const Device& device : devices) {
    const bool is_partition = device.pci_bus_id.view() == "0000:03:00.1";
    Telemetry telemetry;
    const Result<void> result = machine.source().telemetry(device.slot, all, telemetry, reading);
    std::vector<Metric> metrics;
    REQUIRE(machine.source().metrics(device.slot, true, metrics, reading));
    CHECK(static_cast<bool>(result) != is_partition);
    CHECK(telemetry.temperature_celsius.has_value() != is_partition);
    CHECK(metrics.empty() == is_partition);
    if (is_partition)
      CHECK(result.failure().message.view().find("whole GPU") != std::string_view::npos);
  }
}
