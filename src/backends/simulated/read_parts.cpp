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

bool is_absent(ObjectReader& reader, std::string_view key) {
  return reader.get_nullable(key) == nullptr;
}

// Computes total - reserved - part: the value of free or used that the file leaves out.
std::optional<std::uint64_t> compute_rest(ObjectReader& reader, const Pool& pool,
                                          std::uint64_t part) {
  const std::uint64_t reserved = pool.reserved.value_or(0);
  if (reserved <= *pool.total && part <= *pool.total - reserved)
    return *pool.total - reserved - part;
  reader.problems().add(
      reader.path(),
      "the values exceed \"total\": correct them, or give both \"free\" and \"used\"");
  return {};
}

void complete(ObjectReader& reader, Pool& pool) {
  if (!pool.total) return;
  if (pool.used && is_absent(reader, "free")) {
    pool.free = compute_rest(reader, pool, *pool.used);
  } else if (pool.free && is_absent(reader, "used")) {
    pool.used = compute_rest(reader, pool, *pool.free);
  }
}

constexpr std::uint64_t max_instance = PoolList::capacity - 1;

Pool read_pool(ObjectReader& reader) {
  Pool pool;
  pool.source = Source::simulated;
  const std::optional<std::uint32_t> kind = reader.choice("kind", pool_kind_words);
  if (!kind) reader.report_missing("kind", format_choices(pool_kind_words));
  pool.kind = static_cast<PoolKind>(kind.value_or(static_cast<std::uint32_t>(PoolKind::vram)));
  pool.instance =
      static_cast<std::uint32_t>(reader.integer("instance", 0, max_instance).value_or(0));
  read_fields(reader, pool_schema(), &pool);
  complete(reader, pool);
  const auto allocated = static_cast<std::uint32_t>(Accounting::allocated);
  pool.accounting =
      static_cast<Accounting>(reader.choice("accounting", accounting_words).value_or(allocated));
  pool.is_main =
      reader.boolean("main").value_or(false) && pool.instance == 0;  // parts are never the main one
  pool.notes = read_notes(reader);
  reader.finish();
  return pool;
}

void check_duplicate(const std::vector<Pool>& before, const Pool& pool, const JsonPath& path,
                     Problems& problems) {
  for (const Pool& other : before) {
    if (other.kind == pool.kind && other.instance == pool.instance) {
      problems.add(path, "a pool of this kind is listed already");
    }
    if (other.is_main && pool.is_main) problems.add(path, "another pool is the main one already");
  }
}

}  // namespace

std::unique_ptr<const PoolList> read_pools(ObjectReader& device) {
  std::vector<Pool> all;
  device.for_each("pools", [&](const json::Value& value, const JsonPath& path) {
    ObjectReader reader(value, path, device.problems());
    const Pool pool = read_pool(reader);
    check_duplicate(all, pool, path, device.problems());
    if (all.size() == PoolList::capacity) device.problems().add(path, "too many pools");
    all.push_back(pool);
  });
  auto main = std::ranges::find_if(all, [](const Pool& p) { return p.is_main; });
  if (main == all.end()) main = std::ranges::find(all, 0U, &Pool::instance);
  if (main != all.end()) {
    main->is_main = true;
    std::rotate(all.begin(), main, main + 1);
  }
  if (all.empty()) return {};
  auto out = std::make_unique<PoolList>();
  for (const Pool& p : all) out->add(p);
  return out;
}

std::unique_ptr<const Telemetry> read_telemetry(ObjectReader& device) {
  const json::Value* value = device.get("telemetry");
  if (value == nullptr) return {};
  const JsonPath path(device.path(), "telemetry");
  ObjectReader reader(*value, path, device.problems());
  auto telemetry = std::make_unique<Telemetry>();
  telemetry->source = Source::simulated;
  telemetry->sources = source_bit(Source::simulated);
  read_fields(reader, telemetry_schema(), telemetry.get());
  telemetry->notes = read_notes(reader);
  reader.finish();
  return telemetry;
}

