// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/spill_report.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "cli/handles.hpp"

namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30U;
constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

hmn_spill_info observed() {
  auto info = hmn::cli::sized<hmn_spill_info>();
  info.state = HMN_SPILL_MEASURABLE;
  info.present = HMN_SPILL_INFO_HAS_OBSERVED | HMN_SPILL_INFO_HAS_LIMIT;
  info.limit_bytes = info.peak_dedicated_bytes = 16 * gib;
  info.peak_shared_bytes = 4 * gib + 200 * mib;
  info.baseline_shared_bytes = 300 * mib;
  return info;
}

}  // namespace

TEST_CASE("HV97, HV98: the report of a run") {
  auto info = observed();
  info.episode_count = 2;
  info.total_ns = 9'800'000'000;
  info.longest_ns = 6'700'000'000;
  std::strcpy(info.first_label, "+12.4s");
  CHECK(hmn::cli::spill_text("hmn spill", info, false) ==
        "hmn spill: peak dedicated 16.0 GiB / 16.0 GiB\n"
        "           peak shared    4.2 GiB (baseline 300 MiB)\n"
        "           episodes       2 \u2014 total 9.8s, longest 6.7s, first +12.4s into run\n");
  info.episode_count = 0;
  info.present = HMN_SPILL_INFO_HAS_OBSERVED;
  CHECK(hmn::cli::spill_text("hmn watch", info, true) ==
        "hmn watch: peak dedicated 16.0 GiB\n"
        "           peak shared    4.2 GiB (baseline 300 MiB)\n"
        "           episodes       0 - no spill observed\n");
}

TEST_CASE("what was not measured is said, and is no zero") {
  auto info = hmn::cli::sized<hmn_spill_info>();
  std::strcpy(info.message, "the reason");
  CHECK(hmn::cli::spill_text("hmn watch", info, false) ==
        "hmn watch: spill not measurable: the reason\n");
  hmn::cli::json_object out;
  hmn::cli::add_spill_json(info, {}, out);
  CHECK(
      out.text().starts_with("{\"measurable\":false,\"spilled\":null,\"observations\":0,"
                             "\"baseline_shared_bytes\":null,"));
}
