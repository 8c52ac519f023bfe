// SPDX-License-Identifier: MIT OR Apache-2.0
#include <limits>

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
  device_reader(object_reader& o, const described_device* parent, std::uint32_t self_pid)
      : o_(o), parent_(parent), self_pid_(self_pid) {}

  described_device read(std::size_t position) {
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
    return std::move(d_);
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
    o_.each("metrics", [&](const json::value& v, const place& at) {
      described_metric m = read_metric(v, at, o_.found());
      for (const described_metric& other : d_.metrics) {
        if (is_same_number(other.value, m.value)) {
          o_.found().add(at, "this metric stands on the device already");
        }
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
    o_.each("processes", [&](const json::value& v, const place& at) {
      described_row row = read_row(v, at, o_.found(), self_pid_);
      for (const described_row& other : d_.rows) {
        if (other.value.pid == row.value.pid) {
          o_.found().add(at, "this process stands on the device already");
        }
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
  described_device d_;
};

// Compares numbers unique to a device; partitions share their parent's.
bool share_a_number(const device& a, const device& b) {
  const auto same = [](const auto& x, const auto& y) { return x && y && *x == *y; };
  return (!a.pci_bus_id.empty() && a.pci_bus_id == b.pci_bus_id) ||
         same(a.driver_index, b.driver_index) || same(a.render_minor, b.render_minor);
}

bool are_alike(const described_device& a, const described_device& b) {
  if (a.key == b.key) return true;
  if (!a.identity.uuid.empty() && a.identity.uuid == b.identity.uuid) return true;
  return !a.parent && !b.parent && share_a_number(a.identity, b.identity);
}

void keep(described_device d, const place& at, problems& found, machine& out) {
  for (const described_device& other : out.devices) {
    if (are_alike(other, d)) {
      found.add(at,
                "it shares its id, uuid, PCI address, driver index or render node with a "
                "device before it");
    }
  }
  out.devices.push_back(std::move(d));
}

void read_partitions(object_reader& o, const described_device& parent, std::uint32_t self_pid,
                     machine& out) {
  std::size_t position = 0;
  o.each("partitions", [&](const json::value& v, const place& at) {
    object_reader p(v, at, o.found());
    described_device d = device_reader(p, &parent, self_pid).read(position++);
    p.finish();
    keep(std::move(d), at, o.found(), out);
  });
}

}  // namespace

void read_devices(object_reader& root, std::uint32_t self_pid, machine& out) {
  std::size_t position = 0;
  root.each("devices", [&](const json::value& v, const place& at) {
    object_reader o(v, at, root.found());
    const described_device d = device_reader(o, nullptr, self_pid).read(position++);
    keep(d, at, root.found(), out);
    read_partitions(o, d, self_pid, out);
    o.finish();
  });
}

}  // namespace hmn::simulated
