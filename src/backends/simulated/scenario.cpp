// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/scenario.hpp"

#include <algorithm>

#include "backends/simulated/fields.hpp"

namespace hmn::simulated {
namespace {

void write_failure(json::Writer& to, Neutral& by, std::string_view call, const Failure& why) {
  const bool has_word = std::ranges::any_of(
      status_words, [&](const Word& w) { return w.value == static_cast<std::uint32_t>(why.code); });
  to.open('{');
  if (!call.empty()) to.member("call", call);
  write_word(to, "status", status_words,
             static_cast<std::uint32_t>(has_word ? why.code : Status::backend));
  if (why.native.domain != NativeDomain::none && why.native.code >= 0) {
    to.key("native");
    to.open('{');
    write_word(to, "domain", domain_words, static_cast<std::uint32_t>(why.native.domain));
    to.member("code", static_cast<std::uint64_t>(why.native.code));
    to.close('}');
  }
  to.member("message", by.plain(why.message.view()));
  to.close('}');
}

void write_instance(json::Writer& to, const std::optional<MigInstance>& i) {
  if (!i) return;
  to.key("instance");
  to.open('{');
  to.member("gpu", i->gpu);
  to.member("compute", i->compute);
  to.close('}');
}

void write_version(json::Writer& to, std::string_view key, std::optional<std::uint32_t> major_part,
                   std::optional<std::uint32_t> minor_part) {
  if (!major_part || !minor_part) return;
  to.key(key);
  to.open('{');
  to.member("major", *major_part);
  to.member("minor", *minor_part);
  to.close('}');
}

void write_identity(json::Writer& to, Neutral& by, const Device& d) {
  const auto text = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) to.member(name, by.plain(value));
  };
  text("name", d.name.view());
  text("uuid", d.uuid.view());
  text("pci_bus_id", d.pci_bus_id.view());
  text("driver_version", d.driver_version.view());
  if (d.vendor != 0) to.member("vendor", d.vendor);
  write_known(to, "pci_device", d.pci_device);
  write_known(to, "pci_subsystem", d.pci_subsystem);
  write_known(to, "driver_index", d.driver_index);
  write_known(to, "render_minor", d.render_minor);
  write_known(to, "numa_node", d.numa_node);
  write_version(to, "cuda_version", d.cuda_version_major, d.cuda_version_minor);
  write_version(to, "compute_capability", d.compute_capability_major, d.compute_capability_minor);
  text("architecture", d.architecture.view());
  write_known(to, "os_id", d.os_id);
  write_instance(to, d.instance);
  if (!d.parent) {
    write_word(to, "device_class", device_class_words, static_cast<std::uint32_t>(d.device_class));
    write_word(to, "form", device_form_words, static_cast<std::uint32_t>(d.form));
  }
  write_word(to, "memory_kind", memory_kind_words, static_cast<std::uint32_t>(d.memory_kind));
  write_word(to, "state", state_words, static_cast<std::uint32_t>(d.state));
  write_words(to, "notes", note_words, d.notes);
}

// Unknown "free" and "used" are written as null: a reader would derive absent ones.
void write_pool(json::Writer& to, const Pool& p) {
  to.open('{');
  write_word(to, "kind", pool_kind_words, static_cast<std::uint32_t>(p.kind));
  if (p.instance != 0) to.member("instance", p.instance);
  write_fields(to, described_pool(), &p);
  for (const auto& [key, value] : {std::pair("free", p.free), std::pair("used", p.used)}) {
    if (value) continue;
    to.key(key);
    to.null();
  }
  write_word(to, "accounting", accounting_words, static_cast<std::uint32_t>(p.accounting));
  if (p.is_main) to.member("main", true);
  write_words(to, "notes", note_words, p.notes);
  to.close('}');
}

void write_telemetry(json::Writer& to, const Telemetry& t) {
  to.key("telemetry");
  to.open('{');
  write_fields(to, described_telemetry(), &t);
  write_words(to, "notes", note_words, t.notes);
  to.close('}');
}

void write_metric(json::Writer& to, const Metric& m) {
  const MetricWords* const words = words_of_metric(static_cast<std::uint32_t>(m.id));
  if (words == nullptr) return;
  to.open('{');
  to.word_member("metric", words->name);
  if (m.instance != 0) to.member("instance", m.instance);
  write_known(to, "value", m.value);
  write_known(to, "count", m.count);
  write_known(to, "window_ns", m.window_ns);
  write_words(to, "notes", note_words, m.notes);
  to.close('}');
}

