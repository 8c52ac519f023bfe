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

bool is_left_out(ObjectReader& o, std::string_view key) {
  return o.get_or_null(key) == nullptr;
}

// Computes total - reserved - part: the value of free or used that the file leaves out.
std::optional<std::uint64_t> rest_of(ObjectReader& o, const Pool& p, std::uint64_t part) {
  const std::uint64_t reserved = p.reserved.value_or(0);
  if (reserved <= *p.total && part <= *p.total - reserved) return *p.total - reserved - part;
  o.found().add(o.at(),
                "the values exceed \"total\": correct them, or give both \"free\" and \"used\"");
  return {};
}

void complete(ObjectReader& o, Pool& p) {
  if (!p.total) return;
  if (p.used && is_left_out(o, "free")) {
    p.free = rest_of(o, p, *p.used);
  } else if (p.free && is_left_out(o, "used")) {
    p.used = rest_of(o, p, *p.free);
  }
}

constexpr std::uint64_t most_parts = Pools::most - 1;

Pool read_pool(ObjectReader& o) {
  Pool p;
  p.from = Source::simulated;
  const std::optional<std::uint32_t> kind = o.one_word("kind", pool_kind_words);
  if (!kind) o.missing("kind", list_of(pool_kind_words));
  p.kind = static_cast<PoolKind>(kind.value_or(static_cast<std::uint32_t>(PoolKind::vram)));
  p.instance = static_cast<std::uint32_t>(o.whole("instance", 0, most_parts).value_or(0));
  read_fields(o, described_pool(), &p);
  complete(o, p);
  const auto allocated = static_cast<std::uint32_t>(Accounting::allocated);
  p.accounting =
      static_cast<Accounting>(o.one_word("accounting", accounting_words).value_or(allocated));
  p.is_main = o.truth("main").value_or(false) && p.instance == 0;  // parts are never the main one
  p.notes = read_notes(o);
  o.finish();
  return p;
}

void check_against(const std::vector<Pool>& before, const Pool& p, const Place& at,
                   Problems& found) {
  for (const Pool& other : before) {
    if (other.kind == p.kind && other.instance == p.instance) {
      found.add(at, "a pool of this kind stands before it already");
    }
    if (other.is_main && p.is_main) found.add(at, "another pool is the main one already");
  }
}

}  // namespace

std::unique_ptr<const Pools> read_pools(ObjectReader& device) {
  std::vector<Pool> all;
  device.each("pools", [&](const json::Value& v, const Place& at) {
    ObjectReader o(v, at, device.found());
    const Pool p = read_pool(o);
    check_against(all, p, at, device.found());
    if (all.size() == Pools::most) device.found().add(at, "too many pools");
    all.push_back(p);
  });
  auto main = std::ranges::find_if(all, [](const Pool& p) { return p.is_main; });
  if (main == all.end()) main = std::ranges::find(all, 0U, &Pool::instance);
  if (main != all.end()) {
    main->is_main = true;
    std::rotate(all.begin(), main, main + 1);
  }
  if (all.empty()) return {};
  auto out = std::make_unique<Pools>();
  for (const Pool& p : all) out->add(p);
  return out;
}

std::unique_ptr<const Telemetry> read_telemetry(ObjectReader& device) {
  const json::Value* v = device.get("telemetry");
  if (v == nullptr) return {};
  const Place here(device.at(), "telemetry");
  ObjectReader o(*v, here, device.found());
  auto t = std::make_unique<Telemetry>();
  t->from = Source::simulated;
  t->sources = bit_of(Source::simulated);
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
    entry("any", Call::any),
    entry("pools", Call::pools),
    entry("telemetry", Call::telemetry),
    entry("self", Call::self),
    entry("process", Call::process),
    entry("processes", Call::processes),
    entry("metrics", Call::metrics),
    entry("open", Call::open),
    entry("devices", Call::devices),
    entry("memory", Call::memory),
    entry("process_memory", Call::process_memory),
    entry("system", Call::system),
};
constexpr std::size_t device_calls = 7;
constexpr std::size_t driver_calls = 9;

std::span<const Word> first_calls(std::size_t count) {
  return std::span<const Word>(call_words).first(count);
}

std::string_view word_of(Call which) {
  for (const Word& each : call_words) {
    if (each.value == static_cast<std::uint32_t>(which)) return each.name;
  }
  return {};
}

Call read_call(ObjectReader& o, std::span<const Word> words) {
  const std::optional<std::uint32_t> found = o.one_word("call", words);
  if (!found) o.missing("call", list_of(words));
  return static_cast<Call>(found.value_or(0));
}

Window read_window(ObjectReader& o) {
  Window w;
  w.from = o.whole("from_reading", 1, most64).value_or(1);
  w.count = o.whole("readings", 1, most64);
  return w;
}

FieldSet read_failing_fields(ObjectReader& o, Call on) {
  switch (on) {
    case Call::pools:
      return o.any_words("fields", words_of(described_pool())).value_or(0);
    case Call::telemetry:
      return o.any_words("fields", words_of(described_telemetry())).value_or(0);
    case Call::self:
    case Call::process:
    case Call::processes:
      return o.any_words("fields", usage_field_words).value_or(0);
    default:
      return 0;
  }
}

NativeCode read_native(ObjectReader& o) {
  NativeCode native;
  const json::Value* v = o.get("native");
  if (v == nullptr) return native;
  const Place here(o.at(), "native");
  ObjectReader n(*v, here, o.found());
  const std::optional<std::uint32_t> domain = n.one_word("domain", domain_words);
  if (!domain) n.missing("domain", list_of(domain_words));
  const auto code = n.whole("code", 0, std::numeric_limits<std::int32_t>::max());
  if (!code) n.missing("code", "the number that the driver or system gave");
  n.finish();
  native.domain = static_cast<NativeDomain>(domain.value_or(0));
  native.code = static_cast<std::int32_t>(code.value_or(0));
  return native;
}

