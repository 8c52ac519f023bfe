// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/field_words.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "cli/handles.hpp"
#include "cli/text/diagnostics.hpp"

using namespace hmn::cli;

namespace {

hmn_diagnostic about(hmn_flags subject, hmn_flags field) {
  auto d = sized<hmn_diagnostic>();
  d.present = HMN_DIAGNOSTIC_HAS_FIELD;
  d.subject = subject;
  d.field = field;
  d.count = 1;
  return d;
}

}  // namespace

TEST_CASE("figures have names") {
  CHECK(field_words(
            about(HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_ENERGY | HMN_TELEMETRY_HAS_P_STATE)) ==
        "energy, P-state");
  // The same bit is another figure of another subject.
  CHECK(field_words(about(HMN_COLLECT_TELEMETRY, 1 << 1)) == "load of the memory controller");
  CHECK(field_words(about(HMN_COLLECT_POOLS, 1 << 1)) == "free memory");
  CHECK(field_words(about(HMN_COLLECT_DEVICES, 1 << 1)) == "UUID");
  CHECK(field_words(about(HMN_COLLECT_METRICS, HMN_METRIC_VOLTAGE)) == "voltage");
}

TEST_CASE("what is about a whole subject, or a figure of another one, has no names") {
  CHECK(field_words(about(HMN_COLLECT_TELEMETRY, HMN_TELEMETRY_HAS_WINDOW)).empty());
  auto whole = about(HMN_COLLECT_TELEMETRY, 0);
  whole.present = 0;
  CHECK(field_words(whole).empty());
}

TEST_CASE("a line with its figures") {
  auto d = about(HMN_COLLECT_POOLS, HMN_POOL_HAS_USED);
  d.present |= HMN_DIAGNOSTIC_HAS_DEVICE;
  d.device_index = 2;
  d.count = 3;
  std::strcpy(d.message, "the driver does not tell it");
  CHECK(describe(d) == "GPU 2: the driver does not tell it (and 2 more like it)");
  CHECK(describe_with_fields(d) ==
        "GPU 2: used memory: the driver does not tell it (and 2 more like it)");
  d.present = HMN_DIAGNOSTIC_HAS_DEVICE;
  CHECK(describe_with_fields(d) == describe(d));
}
