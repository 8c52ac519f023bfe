// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <atomic>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/simulated/fields.hpp"
#include "backends/simulated/read_parts.hpp"
#include "model/character.hpp"
#include "model/words.hpp"
#include "platform/clock.hpp"

namespace hmn::simulated {
namespace {

constexpr std::uint64_t max_value = std::numeric_limits<std::uint64_t>::max();

void read_name(ObjectReader& reader, Usage& out) {
  const std::optional<std::string_view> name = reader.text("name");
  const std::optional<std::uint32_t> state = reader.choice("name_state", name_state_words);
  const auto resolved = static_cast<std::uint32_t>(NameState::resolved);
  const std::uint32_t implied = name ? resolved : static_cast<std::uint32_t>(NameState::unknown);
  if (state && (*state == resolved) != name.has_value()) {
    reader.problems().add(JsonPath(reader.path(), "name_state"),
                          "a name is there when, and only when, it is \"resolved\"");
  }
  if (name && name->empty())
    reader.problems().add(JsonPath(reader.path(), "name"), "the name is empty");
  out.name_state = static_cast<NameState>(state.value_or(implied));
  out.name = name.value_or("");
}

std::optional<MigInstance> read_instance(ObjectReader& reader) {
  const json::Value* value = reader.get("instance");
  if (value == nullptr) return {};
  const JsonPath path(reader.path(), "instance");
  ObjectReader instance_reader(*value, path, reader.problems());
  MigInstance instance{instance_reader.integer32("gpu").value_or(0),
                       instance_reader.integer32("compute").value_or(0)};
  instance_reader.finish();
  return instance;
}

std::unique_ptr<const Failure> read_missing(ObjectReader& reader, const Usage& row) {
  const json::Value* value = reader.get("missing");
  if (value == nullptr) return {};
  const JsonPath path(reader.path(), "missing");
  ObjectReader missing_reader(*value, path, reader.problems());
  Failure failure = read_failure(missing_reader, "this value");
  missing_reader.finish();
  if (row.used) reader.problems().add(path, "\"used\" is given and cannot be missing");
  return std::make_unique<Failure>(failure);
}

}  // namespace

void read_pid(ObjectReader& reader, std::uint32_t self_pid, Usage& out, bool& is_self) {
  constexpr std::string_view expected = "a process id from 1 to 4294967295, or \"self\"";
  const json::Value* value = reader.get("pid");
  if (value == nullptr) return reader.report_missing("pid", expected);
  const auto* text = value->get_if<std::string>();
  const auto* number = value->get_if<std::uint64_t>();
  is_self = text != nullptr && *text == "self";
  const bool is_pid = number != nullptr && *number > 0 && *number <= max_u32;
  if (!is_self && !is_pid)
    reader.problems().reject(JsonPath(reader.path(), "pid"), *value, expected);
  out.pid = is_pid ? static_cast<std::uint32_t>(*number) : self_pid;
}

namespace {

// Wall clock when a first process was described by its age: that of the following ones, and of a
// machine that is read again after a change, counts from the same time.
std::uint64_t age_reference_unix_ns() noexcept {
  constinit static std::atomic<std::uint64_t> first{0};
  std::uint64_t previous = 0;
  const std::uint64_t now = platform::unix_ns();
  return first.compare_exchange_strong(previous, now) ? now : previous;
}

// Reads the start as a date, or as the age of the process: an example is not older every day.
std::optional<std::uint64_t> read_start(ObjectReader& reader) {
  const auto date = reader.integer("start_unix_ns", 0, max_value);
  const auto age_s = reader.integer("running_s", 0, max_u32);
  if (!age_s) return date;
  if (date)
    reader.problems().add(JsonPath(reader.path(), "running_s"),
                          "\"start_unix_ns\" is given as well");
  const std::uint64_t now = age_reference_unix_ns();
  return now - std::min(now, *age_s * platform::ns_per_second);
}

}  // namespace

void read_facts(ObjectReader& reader, Usage& out) {
  read_name(reader, out);
  out.uid = reader.integer32("uid");
  out.start_unix_ns = read_start(reader);
  out.command = reader.text("command").value_or("");
  out.container = reader.text("container").value_or("");
}

void read_row(const json::Value& value, const JsonPath& path, Problems& problems,
              std::uint32_t self_pid, DescribedRow& out) {
  ObjectReader reader(value, path, problems);
  Usage& usage = out.value;
  usage.source = Source::simulated;
  read_pid(reader, self_pid, usage, out.is_self);
  read_facts(reader, usage);
  usage.instance = read_instance(reader);
  const auto allocated = static_cast<std::uint32_t>(Accounting::allocated);
  usage.accounting =
      static_cast<Accounting>(reader.choice("accounting", accounting_words).value_or(allocated));
  read_fields(reader, usage_schema(), &usage);
  usage.busy_percent = reader.real("busy_percent", 0, 100);
  const auto window = reader.integer("window_ns", 0, max_value);
  if (usage.busy_percent) usage.window_ns = window.value_or(0);
  usage.notes = read_notes(reader);
  out.missing = read_missing(reader, usage);
  reader.finish();
}

namespace {

constexpr double max_magnitude = 1e18;

// Looks up the name returned by hmn_metric_name.
const MetricInfo* read_id(ObjectReader& reader) {
  constexpr std::string_view expected = "a metric, such as \"temperature\"";
  const json::Value* value = reader.get("metric");
  if (value == nullptr) {
    reader.report_missing("metric", expected);
    return nullptr;
  }
  const auto* name = value->get_if<std::string>();
  const MetricInfo* const info = name != nullptr ? find_metric_info(*name) : nullptr;
  if (info == nullptr)
    reader.problems().reject(JsonPath(reader.path(), "metric"), *value, expected);
  return info;
}

// Reads a number, or a word of the metric.
std::uint32_t read_instance(ObjectReader& reader, const MetricInfo& info) {
  const json::Value* value = reader.get("instance");
  if (value == nullptr) return 0;
  const auto* number = value->get_if<std::uint64_t>();
  if (number != nullptr && *number <= max_u32) return static_cast<std::uint32_t>(*number);
  const auto* name = value->get_if<std::string>();
  const auto instance = name != nullptr ? lookup_number(info.instances, *name) : std::nullopt;
  if (!instance) {
    reader.problems().reject(JsonPath(reader.path(), "instance"), *value,
                             "a number, or an instance of the metric");
  }
  return static_cast<std::uint32_t>(instance.value_or(0));
}

std::optional<Failure> read_missing(ObjectReader& reader) {
  const json::Value* value = reader.get("missing");
  if (value == nullptr) return {};
  const JsonPath path(reader.path(), "missing");
  ObjectReader missing_reader(*value, path, reader.problems());
  Failure failure = read_failure(missing_reader, "this value");
  missing_reader.finish();
  return failure;
}

}  // namespace

DescribedMetric read_metric(const json::Value& value, const JsonPath& path, Problems& problems) {
  ObjectReader reader(value, path, problems);
  DescribedMetric result;
  Metric& metric = result.value;
  metric.source = Source::simulated;
  if (const MetricInfo* const words = read_id(reader)) {
    metric.id = words->id;
    metric.instance = read_instance(reader, *words);
  }
  metric.value = reader.real("value", -max_magnitude, max_magnitude);
  metric.count = reader.integer("count", 0, max_u64);
  metric.window_ns = reader.integer("window_ns", 0, max_u64);
  metric.notes = read_notes(reader);
  result.is_slow = reader.boolean("slow").value_or(false);
  result.missing = read_missing(reader);
  if ((metric.value ? 1 : 0) + (metric.count ? 1 : 0) + (result.missing ? 1 : 0) != 1) {
    problems.add(path, "exactly one of \"value\", \"count\" and \"missing\" is needed");
  }
  reader.finish();
  return result;
}

namespace {

constexpr std::uint64_t max_u16 = std::numeric_limits<std::uint16_t>::max();

template <class T>
void put(T& target, const T& source) noexcept {
  target = source;
}
template <std::size_t N>
void put(Text<N>& target, const std::string& source) noexcept {
  target.assign(source);
}

// Accepts "0000:01:00.0", or with eight digits of domain.
bool is_pci_bus_id(std::string_view text) {
  const std::size_t colon = text.find(':');
  if ((colon != 4 && colon != 8) || text.size() != colon + 8) return false;
  constexpr std::string_view shape = ":hh:hh.f";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char expected = i < colon ? 'h' : shape[i - colon];
    const bool fits = expected == 'h'   ? is_lower_hex_digit(text[i])
                      : expected == 'f' ? text[i] >= '0' && text[i] <= '7'
                                        : text[i] == expected;
    if (!fits) return false;
  }
  return true;
}

class DeviceReader {
 public:
  DeviceReader(ObjectReader& reader, const DescribedIdentity* parent, std::uint32_t self_pid,
               DeviceNumbers& numbers, DescribedDevice& device)
      : reader_(reader), parent_(parent), self_pid_(self_pid), numbers_(numbers), device_(device) {}

