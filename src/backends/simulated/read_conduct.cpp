// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/record_fields.hpp"
#include "backends/simulated/words.hpp"
#include "platform/file.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t longest_delay_ms = 86'400'000;

constexpr std::array usage_field_words = {entry("used", usage_field::used)};

// Longest list first; shorter ones are its prefixes.
constexpr std::array call_words = {
    entry("any", call::any),
    entry("pools", call::pools),
    entry("telemetry", call::telemetry),
    entry("self", call::self),
    entry("process", call::process),
    entry("processes", call::processes),
    entry("metrics", call::metrics),
    entry("open", call::open),
    entry("devices", call::devices),
    entry("memory", call::memory),
    entry("process_memory", call::process_memory),
    entry("system", call::system),
};
constexpr std::size_t device_calls = 7;
constexpr std::size_t driver_calls = 9;

std::span<const word> first_calls(std::size_t count) {
  return std::span<const word>(call_words).first(count);
}

std::string_view word_of(call which) {
  for (const word& each : call_words) {
    if (each.value == static_cast<std::uint32_t>(which)) return each.name;
  }
  return {};
}

call read_call(object_reader& o, std::span<const word> words) {
  const std::optional<std::uint32_t> found = o.one_word("call", words);
  if (!found) o.missing("call", list_of(words));
  return static_cast<call>(found.value_or(0));
}

window read_window(object_reader& o) {
  window w;
  w.from = o.whole("from_reading", 1, most64).value_or(1);
  w.count = o.whole("readings", 1, most64);
  return w;
}

std::uint32_t read_failing_fields(object_reader& o, call on) {
  switch (on) {
    case call::pools:
      return o.any_words("fields", words_of(described_pool())).value_or(0);
    case call::telemetry:
      return o.any_words("fields", words_of(described_telemetry())).value_or(0);
    case call::self:
    case call::process:
    case call::processes:
      return o.any_words("fields", usage_field_words).value_or(0);
    default:
      return 0;
  }
}

native_code read_native(object_reader& o) {
  native_code native;
  const json::value* v = o.get("native");
  if (v == nullptr) return native;
  const place here(o.at(), "native");
  object_reader n(*v, here, o.found());
  const std::optional<std::uint32_t> domain = n.one_word("domain", domain_words);
  if (!domain) n.missing("domain", list_of(domain_words));
  const auto code = n.whole("code", 0, std::numeric_limits<std::int32_t>::max());
  if (!code) n.missing("code", "the number that the driver or system gave");
  n.finish();
  native.domain = static_cast<native_domain>(domain.value_or(0));
  native.code = static_cast<std::int32_t>(code.value_or(0));
  return native;
}

fault read_fault(const json::value& v, const place& at, problems& found, level where) {
  object_reader o(v, at, found);
  fault f;
  f.on = read_call(o, first_calls(where == level::device ? device_calls : call_words.size()));
  f.when = read_window(o);
  if (where == level::device) f.fields = read_failing_fields(o, f.on);
  f.why = read_failure(o, std::string("the call ").append(word_of(f.on)));
  o.finish();
  return f;
}

void read_length(object_reader& o, delay& d) {
  constexpr std::array forever = {entry("forever", 1U)};
  const std::optional<std::uint64_t> ms = o.whole("ms", 0, longest_delay_ms);
  const std::optional<std::uint32_t> hang = o.one_word("hang", forever);
  const std::optional<std::string_view> until = o.text("hang_until");
  if ((ms ? 1 : 0) + (hang ? 1 : 0) + (until ? 1 : 0) != 1) {
    o.found().add(o.at(), "exactly one of \"ms\", \"hang\" and \"hang_until\" is needed");
  }
  if (until && !platform::is_absolute(*until)) {
    o.found().add(place(o.at(), "hang_until"), "the path is not absolute");
  }
  d.ns = ms.value_or(0) * ns_per_ms;
  d.forever = hang.has_value();
  d.until = until.value_or("");
}

delay read_delay(const json::value& v, const place& at, problems& found, level where) {
  object_reader o(v, at, found);
  delay d;
  d.on = read_call(o, first_calls(where == level::device ? device_calls : driver_calls));
  d.when = read_window(o);
  read_length(o, d);
  o.finish();
  return d;
}

}  // namespace

failure read_failure(object_reader& o, std::string_view what) {
  failure why;
  why.from = source::simulated;
  const std::optional<std::uint32_t> code = o.one_word("status", status_words);
  if (!code) o.missing("status", list_of(status_words));
  why.code = static_cast<status>(code.value_or(0));
  why.native = read_native(o);
  const auto usual = std::string("the machine file makes ").append(what).append(" fail");
  why.message = o.text("message").value_or(usual);
  return why;
}

std::uint32_t read_notes(object_reader& o) {
  return o.any_words("notes", note_words).value_or(0);
}

conduct read_conduct(object_reader& o, level where) {
  conduct c;
  o.each("failures", [&](const json::value& v, const place& at) {
    c.faults.push_back(read_fault(v, at, o.found(), where));
  });
  o.each("delays", [&](const json::value& v, const place& at) {
    c.delays.push_back(read_delay(v, at, o.found(), where));
  });
  return c;
}

}  // namespace hmn::simulated