namespace {

constexpr std::uint64_t ns_per_ms = 1'000'000;
constexpr std::uint64_t longest_delay_ms = 86'400'000;

constexpr std::array usage_field_words = {make_word("used", usage_field::used)};

// Longest list first; shorter ones are its prefixes.
constexpr std::array call_words = {
    make_word("any", Call::any),
    make_word("pools", Call::pools),
    make_word("telemetry", Call::telemetry),
    make_word("self", Call::self),
    make_word("process", Call::process),
    make_word("processes", Call::processes),
    make_word("metrics", Call::metrics),
    make_word("open", Call::open),
    make_word("devices", Call::devices),
    make_word("memory", Call::memory),
    make_word("process_memory", Call::process_memory),
    make_word("system", Call::system),
};
constexpr std::size_t device_calls = 7;
constexpr std::size_t driver_calls = 9;

std::span<const Word> first_calls(std::size_t count) {
  return std::span<const Word>(call_words).first(count);
}

std::string_view find_call_word(Call call) {
  for (const Word& word : call_words) {
    if (word.value == static_cast<std::uint32_t>(call)) return word.name;
  }
  return {};
}

Call read_call(ObjectReader& reader, std::span<const Word> words) {
  const std::optional<std::uint32_t> call = reader.choice("call", words);
  if (!call) reader.report_missing("call", format_choices(words));
  return static_cast<Call>(call.value_or(0));
}

ReadingRange read_range(ObjectReader& reader) {
  ReadingRange range;
  range.first = reader.integer("from_reading", 1, max_u64).value_or(1);
  range.count = reader.integer("readings", 1, max_u64);
  return range;
}

FieldSet read_failing_fields(ObjectReader& reader, Call call) {
  switch (call) {
    case Call::pools:
      return reader.flags("fields", field_words(pool_schema())).value_or(0);
    case Call::telemetry:
      return reader.flags("fields", field_words(telemetry_schema())).value_or(0);
    case Call::self:
    case Call::process:
    case Call::processes:
      return reader.flags("fields", usage_field_words).value_or(0);
    default:
      return 0;
  }
}

NativeCode read_native(ObjectReader& reader) {
  NativeCode native;
  const json::Value* value = reader.get("native");
  if (value == nullptr) return native;
  const JsonPath path(reader.path(), "native");
  ObjectReader native_reader(*value, path, reader.problems());
  const std::optional<std::uint32_t> domain = native_reader.choice("domain", domain_words);
  if (!domain) native_reader.report_missing("domain", format_choices(domain_words));
  const auto code = native_reader.integer("code", 0, std::numeric_limits<std::int32_t>::max());
  if (!code) native_reader.report_missing("code", "the number that the driver or system gave");
  native_reader.finish();
  native.domain = static_cast<NativeDomain>(domain.value_or(0));
  native.code = static_cast<std::int32_t>(code.value_or(0));
  return native;
}

Fault read_fault(const json::Value& value, const JsonPath& path, Problems& problems, Level level) {
  ObjectReader reader(value, path, problems);
  Fault fault;
  fault.call =
      read_call(reader, first_calls(level == Level::device ? device_calls : call_words.size()));
  fault.readings = read_range(reader);
  if (level == Level::device) fault.fields = read_failing_fields(reader, fault.call);
  fault.failure = read_failure(reader, std::string("the call ").append(find_call_word(fault.call)));
  reader.finish();
  return fault;
}

void read_length(ObjectReader& reader, Delay& delay) {
  constexpr std::array forever = {make_word("forever", 1U)};
  const std::optional<std::uint64_t> ms = reader.integer("ms", 0, longest_delay_ms);
  const std::optional<std::uint32_t> hang = reader.choice("hang", forever);
  const std::optional<std::string_view> release_path = reader.text("hang_until");
  if ((ms ? 1 : 0) + (hang ? 1 : 0) + (release_path ? 1 : 0) != 1) {
    reader.problems().add(reader.path(),
                          "exactly one of \"ms\", \"hang\" and \"hang_until\" is needed");
  }
  if (release_path && !platform::is_absolute(*release_path)) {
    reader.problems().add(JsonPath(reader.path(), "hang_until"), "the path is not absolute");
  }
  delay.ns = ms.value_or(0) * ns_per_ms;
  delay.forever = hang.has_value();
  delay.release_path = release_path.value_or("");
}

Delay read_delay(const json::Value& value, const JsonPath& path, Problems& problems, Level level) {
  ObjectReader reader(value, path, problems);
  Delay delay;
  delay.call = read_call(reader, first_calls(level == Level::device ? device_calls : driver_calls));
  delay.readings = read_range(reader);
  read_length(reader, delay);
  reader.finish();
  return delay;
}

}  // namespace