  void read(std::size_t position) {
    DescribedIdentity& identity = device_.identity;
    identity.source = Source::simulated;
    if (parent_ != nullptr) inherit();
    read_names();
    read_numbers();
    device_.memory = read_pools(reader_);
    device_.telemetry = read_telemetry(reader_);
    read_metrics();
    if (parent_ == nullptr) read_groups();
    read_rows();
    read_kinds();
    identity.notes = read_notes(reader_) | (is_cut_ ? note::truncated : 0);
    device_.fault_script = read_fault_script(reader_, Level::device);
    identity.slot = assign_number(position);
  }

 private:
  void inherit() {
    device_.identity.parent = parent_->slot;
    device_.identity.vendor = parent_->vendor;
    device_.identity.driver_version = parent_->driver_version;
    device_.identity.cuda_version_major = parent_->cuda_version_major;
    device_.identity.cuda_version_minor = parent_->cuda_version_minor;
    device_.identity.compute_capability_major = parent_->compute_capability_major;
    device_.identity.compute_capability_minor = parent_->compute_capability_minor;
    device_.identity.architecture = parent_->architecture;
  }

  // Keeps as much of a text as the member `like` of a device holds.
  template <std::size_t N>
  void read_text(std::string_view key, Text<N> Device::*, std::string& out) {
    const std::optional<std::string_view> value = reader_.text(key);
    if (!value) return;
    if (value->size() < N && value->find('\0') == value->npos) {
      out = *value;  // JSON is UTF-8
      return;
    }
    const Text<N> shortened(*value);
    out = shortened.view();
    is_cut_ |= shortened.was_cut();
  }

