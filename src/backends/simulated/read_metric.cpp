// SPDX-License-Identifier: MIT OR Apache-2.0

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/words.hpp"
#include "model/words.hpp"

namespace hmn::simulated {
namespace {

constexpr double farthest = 1e18;

// Looks up the name returned by hmn_metric_name.
const metric_words* read_id(object_reader& o) {
  constexpr std::string_view expected = "a metric, such as \"temperature\"";
  const json::value* v = o.get("metric");
  if (v == nullptr) {
    o.missing("metric", expected);
    return nullptr;
  }
  const auto* name = v->as<std::string>();
  const metric_words* const words = name != nullptr ? words_of_metric(*name) : nullptr;
  if (words == nullptr) o.found().refuse(place(o.at(), "metric"), *v, expected);
  return words;
}

// Reads a number, or a word of the metric.
std::uint32_t read_instance(object_reader& o, const metric_words& words) {
  const json::value* v = o.get("instance");
  if (v == nullptr) return 0;
  const auto* number = v->as<std::uint64_t>();
  if (number != nullptr && *number <= most32) return static_cast<std::uint32_t>(*number);
  const auto* name = v->as<std::string>();
  const auto named = name != nullptr ? number_of(words.instances, *name) : std::nullopt;
  if (!named) {
    o.found().refuse(place(o.at(), "instance"), *v, "a number, or an instance of the metric");
  }
  return static_cast<std::uint32_t>(named.value_or(0));
}

std::optional<failure> read_missing(object_reader& o) {
  const json::value* v = o.get("missing");
  if (v == nullptr) return {};
  const place here(o.at(), "missing");
  object_reader m(*v, here, o.found());
  failure why = read_failure(m, "this value");
  m.finish();
  return why;
}

}  // namespace

described_metric read_metric(const json::value& v, const place& at, problems& found) {
  object_reader o(v, at, found);
  described_metric d;
  metric& m = d.value;
  m.from = source::simulated;
  if (const metric_words* const words = read_id(o)) {
    m.id = words->id;
    m.instance = read_instance(o, *words);
  }
  if (const auto pid = o.whole("pid", 1, most32)) m.pid = static_cast<std::uint32_t>(*pid);
  m.value = o.real("value", -farthest, farthest);
  m.count = o.whole("count", 0, most64);
  m.window_ns = o.whole("window_ns", 0, most64);
  m.notes = read_notes(o);
  d.is_slow = o.truth("slow").value_or(false);
  d.missing = read_missing(o);
  if ((m.value ? 1 : 0) + (m.count ? 1 : 0) + (d.missing ? 1 : 0) != 1) {
    found.add(at, "exactly one of \"value\", \"count\" and \"missing\" is needed");
  }
  o.finish();
  return d;
}

}  // namespace hmn::simulated