void write_row(json::Writer& to, const Usage& u) {
  to.open('{');
  to.member("pid", u.pid);
  DescribedFields of = described_usage();
  of.bits &= ~usage_field::host_resident;  // host data, stored elsewhere in the file
  write_fields(to, of, &u);
  write_word(to, "accounting", accounting_words, static_cast<std::uint32_t>(u.accounting));
  write_instance(to, u.instance);
  write_known(to, "busy_percent", u.busy_percent);
  if (u.window_ns.value_or(0) != 0) to.member("window_ns", *u.window_ns);
  write_words(to, "notes", note_words, u.notes);
  to.close('}');
}

}  // namespace

Scenario::ListedDevice* Scenario::find(Slot number) {
  for (ListedDevice& d : devices_) {
    if (d.identity.number == number) return &d;
  }
  return nullptr;
}

void Scenario::listed(const std::vector<Device>& all) {
  const std::lock_guard lock(mutex_);
  is_asked_ = true;
  refusal_.reset();
  for (const Device& each : all) {
    if (ListedDevice* const known = find(each.number)) {
      known->identity = each;
    } else {
      devices_.emplace_back().identity = each;
    }
  }
}

void Scenario::settle(ListedDevice& d, std::string_view call, const Result<void>& outcome) {
  std::erase_if(d.failures, [&](const auto& f) { return f.first == call; });
  if (!outcome) d.failures.emplace_back(call, outcome.why());
}

void Scenario::reported(Slot number, const Result<void>& outcome, const Pools& value) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const d = find(number);
  if (d == nullptr) return;
  if (outcome) d->memory = value;
  settle(*d, "pools", outcome);
}

void Scenario::reported(Slot number, const Result<void>& outcome, const Telemetry& value) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const d = find(number);
  if (d == nullptr) return;
  if (outcome) d->load = value;
  settle(*d, "telemetry", outcome);
}

void Scenario::reported(Slot number, const Result<void>& outcome, const std::vector<Usage>& rows) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const d = find(number);
  if (d == nullptr) return;
  if (outcome) d->rows = rows;
  settle(*d, "processes", outcome);
}

void Scenario::reported(Slot number, const Result<void>& outcome,
                        const std::vector<Metric>& numbers) {
  const std::lock_guard lock(mutex_);
  ListedDevice* const d = find(number);
  if (d == nullptr) return;
  if (outcome) d->numbers = numbers;
  settle(*d, "metrics", outcome);
}

void Scenario::is(const SourceState& now) {
  const std::lock_guard lock(mutex_);
  version_ = now.version.view();
}

void Scenario::refused(const Failure& why) {
  const std::lock_guard lock(mutex_);
  is_asked_ = true;
  refusal_ = why;
}

void Scenario::write_device(json::Writer& to, Neutral& by, const ListedDevice& d) const {
  to.line();
  to.open('{');
  write_identity(to, by, d.identity);
  const auto list = [&](std::string_view name, const auto& all, auto write) {
    if (all.empty()) return;
    to.key(name);
    to.open('[');
    for (const auto& each : all) write(each);
    to.close(']');
  };
  list("pools", d.memory.all(), [&](const Pool& p) { write_pool(to, p); });
  if (d.load) write_telemetry(to, *d.load);
  list("metrics", d.numbers, [&](const Metric& m) { write_metric(to, m); });
  list("processes", d.rows, [&](const Usage& u) { write_row(to, u); });
  list("failures", d.failures, [&](const auto& f) { write_failure(to, by, f.first, f.second); });
  std::vector<const ListedDevice*> parts;
  for (const ListedDevice& other : devices_) {
    if (other.identity.parent == d.identity.number) parts.push_back(&other);
  }
  list("partitions", parts, [&](const ListedDevice* p) { write_device(to, by, *p); });
  to.close('}');
}

void Scenario::write(json::Writer& to, Neutral& by) const {
  const std::lock_guard lock(mutex_);
  if (!is_asked_) return;
  to.line();
  if (!version_.empty()) to.member("version", by.plain(version_));
  if (refusal_) {
    to.key("failures");
    to.open('[');
    write_failure(to, by, "open", *refusal_);
    to.close(']');
  }
  to.key("devices");
  to.open('[');
  for (const ListedDevice& d : devices_) {
    if (!d.identity.parent) write_device(to, by, d);
  }
  to.close(']');
}

}  // namespace hmn::simulated