  void read_names() {
    DescribedIdentity& identity = device_.identity;
    read_text("name", &Device::name, identity.name);
    read_text("uuid", &Device::uuid, identity.uuid);
    read_text("driver_version", &Device::driver_version, identity.driver_version);
    read_text("architecture", &Device::architecture, identity.architecture);
    const std::optional<std::string_view> bus = reader_.text("pci_bus_id");
    if (bus && !is_pci_bus_id(*bus)) {
      reader_.problems().reject(JsonPath(reader_.path(), "pci_bus_id"), *reader_.get("pci_bus_id"),
                                "an address such as \"0000:01:00.0\", in lower case");
    }
    identity.pci_bus_id = bus.value_or("");
  }

  void read_vendor() {
    const json::Value* value = reader_.get("vendor");
    const auto* name = value != nullptr ? value->get_if<std::string>() : nullptr;
    const auto vendor = name != nullptr ? find_word(vendor_words, *name) : std::nullopt;
    if (vendor) {
      device_.identity.vendor = static_cast<std::uint32_t>(*vendor);
    } else if (value != nullptr) {
      device_.identity.vendor =
          static_cast<std::uint32_t>(reader_.id("vendor", max_u16).value_or(0));
    }
  }

  void read_numbers() {
    DescribedIdentity& identity = device_.identity;
    const auto id32 = [&](std::string_view key, std::uint64_t high, auto& out) {
      if (const auto number = reader_.id(key, high)) out = static_cast<std::uint32_t>(*number);
    };
    read_vendor();
    identity.driver_index = reader_.integer32("driver_index");
    identity.render_minor = reader_.integer32("render_minor");
    identity.numa_node = reader_.integer32("numa_node");
    read_version("cuda_version", identity.cuda_version_major, identity.cuda_version_minor);
    read_version("compute_capability", identity.compute_capability_major,
                 identity.compute_capability_minor);
    id32("pci_device", max_u16, identity.pci_device);
    id32("pci_subsystem", max_u32, identity.pci_subsystem);
    identity.os_id = reader_.id("os_id", max_u64);
    read_instance();
  }

