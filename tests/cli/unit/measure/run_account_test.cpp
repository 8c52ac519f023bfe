// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/measure/run_account.hpp"

#include <doctest/doctest.h>

using namespace hmn::cli;

namespace {

run_sample without_values(const char* why) {
  run_sample sample;
  sample.host.emplace().why = why;
  device_sample& device = sample.devices.emplace_back();
  device.why = device.why_used = why;
  return sample;
}

}  // namespace

TEST_CASE("the end of the command hides no earlier reason for a missing value") {
  run_account account(1);
  CHECK(account.why() == ended_too_early);
  account.add(without_values("no answer"));
  account.add(without_values(ended_too_early));
  CHECK(account.why() == "no answer");
  CHECK(account.devices()[0].why == "no answer");
  CHECK(account.devices()[0].why_used == "no answer");
  account.add(without_values("access denied"));
  CHECK(account.devices()[0].why == "access denied");
}

TEST_CASE("a reading without a value is a gap, unless the command had ended") {
  run_account account(1);
  auto sample = without_values("");
  sample.host->resident_bytes = 7;
  sample.devices[0].command_bytes = sample.devices[0].used_bytes = 8;
  account.add(sample);
  account.add(without_values(ended_too_early));
  CHECK(account.resident().gaps() == 0);
  CHECK(account.devices()[0].command.gaps() == 0);
  account.add(without_values("no answer"));
  CHECK(account.resident().count() == 1);
  CHECK(account.resident().gaps() == 1);
  CHECK(account.devices()[0].command.gaps() == 1);
}

TEST_CASE("a command that ended before any reading has that reason") {
  run_account account(1);
  account.add(without_values(ended_too_early));
  CHECK(account.devices()[0].why == ended_too_early);
}
