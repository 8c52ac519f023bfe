// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/json.hpp"

#include "core/json_names.hpp"
#include "core/json_writer.hpp"
#include "model/metric_names.hpp"

namespace hmn {
namespace {

void write_bits(json_writer& w, std::string_view key, std::uint32_t bits,
                std::span<const json_name> names) {
  w.key(key);
  w.open('[');
  for (std::size_t n = 0; n < names.size(); ++n) {
    if ((bits >> n & 1U) != 0) w.word(names[n]);
  }
  w.close(']');
}

// A set of bits that may itself be unknown.
void write_optional_bits(json_writer& w, std::string_view key,
                         const std::optional<std::uint32_t>& bits,
                         std::span<const json_name> names) {
  if (bits) return write_bits(w, key, *bits, names);
  w.key(key);
  w.null();
}

void write_instance(json_writer& w, const std::optional<mig_instance>& i) {
  w.member("gpu_instance", i ? std::optional(i->gpu) : std::nullopt);
  w.member("compute_instance", i ? std::optional(i->compute) : std::nullopt);
}

void write_origin(json_writer& w, source from, std::uint32_t notes) {
  w.word_member("backend", name_of(from));
  write_bits(w, "notes", notes, note_names());
}

void write(json_writer& w, const process_memory& m) {
  w.open('{');
  w.member("pid", m.pid);
  write_origin(w, m.from, m.notes);
  w.member("resident_bytes", m.resident);
  w.member("peak_resident_bytes", m.peak_resident);
  w.member("virtual_bytes", m.virtual_size);
  w.member("swap_bytes", m.swap);
  w.member("proportional_bytes", m.proportional);
  w.member("private_bytes", m.private_set);
  w.member("committed_bytes", m.committed);
  w.member("footprint_bytes", m.footprint);
  w.member("peak_footprint_bytes", m.peak_footprint);
  w.member("peak_committed_bytes", m.peak_committed);
  w.close('}');
}

void write(json_writer& w, const system_memory& m) {
  w.open('{');
  write_origin(w, m.from, m.notes);
  w.member("total_bytes", m.total);
  w.member("available_bytes", m.available);
  w.member("swap_total_bytes", m.swap_total);
  w.member("swap_free_bytes", m.swap_free);
  w.member("limit_bytes", m.limit);
  w.member("limit_used_bytes", m.limit_used);
  w.member("commit_limit_bytes", m.commit_limit);
  w.member("committed_bytes", m.committed);
  w.text_member("pressure", m.pressure ? name_of(*m.pressure) : std::string_view());
  w.member("stall_percent", m.stall_percent);
  w.close('}');
}

void write_backends(json_writer& w, std::uint64_t sources) {
  w.key("backends");
  w.open('[');
  for (std::uint32_t n = 0; n < 64; ++n) {
    if ((sources >> n & 1U) != 0) w.word(name_of(static_cast<source>(n)));
  }
  w.close(']');
}

void write(json_writer& w, const dated<telemetry>& dated) {
  const telemetry& t = dated.value;
  w.open('{');
  write_origin(w, t.from, t.notes);
  write_backends(w, t.sources);
  w.member("gpu_busy_percent", t.gpu_busy_percent);
  w.member("memory_busy_percent", t.memory_busy_percent);
  w.member("encoder_busy_percent", t.encoder_busy_percent);
  w.member("decoder_busy_percent", t.decoder_busy_percent);
  w.member("temperature_celsius", t.temperature_celsius);
  w.member("hotspot_celsius", t.hotspot_celsius);
  w.member("memory_celsius", t.memory_celsius);
  w.member("power_watts", t.power_watts);
  w.member("power_limit_watts", t.power_limit_watts);
  w.member("energy_joules", t.energy_joules);
  w.member("core_clock_mhz", t.core_clock_mhz);
  w.member("memory_clock_mhz", t.memory_clock_mhz);
  w.member("fan_percent", t.fan_percent);
  w.member("fan_rpm", t.fan_rpm);
  w.member("pcie_generation", t.pcie_generation);
  w.member("pcie_width", t.pcie_width);
  w.member("pcie_rx_bytes", t.pcie_rx_bytes);
  w.member("pcie_tx_bytes", t.pcie_tx_bytes);
  write_optional_bits(w, "throttle", t.throttle, throttle_names());
  w.member("p_state", t.p_state);
  w.member("window_ns", t.window_ns);
  w.member("age_ns", dated.age_ns);
  w.close('}');
}

void write(json_writer& w, std::uint32_t device_index, const dated<usage>& dated) {
  const usage& u = dated.value;
  w.open('{');
  w.member("device_index", device_index);
  w.member("pid", u.pid);
  write_origin(w, u.from, u.notes);
  w.word_member("name_state", name_of(u.name_state));
  w.text_member("name", u.name);
  w.text_member("container", u.container);
  w.member("uid", u.uid);
  w.member("start_unix_ns", u.start_unix_ns);
  write_optional_bits(w, "kinds", u.kinds, usage_kind_names());
  write_instance(w, u.instance);
  w.word_member("accounting", name_of(u.accounting));
  w.member("used_bytes", u.used);
  w.member("peak_used_bytes", u.peak_used);
  w.member("resident_bytes", u.resident);
  w.member("committed_bytes", u.committed);
  w.member("allocated_bytes", u.allocated);
  w.member("shared_bytes", u.shared);
  w.member("purgeable_bytes", u.purgeable);
  w.member("evicted_bytes", u.evicted);
  w.member("host_pool_bytes", u.host_pool);
  w.member("host_resident_bytes", u.host_resident);
  w.member("budget_bytes", u.budget);
  w.member("busy_ns", u.busy_ns);
  w.member("busy_percent", u.busy_percent);
  w.member("window_ns", u.busy_percent ? std::optional(u.window_ns) : std::nullopt);
  w.member("age_ns", dated.age_ns);
  w.close('}');
}

void write(json_writer& w, const snapshot_pool& listed) {
  const pool& p = listed.value.value;
  w.open('{');
  w.member("device_index", listed.device_index);
  w.word_member("kind", name_of(p.kind));
  w.key("is_main");
  w.truth(p.is_main);
  write_origin(w, p.from, p.notes);
  w.word_member("accounting", name_of(p.accounting));
  w.member("total_bytes", p.total);
  w.member("free_bytes", p.free);
  w.member("used_bytes", p.used);
  w.member("reserved_bytes", p.reserved);
  w.member("usable_bytes", p.usable);
  w.member("budget_bytes", p.budget);
  w.member("unattributed_bytes", p.unattributed);
  w.member("age_ns", listed.value.age_ns);
  w.close('}');
}

void write_identity(json_writer& w, const numbered_device& who) {
  const device& d = who.value;
  w.member("index", who.index);
  w.text_member("name", d.name.view());
  w.text_member("uuid", d.uuid.view());
  w.text_member("pci_bus_id", d.pci_bus_id.view());
  write_origin(w, d.from, d.notes);
  w.word_member("kind", name_of(d.kind));
  w.word_member("state", name_of(d.state));
  w.word_member("memory_kind", name_of(d.memory_kind));
  w.word_member("vendor", vendor_name(d.vendor));
  w.member("vendor_id", d.vendor != vendor::unknown ? std::optional(d.vendor) : std::nullopt);
  w.member("pci_device", d.pci_device);
  w.member("pci_subsystem", d.pci_subsystem);
  w.member("parent_index", who.parent_index);
  w.member("driver_index", d.driver_index);
  w.text_member("driver_version", d.driver_version.view());
  w.member("cuda_version", d.cuda_version);
  w.member("render_minor", d.render_minor);
  w.member("numa_node", d.numa_node);
  write_instance(w, d.instance);
  w.member("os_id", d.os_id);
}

void write(json_writer& w, const dated<metric>& dated, const snapshot& of) {
  const metric& m = dated.value;
  const auto id = static_cast<std::uint32_t>(m.id);
  const metric_words* const words = words_of(id);
  w.open('{');
  w.word_member("name", words != nullptr ? words->name : "unknown");
  w.member("instance", m.instance);
  const std::string* const group = of.group_of(m);
  w.text_member("instance_name",
                group != nullptr ? std::string_view(*group) : instance_name(id, m.instance));
  w.text_member("unit", words != nullptr ? words->unit : "");
  write_origin(w, m.from, m.notes);
  w.member("pid", m.pid);
  w.member("value", m.value);
  w.member("count", m.count);
  w.member("window_ns", m.window_ns);
  w.member("age_ns", dated.age_ns);
  w.close('}');
}

// Null when they were not asked for.
void write_metrics(json_writer& w, const snapshot& of, std::uint32_t device_index) {
  w.key("metrics");
  if ((of.collect & subject::metrics) == 0) return w.null();
  w.open('[');
  for (const snapshot_metric& m : of.metrics) {
    if (m.device_index == device_index) write(w, m.value, of);
  }
  w.close(']');
}

void write(json_writer& w, const snapshot_device& d, const snapshot& of) {
  w.open('{');
  write_identity(w, d.identity);
  w.key("telemetry");
  if (d.telemetry) {
    write(w, *d.telemetry);
  } else {
    w.null();
  }
  write_metrics(w, of, d.identity.index);
  w.key("self");
  if (d.self) {
    write(w, d.identity.index, *d.self);
  } else {
    w.null();
  }
  w.close('}');
}

void write(json_writer& w, const snapshot_usage& u) {
  write(w, u.device_index, u.value);
}

std::string_view subject_name(std::uint32_t bit) {
  const auto names = subject_names();
  for (std::size_t n = 0; n < names.size(); ++n) {
    if (bit == 1U << n) return names[n];
  }
  return "unknown";
}

// The presence bits by name; of the metrics the one.
void write_fields(json_writer& w, const diagnostic& d) {
  if (d.about != subject::metrics) {
    return write_bits(w, "fields", d.field, field_names(d.about));
  }
  w.key("fields");
  w.open('[');
  if (const metric_words* const words = words_of(d.field)) w.word(words->name);
  w.close(']');
}

void write(json_writer& w, const snapshot_diagnostic& listed) {
  const diagnostic& d = listed.value;
  const bool has_native = d.why.native.domain != native_domain::none;
  w.open('{');
  w.word_member("status", name_of(d.why.code));
  write_origin(w, d.why.from, d.notes);
  w.word_member("subject", subject_name(d.about));
  write_fields(w, d);
  w.member("device_index", listed.device_index);
  w.member("pid", d.pid);
  w.member("count", listed.count);
  w.word_member("native_domain", name_of(d.why.native.domain));
  w.member("native_code", has_native ? std::optional(d.why.native.code) : std::nullopt);
  w.member("duration_ns", d.duration_ns);
  w.key("message");
  w.text(d.why.message.view());
  w.close('}');
}

template <class T>
void write_list(json_writer& w, std::string_view key, const std::vector<T>& entries) {
  w.key(key);
  w.open('[');
  for (const T& e : entries) write(w, e);
  w.close(']');
}

template <class T>
void write_part(json_writer& w, std::string_view key, const std::optional<T>& part) {
  w.key(key);
  if (part) {
    write(w, *part);
  } else {
    w.null();
  }
}

std::size_t likely_size(const snapshot& s) {
  constexpr std::size_t head = 2048;
  constexpr std::size_t of_device = 3072;
  constexpr std::size_t of_entry = 640;
  constexpr std::size_t of_metric = 224;
  return head + s.devices.size() * of_device + s.metrics.size() * of_metric +
         (s.pools.size() + s.usages.size() + s.diagnostics.size()) * of_entry;
}

}  // namespace

void append_json(std::string& out, const snapshot& s) {
  json_writer w(out, likely_size(s));
  w.open('{');
  w.member("schema", json_schema_version);
  w.member("unix_time_ns", s.unix_time_ns);
  w.member("monotonic_ns", s.monotonic_ns);
  w.member("duration_ns", s.duration_ns);
  write_bits(w, "collect", s.collect, subject_names());
  write_bits(w, "notes", s.notes, note_names());
  w.member("unreadable_process_count", s.unreadable_processes);
  write_part(w, "memory", s.memory);
  write_part(w, "system", s.system);
  w.key("devices");
  w.open('[');
  for (const snapshot_device& d : s.devices) write(w, d, s);
  w.close(']');
  write_list(w, "pools", s.pools);
  write_list(w, "usages", s.usages);
  write_list(w, "diagnostics", s.diagnostics);
  w.close('}');
}

}  // namespace hmn