  void read_version(std::string_view key, std::optional<std::uint32_t>& major_part,
                    std::optional<std::uint32_t>& minor_part) {
    const json::Value* value = reader_.get(key);
    if (value == nullptr) return;
    const JsonPath path(reader_.path(), key);
    ObjectReader version(*value, path, reader_.problems());
    major_part = version.integer32("major").value_or(0);
    minor_part = version.integer32("minor").value_or(0);
    version.finish();
  }

  void read_instance() {
    const json::Value* value = reader_.get("instance");
    if (value == nullptr) return;
    const JsonPath path(reader_.path(), "instance");
    ObjectReader instance_reader(*value, path, reader_.problems());
    device_.identity.instance = {instance_reader.integer32("gpu").value_or(0),
                                 instance_reader.integer32("compute").value_or(0)};
    instance_reader.finish();
  }

  void read_metrics() {
    std::set<std::pair<MetricId, std::uint32_t>> instances;
    reader_.for_each("metrics", [&](const json::Value& value, const JsonPath& path) {
      DescribedMetric metric = read_metric(value, path, reader_.problems());
      if (!instances.emplace(metric.value.id, metric.value.instance).second) {
        reader_.problems().add(path, "this metric is listed for the device already");
      }
      device_.metrics.push_back(std::move(metric));
    });
  }

  void read_groups() {
    reader_.for_each("groups", [&](const json::Value& value, const JsonPath& path) {
      ObjectReader reader(value, path, reader_.problems());
      Group& group = device_.groups.emplace_back();
      group.name = reader.text("name").value_or("");
      group.used = reader.bytes("used");
      group.limit = reader.bytes("limit");
      reader.finish();
      if (group.name.empty() || !group.used)
        reader_.problems().add(path, "a group needs a \"name\" and \"used\"");
      if (device_.identity.pci_bus_id.empty()) {
        reader_.problems().add(path, "groups are of a device with a \"pci_bus_id\"");
      }
    });
  }

  void read_rows() {
    std::vector<std::uint32_t> pids;  // as written, 0 for "self", whose number may be written too
    device_.rows.reserve(reader_.length("processes"));
    pids.reserve(device_.rows.capacity());
    reader_.for_each("processes", [&](const json::Value& value, const JsonPath& path) {
      read_row(value, path, reader_.problems(), self_pid_, device_.rows.emplace_back());
      pids.push_back(device_.rows.back().is_self ? 0 : device_.rows.back().value.pid);
    });
    if (const auto repeated = find_repeated(pids)) {
      reader_.problems().add(JsonPath(JsonPath(reader_.path(), "processes"), *repeated),
                             "this process is listed for the device already");
    }
  }

