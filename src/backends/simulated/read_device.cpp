// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <unordered_set>

#include "backends/simulated/read_parts.hpp"
#include "backends/simulated/words.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t most16 = std::numeric_limits<std::uint16_t>::max();

bool is_lower_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

// Accepts "0000:01:00.0", or with eight digits of domain.
bool is_pci_bus_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  if ((colon != 4 && colon != 8) || text.size() != colon + 8) return false;
  constexpr std::string_view shape = ":hh:hh.f";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char expected = i < colon ? 'h' : shape[i - colon];
    const bool fits = expected == 'h'   ? is_lower_hex(text[i])
                      : expected == 'f' ? text[i] >= '0' && text[i] <= '7'
                                        : text[i] == expected;
    if (!fits) return false;
  }
  return true;
}

class device_reader {
 public:
  device_reader(object_reader& o, const described_device* parent, std::uint32_t self_pid,
                described_device& out)
      : o_(o), parent_(parent), self_pid_(self_pid), d_(out) {}

  void read(std::size_t position) {
    device& who = d_.identity;
    who.from = source::simulated;
    if (parent_ != nullptr) inherit();
    read_names();
    read_numbers();
    d_.memory = read_pools(o_);
    d_.load = read_telemetry(o_);
    read_metrics();
    if (parent_ == nullptr) read_groups();
    read_rows();
    read_kinds();
    who.notes = read_notes(o_) | (was_cut() ? note::truncated : 0);
    d_.conduct = read_conduct(o_, level::device);
    d_.key = key_at(position);
  }

 private:
  void inherit() {
    d_.parent = parent_->key;
    d_.identity.vendor = parent_->identity.vendor;
    d_.identity.driver_version = parent_->identity.driver_version;
    d_.identity.cuda_version = parent_->identity.cuda_version;
    d_.identity.compute_capability = parent_->identity.compute_capability;
    d_.identity.architecture = parent_->identity.architecture;
  }

  void read_names() {
    device& who = d_.identity;
    who.name.assign(o_.text("name").value_or(""));
    who.uuid.assign(o_.text("uuid").value_or(""));
    if (const auto version = o_.text("driver_version")) who.driver_version.assign(*version);
    if (const auto name = o_.text("architecture")) who.architecture.assign(*name);
    const std::optional<std::string_view> bus = o_.text("pci_bus_id");
    if (bus && !is_pci_bus_id(*bus)) {
      o_.found().refuse(place(o_.at(), "pci_bus_id"), *o_.get("pci_bus_id"),
                        "an address such as \"0000:01:00.0\", in lower case");
    }
    who.pci_bus_id.assign(bus.value_or(""));
  }

  void read_vendor() {
    const json::value* v = o_.get("vendor");
    const auto* name = v != nullptr ? v->as<std::string>() : nullptr;
    const auto known = name != nullptr ? find_word(vendor_words, *name) : std::nullopt;
    if (known) {
      d_.identity.vendor = *known;
    } else if (v != nullptr) {
      d_.identity.vendor = static_cast<std::uint32_t>(o_.id("vendor", most16).value_or(0));
    }
  }

  void read_numbers() {
    device& who = d_.identity;
    const auto id32 = [&](std::string_view key, std::uint64_t high, auto& out) {
      if (const auto number = o_.id(key, high)) out = static_cast<std::uint32_t>(*number);
    };
    read_vendor();
    who.driver_index = o_.whole32("driver_index");
    who.render_minor = o_.whole32("render_minor");
    who.numa_node = o_.whole32("numa_node");
    if (const auto version = o_.whole32("cuda_version")) who.cuda_version = version;
    if (const auto version = o_.whole32("compute_capability")) who.compute_capability = version;
    id32("pci_device", most16, who.pci_device);
    id32("pci_subsystem", most32, who.pci_subsystem);
    who.os_id = o_.id("os_id", most64);
    read_instance();
  }

  void read_instance() {
    const json::value* v = o_.get("instance");
    if (v == nullptr) return;
    const place here(o_.at(), "instance");
    object_reader i(*v, here, o_.found());
    d_.identity.instance = {i.whole32("gpu").value_or(0), i.whole32("compute").value_or(0)};
    i.finish();
  }

  void read_metrics() {
    std::set<std::tuple<metric_id, std::uint32_t, std::optional<std::uint32_t>>> seen;
    o_.each("metrics", [&](const json::value& v, const place& at) {
      described_metric m = read_metric(v, at, o_.found());
      if (!seen.emplace(m.value.id, m.value.instance, m.value.pid).second) {
        o_.found().add(at, "this metric stands on the device already");
      }
      d_.metrics.push_back(std::move(m));
    });
  }

  void read_groups() {
    o_.each("groups", [&](const json::value& v, const place& at) {
      object_reader o(v, at, o_.found());
      group& g = d_.groups.emplace_back();
      g.name = o.text("name").value_or("");
      g.used = o.bytes("used");
      g.limit = o.bytes("limit");
      o.finish();
      if (g.name.empty() || !g.used) o_.found().add(at, "a group needs a \"name\" and \"used\"");
      if (d_.identity.pci_bus_id.empty()) {
        o_.found().add(at, "groups are of a device with a \"pci_bus_id\"");
      }
    });
  }

