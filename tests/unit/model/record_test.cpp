// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/record.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <optional>

#include "model/host_memory.hpp"
#include "model/pool.hpp"
#include "model/telemetry.hpp"
#include "model/usage.hpp"

using namespace hmn;

// Fields as bindings/generate reads them in the header.
namespace header {
extern "C" {
#include "bindings/c/records.h"
}
}  // namespace header

namespace {

template <class Record>
void check_keys_and_bits(const header::field* expected) {
  FieldSet expected_bits = 0;
  for (; expected->name != nullptr; ++expected) expected_bits |= expected->bit;
  FieldSet bits = 0;
  for (const Field& field : record_fields<Record>()) {
    CAPTURE(field.key);
    CHECK(!field.key.empty());
    CHECK((field.bit & (field.bit - 1)) == 0);
    bits |= field.bit;
  }
  CHECK(bits == expected_bits);
}

}  // namespace

TEST_CASE("every presence bit of the header has a field") {
  check_keys_and_bits<ProcessMemory>(header::process_memory_fields);
  check_keys_and_bits<SystemMemory>(header::system_memory_fields);
  check_keys_and_bits<Device>(header::device_fields);
  check_keys_and_bits<Pool>(header::pool_fields);
  check_keys_and_bits<Telemetry>(header::telemetry_fields);
  check_keys_and_bits<Metric>(header::metric_fields);
  check_keys_and_bits<Usage>(header::usage_fields);
}

TEST_CASE("a copy has every kind of field, and no bit for an unknown one") {
  Telemetry telemetry;
  telemetry.source = Source::drm;
  telemetry.sources = source_bit(Source::drm);
  telemetry.power_watts = 1.5;
  telemetry.fan_rpm = 0;
  telemetry.pcie_tx_bytes = ~std::uint64_t{0};
  telemetry.age_ns = 7;
  hmn_telemetry out{};
  copy_to_c(telemetry, out);
  CHECK(out.present ==
        (HMN_TELEMETRY_HAS_POWER | HMN_TELEMETRY_HAS_FAN_RPM | HMN_TELEMETRY_HAS_PCIE_TX));
  CHECK(out.backend == HMN_BACKEND_DRM);
  CHECK(out.backends == 1U << HMN_BACKEND_DRM);
  CHECK(out.power_watts == 1.5);
  CHECK(out.fan_rpm == 0);
  CHECK(out.pcie_tx_bytes == ~std::uint64_t{0});
  CHECK(out.p_state == 0);
  CHECK(out.age_ns == 7);
}

TEST_CASE("texts are copied with a terminator, and a truncated one is noted") {
  Device device;
  device.name.assign("Card");
  device.pci_bus_id.assign("0000:01:00.0 and more than the field holds");
  device.instance = MigInstance{3, 4};
  hmn_device out{};
  copy_to_c(device, out);
  CHECK(std::strcmp(out.name, "Card") == 0);
  CHECK(std::strlen(out.pci_bus_id) == sizeof out.pci_bus_id - 1);
  CHECK(out.notes == HMN_NOTE_TRUNCATED);
  CHECK(out.gpu_instance == 3);
  CHECK(out.compute_instance == 4);
  CHECK(out.present == (HMN_DEVICE_HAS_NAME | HMN_DEVICE_HAS_PCI | HMN_DEVICE_HAS_INSTANCE));
}

TEST_CASE("only requested fields that are missing are taken") {
  Pool target;
  target.total = 100;
  Pool source;
  source.total = 90;
  source.used = 10;
  source.free = 80;
  CHECK(fill_missing(pool_field::total | pool_field::used, target, source) == pool_field::used);
  CHECK(target.total == 100U);
  CHECK(target.used == 10U);
  CHECK(!target.free);
}

TEST_CASE("a missing text is taken whole") {
  Device target;
  Device source;
  source.uuid.assign("GPU-1");
  CHECK(fill_missing(device_field::uuid, target, source) == device_field::uuid);
  CHECK(target.uuid.view() == "GPU-1");
  CHECK(target.uuid == source.uuid);
}

TEST_CASE("numbers are set and cleared by their field") {
  Telemetry telemetry;
  for (const Field& field : record_fields<Telemetry>()) {
    if (field.bit == 0) continue;
    if (field.type == FieldType::real) {
      field.set(&telemetry, 2.5);
      CHECK((field.get(&telemetry) == RecordValue(2.5)));
    } else {
      field.set(&telemetry, std::uint64_t{3});
      CHECK(get_number(field, &telemetry) == 3);
    }
  }
  CHECK(present_bits(telemetry) == telemetry_field::all);
  clear_fields(telemetry_field::power_watts | telemetry_field::p_state, telemetry);
  CHECK(!telemetry.power_watts);
  CHECK(!telemetry.p_state);
  CHECK(telemetry.fan_rpm == 3U);
}

TEST_CASE("an enumeration field has words") {
  for (const Field& field : record_fields<Usage>()) {
    if (field.key == "name_state") CHECK(unit_words(field.unit).size() == 5);
    if (field.key == "used_bytes") CHECK(unit_words(field.unit).empty());
  }
}

TEST_CASE("records are the same if their known fields are equal") {
  hmn::Device first;
  first.name.assign("GPU");
  first.pci_device = 0;
  first.instance = hmn::MigInstance{1, 2};
  hmn::Device second = first;
  CHECK(hmn::is_same_record(first, second));
  second.pci_device.reset();  // unknown is not 0
  CHECK_FALSE(hmn::is_same_record(first, second));
  second = first;
  second.name.assign("GPV");
  CHECK_FALSE(hmn::is_same_record(first, second));
  second = first;
  second.instance->compute = 3;
  CHECK_FALSE(hmn::is_same_record(first, second));
  second = first;
  second.state = hmn::State::lost;
  CHECK_FALSE(hmn::is_same_record(first, second));
  hmn::Telemetry hot;
  hot.temperature_celsius = 40.5;
  hmn::Telemetry cold = hot;
  CHECK(hmn::is_same_record(hot, cold));
  cold.temperature_celsius = 40.25;
  CHECK_FALSE(hmn::is_same_record(hot, cold));
}