  [[nodiscard]] MemoryKind implied_memory_kind() const {
    if (device_.memory == nullptr) return MemoryKind::unknown;
    return device_.memory->all().front().kind == PoolKind::unified ? MemoryKind::unified
                                                                   : MemoryKind::dedicated;
  }

  void read_kinds() {
    DescribedIdentity& identity = device_.identity;
    const auto memory = reader_.choice("memory_kind", memory_kind_words);
    identity.memory_kind = memory ? static_cast<hmn::MemoryKind>(*memory) : implied_memory_kind();
    const bool is_unified = identity.memory_kind == MemoryKind::unified;
    if (parent_ != nullptr) {  // a partition is what its parent is
      identity.device_class = parent_->device_class;
      identity.form = parent_->form;
    } else {
      const auto device_class = reader_.choice("device_class", device_class_words);
      identity.device_class =
          device_class ? static_cast<hmn::DeviceClass>(*device_class) : hmn::DeviceClass::gpu;
      const auto form = reader_.choice("form", device_form_words);
      identity.form = form         ? static_cast<DeviceForm>(*form)
                      : is_unified ? DeviceForm::integrated
                                   : DeviceForm::discrete;
    }
    const auto condition = reader_.choice("state", state_words);
    identity.state = condition ? static_cast<hmn::State>(*condition) : hmn::State::ready;
  }

  Slot assign_number(std::size_t position) {
    const DescribedIdentity& identity = device_.identity;
    const std::optional<std::string_view> id = reader_.text("id");
    if (id) return numbers_.find_or_add("id " + std::string(*id));
    if (!identity.uuid.empty()) return numbers_.add_unique("uuid ", identity.uuid);
    if (identity.pci_bus_id.empty()) return numbers_.find_or_add(identity.parent, position);
    if (parent_ != nullptr) return numbers_.find_or_add("part " + identity.pci_bus_id);
    return numbers_.add_unique("pci ", identity.pci_bus_id);
  }

  ObjectReader& reader_;
  const DescribedIdentity* parent_;
  std::uint32_t self_pid_;
  DeviceNumbers& numbers_;
  bool is_cut_ = false;
  DescribedDevice& device_;
};

// Reads all devices. Their ids, uuids and numbers must differ; partitions have the numbers of their
// parent.
class DevicesReader {
 public:
  DevicesReader(std::uint32_t self_pid, DeviceNumbers& numbers, Machine& machine)
      : self_pid_(self_pid), numbers_(numbers), machine_(machine) {}

  void read(ObjectReader& root) {
    machine_.devices.reserve(root.length("devices"));
    std::size_t position = 0;
    root.for_each("devices", [&](const json::Value& value, const JsonPath& path) {
      ObjectReader reader(value, path, root.problems());
      const std::size_t index = machine_.devices.size();
      read_device(reader, nullptr, position++);
      read_partitions(reader, index);
      reader.finish();
    });
    if (has_.uuid) reject_repeated(&DescribedIdentity::uuid, true, root);
    if (has_.pci_bus_id) reject_repeated(&DescribedIdentity::pci_bus_id, false, root);
    if (has_.driver_index) reject_repeated(&DescribedIdentity::driver_index, false, root);
    if (has_.render_minor) reject_repeated(&DescribedIdentity::render_minor, false, root);
  }

 private:
  void read_partitions(ObjectReader& reader, std::size_t parent) {
    std::optional<DescribedIdentity> parent_identity;
    if (reader.get("partitions") != nullptr) parent_identity = machine_.devices[parent].identity;
    std::size_t position = 0;
    reader.for_each("partitions", [&](const json::Value& value, const JsonPath& path) {
      ObjectReader partition_reader(value, path, reader.problems());
      read_device(partition_reader, &*parent_identity, position++);
      partition_reader.finish();
    });
  }