  void read_rows() {
    std::unordered_set<std::uint32_t> seen;
    d_.rows.reserve(o_.length("processes"));
    o_.each("processes", [&](const json::value& v, const place& at) {
      described_row row = read_row(v, at, o_.found(), self_pid_);
      if (!seen.insert(row.value.pid).second) {
        o_.found().add(at, "this process stands on the device already");
      }
      d_.rows.push_back(std::move(row));
    });
  }

  [[nodiscard]] memory_kind implied_memory_kind() const {
    if (d_.memory.empty()) return memory_kind::unknown;
    return d_.memory.all().front().kind == pool_kind::unified ? memory_kind::unified
                                                              : memory_kind::dedicated;
  }

  void read_kinds() {
    device& who = d_.identity;
    const auto memory = o_.one_word("memory_kind", memory_kind_words);
    who.memory_kind = memory ? static_cast<hmn::memory_kind>(*memory) : implied_memory_kind();
    const bool is_unified = who.memory_kind == memory_kind::unified;
    const device_kind implied = parent_ != nullptr ? device_kind::partition
                                : is_unified       ? device_kind::integrated
                                                   : device_kind::discrete;
    const auto kind = o_.one_word("kind", device_kind_words);
    who.kind = kind ? static_cast<device_kind>(*kind) : implied;
    const auto condition = o_.one_word("state", state_words);
    who.state = condition ? static_cast<hmn::state>(*condition) : hmn::state::ready;
  }

  [[nodiscard]] bool was_cut() const {
    const device& who = d_.identity;
    return who.name.was_cut() || who.uuid.was_cut() || who.driver_version.was_cut() ||
           who.architecture.was_cut();
  }

  std::string key_at(std::size_t position) {
    const std::optional<std::string_view> id = o_.text("id");
    if (id) return "id " + std::string(*id);
    if (!d_.identity.uuid.empty()) return "uuid " + std::string(d_.identity.uuid.view());
    if (!d_.identity.pci_bus_id.empty()) return "pci " + std::string(d_.identity.pci_bus_id.view());
    return (d_.parent ? *d_.parent + " partition " : std::string("position ")) +
           std::to_string(position);
  }

  object_reader& o_;
  const described_device* parent_;
  std::uint32_t self_pid_;
  described_device& d_;
};

// Reads all devices. Their ids, uuids and numbers must differ; partitions share their parent's
// numbers.
class devices_reader {
 public:
  devices_reader(std::uint32_t self_pid, machine& out) : self_pid_(self_pid), out_(out) {}

  void read(object_reader& root) {
    out_.devices.reserve(root.length("devices"));
    std::size_t position = 0;
    root.each("devices", [&](const json::value& v, const place& at) {
      object_reader o(v, at, root.found());
      const std::size_t here = out_.devices.size();
      read_one(o, nullptr, position++);
      read_partitions(o, here);
      o.finish();
    });
  }

 private:
  void read_partitions(object_reader& o, std::size_t parent) {
    std::optional<described_device> whole;
    if (o.get("partitions") != nullptr) whole = out_.devices[parent];
    std::size_t position = 0;
    o.each("partitions", [&](const json::value& v, const place& at) {
      object_reader p(v, at, o.found());
      read_one(p, &*whole, position++);
      p.finish();
    });
  }

  void read_one(object_reader& o, const described_device* parent, std::size_t position) {
    described_device& d = out_.devices.emplace_back();
    device_reader(o, parent, self_pid_, d).read(position);
    if (!is_new(d)) {
      o.found().add(o.at(),
                    "it shares its id, uuid, PCI address, driver index or render node with a "
                    "device before it");
    }
  }

  bool is_new(const described_device& d) {
    const device& who = d.identity;
    bool is = keys_.insert(d.key).second;
    if (!who.uuid.empty()) is &= uuids_.emplace(who.uuid.view()).second;
    if (d.parent) return is;
    if (!who.pci_bus_id.empty()) is &= addresses_.emplace(who.pci_bus_id.view()).second;
    if (who.driver_index) is &= driver_indexes_.insert(*who.driver_index).second;
    if (who.render_minor) is &= render_minors_.insert(*who.render_minor).second;
    return is;
  }

  std::uint32_t self_pid_;
  machine& out_;
  std::unordered_set<std::string> keys_;
  std::unordered_set<std::string> uuids_;
  std::unordered_set<std::string> addresses_;
  std::unordered_set<std::uint32_t> driver_indexes_;
  std::unordered_set<std::uint32_t> render_minors_;
};

}  // namespace

void read_devices(object_reader& root, std::uint32_t self_pid, machine& out) {
  devices_reader(self_pid, out).read(root);
}

}  // namespace hmn::simulated
