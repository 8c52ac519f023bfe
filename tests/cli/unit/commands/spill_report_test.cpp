// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/commands/spill_report.hpp"

#include <doctest/doctest.h>

namespace {

using hypomnesis::spill_state;

constexpr std::uint64_t spilled_gib = std::uint64_t{1} << 30U;
constexpr std::uint64_t spilled_mib = std::uint64_t{1} << 20U;

hypomnesis::spill_info make_spill_info() {
  hypomnesis::spill_info info;
  info.state = spill_state::measurable;
  info.limit_bytes = info.peak_dedicated_bytes = 16 * spilled_gib;
  info.peak_shared_bytes = 4 * spilled_gib + 200 * spilled_mib;
  info.baseline_shared_bytes = 300 * spilled_mib;
  return info;
}

}  // namespace

TEST_CASE("the text report lists peaks, baseline and episodes") {
  auto info = make_spill_info();
  info.episode_count = 2;
  info.total_ns = 9'800'000'000;
  info.longest_ns = 6'700'000'000;
  info.first_label = "+12.4s";
  CHECK(hmn::cli::format_spill("hmn spill", info, false) ==
        "hmn spill: peak dedicated 16.0 GiB / 16.0 GiB\n"
        "           peak shared    4.2 GiB (baseline 300 MiB)\n"
        "           episodes       2 \u2014 total 9.8s, longest 6.7s, first +12.4s into run\n");
  info.episode_count = 0;
  info.limit_bytes.reset();
  CHECK(hmn::cli::format_spill("hmn watch", info, true) ==
        "hmn watch: peak dedicated 16.0 GiB\n"
        "           peak shared    4.2 GiB (baseline 300 MiB)\n"
        "           episodes       0 - no spill observed\n");
}

TEST_CASE("with partial visibility the report denies a spill only for the visible part") {
  auto info = make_spill_info();
  info.notes = hypomnesis::note::lower_bound;
  info.limit_bytes.reset();
  CHECK(hmn::cli::format_spill("hmn spill", info, true) ==
        "hmn spill: peak dedicated >=16.0 GiB\n"
        "           peak shared    >=4.2 GiB (baseline 300 MiB)\n"
        "           episodes       0 - no spill observed in the part that is visible\n");
  hmn::cli::JsonObject json;
  hmn::cli::add_spill_json(info, {}, json);
  CHECK(json.text().find(R"("notes":["lower_bound"])") != std::string::npos);
}

TEST_CASE("the JSON report begins with the keys of older versions") {
  auto info = make_spill_info();
  info.state = spill_state::measurable | spill_state::ever;
  info.observation_count = 200;
  info.episode_count = 2;
  info.total_ns = 9'800'000'000;
  hypomnesis::episode first;
  first.rules = hypomnesis::spill_rule::shared;
  first.start_label = "+12.4s";
  first.end_label = "+15.5s";
  first.peak_shared_bytes = 3 * spilled_gib;
  first.observation_count = 31;
  first.duration_ns = 3'100'000'000;
  hypomnesis::episode second;
  second.number = 1;
  second.start_label = "+20.0s";
  second.peak_shared_bytes = 4 * spilled_gib;
  second.observation_count = 67;
  second.duration_ns = 6'700'000'000;
  hmn::cli::JsonObject json;
  hmn::cli::add_spill_json(info, {first, second}, json);
  CHECK(json.text() ==
        R"({"measurable":true,"spilled":true,"observations":200,)"
        R"("baseline_shared_bytes":314572800,"peak_shared_bytes":4504682496,)"
        R"("peak_dedicated_bytes":17179869184,"dedicated_limit_bytes":17179869184,)"
        R"("total_spill_duration_ms":9800,"episodes":[{"start_label":"+12.4s",)"
        R"("end_label":"+15.5s","peak_shared_bytes":3221225472,"observations":31,)"
        R"("duration_ms":3100,"number":0,"rules":["shared"],"peak_evicted_bytes":null},)"
        R"({"start_label":"+20.0s","end_label":null,"peak_shared_bytes":4294967296,)"
        R"("observations":67,"duration_ms":6700,"number":1,"rules":[],)"
        R"("peak_evicted_bytes":null}],"episode_count":2,"skipped":0,)"
        R"("baseline_evicted_bytes":null,"peak_evicted_bytes":null,"notes":[],"reason":null})");
}

TEST_CASE("a time offset has as many decimals as its interval needs") {
  CHECK(hmn::cli::format_sample_time(3800, 100) == "+3.8s");
  CHECK(hmn::cli::format_sample_time(0, 1000) == "+0.0s");
  CHECK(hmn::cli::format_sample_time(3850, 50) == "+3.85s");
  CHECK(hmn::cli::format_sample_time(3851, 1) == "+3.851s");
}

TEST_CASE("an unmeasurable spill is reported with its reason, not as zero") {
  hypomnesis::spill_info info;
  info.message = "the reason";
  CHECK(hmn::cli::format_spill("hmn watch", info, false) ==
        "hmn watch: spill not measurable: the reason\n");
  hmn::cli::JsonObject json;
  hmn::cli::add_spill_json(info, {}, json);
  CHECK(
      json.text().starts_with("{\"measurable\":false,\"spilled\":null,\"observations\":0,"
                              "\"baseline_shared_bytes\":null,"));
}