  void read_device(ObjectReader& reader, const DescribedIdentity* parent, std::size_t position) {
    DescribedDevice& device = machine_.devices.emplace_back();
    DeviceReader(reader, parent, self_pid_, numbers_, device).read(position);
    has_.uuid |= !device.identity.uuid.empty();
    has_.pci_bus_id |= !device.identity.pci_bus_id.empty();
    has_.driver_index |= device.identity.driver_index.has_value();
    has_.render_minor |= device.identity.render_minor.has_value();
    const Slot slot = device.identity.slot;
    if (machine_.positions.size() <= slot) machine_.positions.resize(slot + std::size_t{1});
    if (machine_.positions[slot] != 0) reject_shared(reader.problems(), reader.path());
    machine_.positions[slot] = machine_.devices.size();
  }

  static void reject_shared(Problems& problems, const JsonPath& path) {
    problems.add(path,
                 "it shares its id, uuid, PCI address, driver index or render node with a device "
                 "before it");
  }

  // Refuses a value of `member` that several devices have. Empty ones are unknown.
  template <class T>
  void reject_repeated(T DescribedIdentity::*member, bool include_partitions, ObjectReader& root) {
    using Key = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
    std::vector<Key> values;
    std::vector<std::size_t> positions;
    for (const DescribedDevice& device : machine_.devices) {
      const T& value = device.identity.*member;
      if (value == T() || (device.identity.parent && !include_partitions)) continue;
      values.push_back(value);
      positions.push_back(static_cast<std::size_t>(&device - machine_.devices.data()));
    }
    if (const auto repeated = find_repeated(values)) reject_device(positions[*repeated], root);
  }

  void reject_device(std::size_t position, ObjectReader& root) {
    const auto begin = machine_.devices.begin();
    const auto is_whole = [](const DescribedDevice& d) { return !d.identity.parent; };
    const auto it = begin + static_cast<std::ptrdiff_t>(position);
    const auto wholes = static_cast<std::size_t>(std::count_if(begin, it + 1, is_whole));
    const JsonPath list(root.path(), "devices");
    const JsonPath parent_path(list, wholes - 1);
    if (is_whole(*it)) return reject_shared(root.problems(), parent_path);
    std::size_t part = 0;
    for (auto before = it - 1; !is_whole(*before); --before) ++part;
    reject_shared(root.problems(), JsonPath(JsonPath(parent_path, "partitions"), part));
  }

  std::uint32_t self_pid_;
  DeviceNumbers& numbers_;
  Machine& machine_;
  // Whether any device has the value, since a search through 100,000 of them takes time.
  struct {
    bool uuid = false, pci_bus_id = false, driver_index = false, render_minor = false;
  } has_;
};

}  // namespace

Slot DeviceNumbers::find_or_add(std::string key) {
  const auto [it, is_new] = key_numbers_.try_emplace(std::move(key), count_);
  if (is_new) ++count_;
  return it->second;
}

Slot DeviceNumbers::find_or_add(std::optional<Slot> parent, std::size_t position) {
  if (!has_changes_) return count_++;
  if (!parent) {
    if (position_numbers_.size() <= position) position_numbers_.resize(position + 1);
    std::optional<Slot>& number = position_numbers_[position];
    if (!number) number = count_++;
    return *number;
  }
  const auto [it, is_new] =
      parent_numbers_.try_emplace(std::uint64_t{*parent} << 32 | position, count_);
  if (is_new) ++count_;
  return it->second;
}

Device make_device(const DescribedIdentity& identity) noexcept {
  Device device;
#define HMN_COPY_MEMBER(member, ...) put(device.member, identity.member);
  HMN_DEVICE_FIELDS(HMN_COPY_MEMBER)
#undef HMN_COPY_MEMBER
  device.slot = identity.slot;
  device.parent = identity.parent;
  device.is_partition = identity.parent.has_value();
  return device;
}

void read_devices(ObjectReader& root, std::uint32_t self_pid, DeviceNumbers& numbers,
                  Machine& out) {
  DevicesReader(self_pid, numbers, out).read(root);
}

}  // namespace hmn::simulated
