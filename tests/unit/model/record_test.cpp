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
  for (const Field& f : fields_of<Record>()) {
    CAPTURE(f.key);
    CHECK(!f.key.empty());
    CHECK((f.bit & (f.bit - 1)) == 0);
    bits |= f.bit;
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

TEST_CASE("a copy has each kind of field, and no bit for what is unknown") {
  Telemetry t;
  t.from = Source::drm;
  t.sources = bit_of(Source::drm);
  t.power_watts = 1.5;
  t.fan_rpm = 0;
  t.pcie_tx_bytes = ~std::uint64_t{0};
  t.age_ns = 7;
  hmn_telemetry out{};
  copy_out(t, out);
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

TEST_CASE("texts are copied with their terminator, and a cut one is noted") {
  Device d;
  d.name.assign("Card");
  d.pci_bus_id.assign("0000:01:00.0 and more than the field holds");
  d.instance = MigInstance{3, 4};
  hmn_device out{};
  copy_out(d, out);
  CHECK(std::strcmp(out.name, "Card") == 0);
  CHECK(std::strlen(out.pci_bus_id) == sizeof out.pci_bus_id - 1);
  CHECK(out.notes == HMN_NOTE_TRUNCATED);
  CHECK(out.gpu_instance == 3);
  CHECK(out.compute_instance == 4);
  CHECK(out.present == (HMN_DEVICE_HAS_NAME | HMN_DEVICE_HAS_PCI | HMN_DEVICE_HAS_INSTANCE));
}

TEST_CASE("what is missing is taken, of the bits that are asked for") {
  Pool into;
  into.total = 100;
  Pool from;
  from.total = 90;
  from.used = 10;
  from.free = 80;
  CHECK(take_missing(pool_field::total | pool_field::used, into, from) == pool_field::used);
  CHECK(into.total == 100U);
  CHECK(into.used == 10U);
  CHECK(!into.free);
}

TEST_CASE("a text that is missing is taken whole") {
  Device into;
  Device from;
  from.uuid.assign("GPU-1");
  CHECK(take_missing(device_field::uuid, into, from) == device_field::uuid);
  CHECK(into.uuid.view() == "GPU-1");
  CHECK(into.uuid == from.uuid);
}

TEST_CASE("numbers are set and forgotten by their field") {
  Telemetry t;
  for (const Field& f : fields_of<Telemetry>()) {
    if (f.bit == 0) continue;
    if (f.type == FieldType::real) {
      f.set(&t, 2.5);
      CHECK((f.get(&t) == RecordValue(2.5)));
    } else {
      f.set(&t, std::uint64_t{3});
      CHECK(number_in(f, &t) == 3);
    }
  }
  CHECK(present_bits(t) == telemetry_field::all);
  forget(telemetry_field::power_watts | telemetry_field::p_state, t);
  CHECK(!t.power_watts);
  CHECK(!t.p_state);
  CHECK(t.fan_rpm == 3U);
}

TEST_CASE("a field that stands for an enumeration has its words") {
  for (const Field& f : fields_of<Usage>()) {
    if (f.key == "name_state") CHECK(words_for(f.unit).size() == 5);
    if (f.key == "used_bytes") CHECK(words_for(f.unit).empty());
  }
}

TEST_CASE("records are the same whose fields are known and equal") {
  hmn::Device a;
  a.name.assign("GPU");
  a.pci_device = 0;
  a.instance = hmn::MigInstance{1, 2};
  hmn::Device b = a;
  CHECK(hmn::is_same_record(a, b));
  b.pci_device.reset();  // unknown is not 0
  CHECK_FALSE(hmn::is_same_record(a, b));
  b = a;
  b.name.assign("GPV");
  CHECK_FALSE(hmn::is_same_record(a, b));
  b = a;
  b.instance->compute = 3;
  CHECK_FALSE(hmn::is_same_record(a, b));
  b = a;
  b.state = hmn::State::lost;
  CHECK_FALSE(hmn::is_same_record(a, b));
  hmn::Telemetry hot;
  hot.temperature_celsius = 40.5;
  hmn::Telemetry cold = hot;
  CHECK(hmn::is_same_record(hot, cold));
  cold.temperature_celsius = 40.25;
  CHECK_FALSE(hmn::is_same_record(hot, cold));
}
