// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/missing_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <tuple>

#include "cli/exporter/families.hpp"
#include "cli/text/diagnostics.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

using hypomnesis::status_code;

// Counts the fields named, each as often as the diagnostic was merged.
std::uint64_t values_in(const hypomnesis::diagnostic& of) {
  const int fields = of.field ? std::popcount(*of.field) : 0;
  return std::uint64_t(std::max(fields, 1)) * std::max(of.count, 1U);
}

// A source that certainly has no device, or a warning, hides nothing.
bool is_missing_value(const hypomnesis::diagnostic& of) {
  return !is_trace(of) && of.status != status_code::no_device && of.status != status_code::ok;
}

void add_source_error(const hypomnesis::diagnostic& of, samples& to) {
  if (of.device_index || of.pid || of.native_domain == hypomnesis::domain::none || !is_fault(of))
    return;
  label_set with;
  with.add("source", hypomnesis::name(of.backend))
      .add("domain", or_unknown(domain_word(of.native_domain)))
      .add("code", fmt::format("{}", of.native_code));
  to.add(families::source_error, with, true);
}

}  // namespace

void collect_missing(const std::vector<hypomnesis::diagnostic>& all, const device_ids& ids,
                     samples& to) {
  std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> counts;
  for (const auto& each : all) {
    if (!is_missing_value(each)) continue;
    const auto key = std::make_tuple(each.device_index ? ids.of(*each.device_index) : std::string(),
                                     std::string(or_unknown(subject_word(each.subject))),
                                     std::string(hypomnesis::name(each.reason)));
    counts[key] += values_in(each);
    add_source_error(each, to);
  }
  for (const auto& [key, count] : counts) {
    label_set with;
    with.add("device", std::get<0>(key))
        .add("subject", std::get<1>(key))
        .add("reason", std::get<2>(key));
    to.add(families::reading_error, with, sample_value(count));
  }
}

}  // namespace hmn::cli