Failure read_failure(ObjectReader& reader, std::string_view subject) {
  Failure failure;
  failure.source = Source::simulated;
  const std::optional<std::uint32_t> code = reader.choice("status", status_words);
  if (!code) reader.report_missing("status", format_choices(status_words));
  failure.code = static_cast<Status>(code.value_or(0));
  failure.native = read_native(reader);
  const auto default_message =
      std::string("the machine file makes ").append(subject).append(" fail");
  failure.message = reader.text("message").value_or(default_message);
  return failure;
}

std::uint32_t read_notes(ObjectReader& reader) {
  return static_cast<std::uint32_t>(reader.flags("notes", note_words).value_or(0));
}

FaultScript read_fault_script(ObjectReader& reader, Level level) {
  FaultScript script;
  reader.for_each("failures", [&](const json::Value& value, const JsonPath& path) {
    script.faults.push_back(read_fault(value, path, reader.problems(), level));
  });
  reader.for_each("delays", [&](const json::Value& value, const JsonPath& path) {
    script.delays.push_back(read_delay(value, path, reader.problems(), level));
  });
  return script;
}

namespace {

constexpr std::array otherwise_words = {make_word("absent", 0U), make_word("real", 1U)};

void read_process(ObjectReader& reader, DescribedProcess& process) {
  process.memory.source = Source::simulated;
  process.facts.source = Source::simulated;
  read_fields(reader, process_memory_schema(), &process.memory);
  process.memory.notes = read_notes(reader);
  read_facts(reader, process.facts);
  process.facts.host_resident = process.memory.resident;
  process.facts.process_key = process.memory.process_key;
}

void read_processes(ObjectReader& host, Machine& out) {
  std::vector<std::uint32_t> pids;
  out.processes.reserve(host.length("processes"));
  pids.reserve(out.processes.capacity());
  host.for_each("processes", [&](const json::Value& value, const JsonPath& path) {
    ObjectReader reader(value, path, host.problems());
    DescribedProcess& process = out.processes.emplace_back();
    read_process(reader, process);
    bool is_self = false;
    read_pid(reader, 0, process.facts, is_self);
    reader.finish();
    if (is_self) host.problems().add(path, "this process is described by \"self\" of \"host\"");
    process.memory.pid = process.facts.pid;
    pids.push_back(process.facts.pid);
  });
  if (const auto repeated = find_repeated(pids)) {
    host.problems().add(JsonPath(JsonPath(host.path(), "processes"), *repeated),
                        "this process is listed here already");
  }
  if (std::ranges::is_sorted(pids)) return;
  std::ranges::stable_sort(out.processes, [](const DescribedProcess& a, const DescribedProcess& b) {
    return get_pid(a) < get_pid(b);
  });
}

void read_self(ObjectReader& host, Machine& out) {
  const json::Value* value = host.get("self");
  if (value == nullptr) return;
  const JsonPath path(host.path(), "self");
  ObjectReader reader(*value, path, host.problems());
  read_process(reader, out.self.emplace());
  reader.finish();
}

void read_system(ObjectReader& host, Machine& out) {
  const json::Value* value = host.get("system");
  if (value == nullptr) return;
  const JsonPath path(host.path(), "system");
  ObjectReader reader(*value, path, host.problems());
  SystemMemory memory;
  memory.source = Source::simulated;
  read_fields(reader, system_memory_schema(), &memory);
  memory.notes = read_notes(reader);
  reader.finish();
  out.system = memory;
}

}  // namespace

void read_host(ObjectReader& root, Machine& out) {
  const json::Value* value = root.get("host");
  if (value == nullptr) return;
  const JsonPath path(root.path(), "host");
  if (const auto* word = value->get_if<std::string>()) {
    out.uses_real_host = *word == "real";
    if (!out.uses_real_host) root.problems().reject(path, *value, "\"real\" or an object");
    return;
  }
  ObjectReader host(*value, path, root.problems());
  out.uses_real_host = host.choice("otherwise", otherwise_words).value_or(0) != 0;
  read_self(host, out);
  read_system(host, out);
  read_processes(host, out);
  host.finish();
}

}  // namespace hmn::simulated