Fault read_fault(const json::Value& v, const Place& at, Problems& found, Level where) {
  ObjectReader o(v, at, found);
  Fault f;
  f.on = read_call(o, first_calls(where == Level::device ? device_calls : call_words.size()));
  f.when = read_window(o);
  if (where == Level::device) f.fields = read_failing_fields(o, f.on);
  f.why = read_failure(o, std::string("the call ").append(word_of(f.on)));
  o.finish();
  return f;
}

void read_length(ObjectReader& o, Delay& d) {
  constexpr std::array forever = {entry("forever", 1U)};
  const std::optional<std::uint64_t> ms = o.whole("ms", 0, longest_delay_ms);
  const std::optional<std::uint32_t> hang = o.one_word("hang", forever);
  const std::optional<std::string_view> until = o.text("hang_until");
  if ((ms ? 1 : 0) + (hang ? 1 : 0) + (until ? 1 : 0) != 1) {
    o.found().add(o.at(), "exactly one of \"ms\", \"hang\" and \"hang_until\" is needed");
  }
  if (until && !platform::is_absolute(*until)) {
    o.found().add(Place(o.at(), "hang_until"), "the path is not absolute");
  }
  d.ns = ms.value_or(0) * ns_per_ms;
  d.forever = hang.has_value();
  d.until = until.value_or("");
}

Delay read_delay(const json::Value& v, const Place& at, Problems& found, Level where) {
  ObjectReader o(v, at, found);
  Delay d;
  d.on = read_call(o, first_calls(where == Level::device ? device_calls : driver_calls));
  d.when = read_window(o);
  read_length(o, d);
  o.finish();
  return d;
}

}  // namespace

Failure read_failure(ObjectReader& o, std::string_view what) {
  Failure why;
  why.from = Source::simulated;
  const std::optional<std::uint32_t> code = o.one_word("status", status_words);
  if (!code) o.missing("status", list_of(status_words));
  why.code = static_cast<Status>(code.value_or(0));
  why.native = read_native(o);
  const auto usual = std::string("the machine file makes ").append(what).append(" fail");
  why.message = o.text("message").value_or(usual);
  return why;
}

std::uint32_t read_notes(ObjectReader& o) {
  return static_cast<std::uint32_t>(o.any_words("notes", note_words).value_or(0));
}

Conduct read_conduct(ObjectReader& o, Level where) {
  Conduct c;
  o.each("failures", [&](const json::Value& v, const Place& at) {
    c.faults.push_back(read_fault(v, at, o.found(), where));
  });
  o.each("delays", [&](const json::Value& v, const Place& at) {
    c.delays.push_back(read_delay(v, at, o.found(), where));
  });
  return c;
}

namespace {

constexpr std::array otherwise_words = {entry("absent", 0U), entry("real", 1U)};

void read_process(ObjectReader& o, DescribedProcess& p) {
  p.memory.from = Source::simulated;
  p.facts.from = Source::simulated;
  read_fields(o, described_process_memory(), &p.memory);
  p.memory.notes = read_notes(o);
  read_facts(o, p.facts);
  p.facts.host_resident = p.memory.resident;
  p.facts.process_key = p.memory.process_key;
}

void read_listed(ObjectReader& host, Machine& out) {
  std::vector<std::uint32_t> pids;
  out.processes.reserve(host.length("processes"));
  pids.reserve(out.processes.capacity());
  host.each("processes", [&](const json::Value& v, const Place& at) {
    ObjectReader o(v, at, host.found());
    DescribedProcess& p = out.processes.emplace_back();
    read_process(o, p);
    bool is_self = false;
    read_pid(o, 0, p.facts, is_self);
    o.finish();
    if (is_self) host.found().add(at, "this process is described by \"self\" of \"host\"");
    p.memory.pid = p.facts.pid;
    pids.push_back(p.facts.pid);
  });
  if (const auto twice = find_repeated(pids)) {
    host.found().add(Place(Place(host.at(), "processes"), *twice),
                     "this process stands here already");
  }
  if (std::ranges::is_sorted(pids)) return;
  std::ranges::stable_sort(out.processes, [](const DescribedProcess& a, const DescribedProcess& b) {
    return pid_of(a) < pid_of(b);
  });
}

void read_self(ObjectReader& host, Machine& out) {
  const json::Value* v = host.get("self");
  if (v == nullptr) return;
  const Place here(host.at(), "self");
  ObjectReader o(*v, here, host.found());
  read_process(o, out.self.emplace());
  o.finish();
}

void read_system(ObjectReader& host, Machine& out) {
  const json::Value* v = host.get("system");
  if (v == nullptr) return;
  const Place here(host.at(), "system");
  ObjectReader o(*v, here, host.found());
  SystemMemory s;
  s.from = Source::simulated;
  read_fields(o, described_system_memory(), &s);
  s.notes = read_notes(o);
  o.finish();
  out.system = s;
}

}  // namespace

void read_host(ObjectReader& root, Machine& out) {
  const json::Value* v = root.get("host");
  if (v == nullptr) return;
  const Place here(root.at(), "host");
  if (const auto* word = v->as<std::string>()) {
    out.real_host = *word == "real";
    if (!out.real_host) root.found().refuse(here, *v, "\"real\" or an object");
    return;
  }
  ObjectReader host(*v, here, root.found());
  out.real_host = host.one_word("otherwise", otherwise_words).value_or(0) != 0;
  read_self(host, out);
  read_system(host, out);
  read_listed(host, out);
  host.finish();
}

}  // namespace hmn::simulated
