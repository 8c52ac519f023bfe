// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/read_parts.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "backends/simulated/fields.hpp"
#include "platform/file.hpp"

namespace hmn::simulated {
namespace {

bool is_left_out(object_reader& o, std::string_view key) {
  return o.get_or_null(key) == nullptr;
}

// Computes total - reserved - part: the value of free or used that the file leaves out.
std::optional<std::uint64_t> rest_of(object_reader& o, const pool& p, std::uint64_t part) {
  const std::uint64_t reserved = p.reserved.value_or(0);
  if (reserved <= *p.total && part <= *p.total - reserved) return *p.total - reserved - part;
  o.found().add(o.at(),
                "the values exceed \"total\": correct them, or give both \"free\" and \"used\"");
  return {};
}

void complete(object_reader& o, pool& p) {
  if (!p.total) return;
  if (p.used && is_left_out(o, "free")) {
    p.free = rest_of(o, p, *p.used);
  } else if (p.free && is_left_out(o, "used")) {
    p.used = rest_of(o, p, *p.free);
  }
}

constexpr std::uint64_t most_parts = pools::most - 1;

pool read_pool(object_reader& o) {
  pool p;
  p.from = source::simulated;
  const std::optional<std::uint32_t> kind = o.one_word("kind", pool_kind_words);
  if (!kind) o.missing("kind", list_of(pool_kind_words));
  p.kind = static_cast<pool_kind>(kind.value_or(static_cast<std::uint32_t>(pool_kind::vram)));
  p.instance = static_cast<std::uint32_t>(o.whole("instance", 0, most_parts).value_or(0));
  read_fields(o, described_pool(), &p);
  complete(o, p);
  const auto allocated = static_cast<std::uint32_t>(accounting::allocated);
  p.accounting =
      static_cast<accounting>(o.one_word("accounting", accounting_words).value_or(allocated));
  p.is_main = o.truth("main").value_or(false) && p.instance == 0;  // parts are never the main one
  p.notes = read_notes(o);
  o.finish();
  return p;
}

void check_against(const std::vector<pool>& before, const pool& p, const place& at,
                   problems& found) {
  for (const pool& other : before) {
    if (other.kind == p.kind && other.instance == p.instance) {
      found.add(at, "a pool of this kind stands before it already");
    }
    if (other.is_main && p.is_main) found.add(at, "another pool is the main one already");
  }
}

}  // namespace

std::unique_ptr<const pools> read_pools(object_reader& device) {
  std::vector<pool> all;
  device.each("pools", [&](const json::value& v, const place& at) {
    object_reader o(v, at, device.found());
    const pool p = read_pool(o);
    check_against(all, p, at, device.found());
    if (all.size() == pools::most) device.found().add(at, "too many pools");
    all.push_back(p);
  });
  auto main = std::ranges::find_if(all, [](const pool& p) { return p.is_main; });
  if (main == all.end()) main = std::ranges::find(all, 0U, &pool::instance);
  if (main != all.end()) {
    main->is_main = true;
    std::rotate(all.begin(), main, main + 1);
  }
  if (all.empty()) return {};
  auto out = std::make_unique<pools>();
  for (const pool& p : all) out->add(p);
  return out;
}

std::unique_ptr<const telemetry> read_telemetry(object_reader& device) {
  const json::value* v = device.get("telemetry");
  if (v == nullptr) return {};
  const place here(device.at(), "telemetry");
  object_reader o(*v, here, device.found());
  auto t = std::make_unique<telemetry>();
  t->from = source::simulated;
  t->sources = bit_of(source::simulated);
  read_fields(o, described_telemetry(), t.get());
  t->notes = read_notes(o);
  o.finish();
  return t;
}

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

FieldSet read_failing_fields(object_reader& o, call on) {
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
  return static_cast<std::uint32_t>(o.any_words("notes", note_words).value_or(0));
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

namespace {

constexpr std::array otherwise_words = {entry("absent", 0U), entry("real", 1U)};

void read_process(object_reader& o, described_process& p) {
  p.memory.from = source::simulated;
  p.facts.from = source::simulated;
  read_fields(o, described_process_memory(), &p.memory);
  p.memory.notes = read_notes(o);
  read_facts(o, p.facts);
  p.facts.host_resident = p.memory.resident;
  p.facts.process_key = p.memory.process_key;
}

void read_listed(object_reader& host, machine& out) {
  std::vector<std::uint32_t> pids;
  out.processes.reserve(host.length("processes"));
  pids.reserve(out.processes.capacity());
  host.each("processes", [&](const json::value& v, const place& at) {
    object_reader o(v, at, host.found());
    described_process& p = out.processes.emplace_back();
    read_process(o, p);
    bool is_self = false;
    read_pid(o, 0, p.facts, is_self);
    o.finish();
    if (is_self) host.found().add(at, "this process is described by \"self\" of \"host\"");
    p.memory.pid = p.facts.pid;
    pids.push_back(p.facts.pid);
  });
  if (const auto twice = find_repeated(pids)) {
    host.found().add(place(place(host.at(), "processes"), *twice),
                     "this process stands here already");
  }
  if (std::ranges::is_sorted(pids)) return;
  std::ranges::stable_sort(
      out.processes,
      [](const described_process& a, const described_process& b) { return pid_of(a) < pid_of(b); });
}

void read_self(object_reader& host, machine& out) {
  const json::value* v = host.get("self");
  if (v == nullptr) return;
  const place here(host.at(), "self");
  object_reader o(*v, here, host.found());
  read_process(o, out.self.emplace());
  o.finish();
}

void read_system(object_reader& host, machine& out) {
  const json::value* v = host.get("system");
  if (v == nullptr) return;
  const place here(host.at(), "system");
  object_reader o(*v, here, host.found());
  system_memory s;
  s.from = source::simulated;
  read_fields(o, described_system_memory(), &s);
  s.notes = read_notes(o);
  o.finish();
  out.system = s;
}

}  // namespace

void read_host(object_reader& root, machine& out) {
  const json::value* v = root.get("host");
  if (v == nullptr) return;
  const place here(root.at(), "host");
  if (const auto* word = v->as<std::string>()) {
    out.real_host = *word == "real";
    if (!out.real_host) root.found().refuse(here, *v, "\"real\" or an object");
    return;
  }
  object_reader host(*v, here, root.found());
  out.real_host = host.one_word("otherwise", otherwise_words).value_or(0) != 0;
  read_self(host, out);
  read_system(host, out);
  read_listed(host, out);
  host.finish();
}

}  // namespace hmn::simulated
