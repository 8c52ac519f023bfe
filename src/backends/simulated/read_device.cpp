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

constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();

void read_name(ObjectReader& o, Usage& out) {
  const std::optional<std::string_view> name = o.text("name");
  const std::optional<std::uint32_t> state = o.one_word("name_state", name_state_words);
  const auto resolved = static_cast<std::uint32_t>(NameState::resolved);
  const std::uint32_t implied = name ? resolved : static_cast<std::uint32_t>(NameState::unknown);
  if (state && (*state == resolved) != name.has_value()) {
    o.found().add(Place(o.at(), "name_state"),
                  "a name is there when, and only when, it is \"resolved\"");
  }
  if (name && name->empty()) o.found().add(Place(o.at(), "name"), "the name is empty");
  out.name_state = static_cast<NameState>(state.value_or(implied));
  out.name = name.value_or("");
}

std::optional<MigInstance> read_instance(ObjectReader& o) {
  const json::Value* v = o.get("instance");
  if (v == nullptr) return {};
  const Place here(o.at(), "instance");
  ObjectReader i(*v, here, o.found());
  MigInstance instance{i.whole32("gpu").value_or(0), i.whole32("compute").value_or(0)};
  i.finish();
  return instance;
}

std::unique_ptr<const Failure> read_missing(ObjectReader& o, const Usage& row) {
  const json::Value* v = o.get("missing");
  if (v == nullptr) return {};
  const Place here(o.at(), "missing");
  ObjectReader m(*v, here, o.found());
  Failure why = read_failure(m, "this value");
  m.finish();
  if (row.used) o.found().add(here, "\"used\" is given and cannot be missing");
  return std::make_unique<Failure>(why);
}

}  // namespace

void read_pid(ObjectReader& o, std::uint32_t self_pid, Usage& out, bool& is_self) {
  constexpr std::string_view expected = "a process id from 1 to 4294967295, or \"self\"";
  const json::Value* v = o.get("pid");
  if (v == nullptr) return o.missing("pid", expected);
  const auto* text = v->as<std::string>();
  const auto* number = v->as<std::uint64_t>();
  is_self = text != nullptr && *text == "self";
  const bool is_pid = number != nullptr && *number > 0 && *number <= most32;
  if (!is_self && !is_pid) o.found().refuse(Place(o.at(), "pid"), *v, expected);
  out.pid = is_pid ? static_cast<std::uint32_t>(*number) : self_pid;
}

namespace {

// Wall clock when a first process was described by its age: that of the following ones, and of a
// machine that is read again after a change, counts from the same time.
std::uint64_t described_at_unix_ns() noexcept {
  constinit static std::atomic<std::uint64_t> first{0};
  std::uint64_t known = 0;
  const std::uint64_t now = platform::unix_ns();
  return first.compare_exchange_strong(known, now) ? now : known;
}

// Reads the start as a date, or as the age of the process: an example is not older every day.
std::optional<std::uint64_t> read_start(ObjectReader& o) {
  const auto date = o.whole("start_unix_ns", 0, most);
  const auto age_s = o.whole("running_s", 0, most32);
  if (!age_s) return date;
  if (date) o.found().add(Place(o.at(), "running_s"), "\"start_unix_ns\" is given as well");
  const std::uint64_t now = described_at_unix_ns();
  return now - std::min(now, *age_s * platform::ns_per_second);
}

}  // namespace

void read_facts(ObjectReader& o, Usage& out) {
  read_name(o, out);
  out.uid = o.whole32("uid");
  out.start_unix_ns = read_start(o);
  out.command = o.text("command").value_or("");
  out.container = o.text("container").value_or("");
}

void read_row(const json::Value& v, const Place& at, Problems& found, std::uint32_t self_pid,
              DescribedRow& out) {
  ObjectReader o(v, at, found);
  Usage& u = out.value;
  u.from = Source::simulated;
  read_pid(o, self_pid, u, out.is_self);
  read_facts(o, u);
  u.instance = read_instance(o);
  const auto allocated = static_cast<std::uint32_t>(Accounting::allocated);
  u.accounting =
      static_cast<Accounting>(o.one_word("accounting", accounting_words).value_or(allocated));
  read_fields(o, described_usage(), &u);
  u.busy_percent = o.real("busy_percent", 0, 100);
  const auto window = o.whole("window_ns", 0, most);
  if (u.busy_percent) u.window_ns = window.value_or(0);
  u.notes = read_notes(o);
  out.missing = read_missing(o, u);
  o.finish();
}

namespace {

constexpr double farthest = 1e18;

// Looks up the name returned by hmn_metric_name.
const MetricWords* read_id(ObjectReader& o) {
  constexpr std::string_view expected = "a metric, such as \"temperature\"";
  const json::Value* v = o.get("metric");
  if (v == nullptr) {
    o.missing("metric", expected);
    return nullptr;
  }
  const auto* name = v->as<std::string>();
  const MetricWords* const words = name != nullptr ? words_of_metric(*name) : nullptr;
  if (words == nullptr) o.found().refuse(Place(o.at(), "metric"), *v, expected);
  return words;
}

// Reads a number, or a word of the metric.
std::uint32_t read_instance(ObjectReader& o, const MetricWords& words) {
  const json::Value* v = o.get("instance");
  if (v == nullptr) return 0;
  const auto* number = v->as<std::uint64_t>();
  if (number != nullptr && *number <= most32) return static_cast<std::uint32_t>(*number);
  const auto* name = v->as<std::string>();
  const auto named = name != nullptr ? number_of(words.instances, *name) : std::nullopt;
  if (!named) {
    o.found().refuse(Place(o.at(), "instance"), *v, "a number, or an instance of the metric");
  }
  return static_cast<std::uint32_t>(named.value_or(0));
}

std::optional<Failure> read_missing(ObjectReader& o) {
  const json::Value* v = o.get("missing");
  if (v == nullptr) return {};
  const Place here(o.at(), "missing");
  ObjectReader m(*v, here, o.found());
  Failure why = read_failure(m, "this value");
  m.finish();
  return why;
}

}  // namespace

DescribedMetric read_metric(const json::Value& v, const Place& at, Problems& found) {
  ObjectReader o(v, at, found);
  DescribedMetric d;
  Metric& m = d.value;
  m.from = Source::simulated;
  if (const MetricWords* const words = read_id(o)) {
    m.id = words->id;
    m.instance = read_instance(o, *words);
  }
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

namespace {

constexpr std::uint64_t most16 = std::numeric_limits<std::uint16_t>::max();

template <class T>
void put(T& to, const T& from) noexcept {
  to = from;
}
template <std::size_t N>
void put(Text<N>& to, const std::string& from) noexcept {
  to.assign(from);
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
  DeviceReader(ObjectReader& o, const DescribedIdentity* parent, std::uint32_t self_pid,
               DeviceNumbers& numbers, DescribedDevice& out)
      : o_(o), parent_(parent), self_pid_(self_pid), numbers_(numbers), d_(out) {}

  void read(std::size_t position) {
    DescribedIdentity& who = d_.identity;
    who.from = Source::simulated;
    if (parent_ != nullptr) inherit();
    read_names();
    read_numbers();
    d_.memory = read_pools(o_);
    d_.load = read_telemetry(o_);
    read_metrics();
    if (parent_ == nullptr) read_groups();
    read_rows();
    read_kinds();
    who.notes = read_notes(o_) | (is_cut_ ? note::truncated : 0);
    d_.conduct = read_conduct(o_, Level::device);
    who.number = number_at(position);
  }

 private:
  void inherit() {
    d_.identity.parent = parent_->number;
    d_.identity.vendor = parent_->vendor;
    d_.identity.driver_version = parent_->driver_version;
    d_.identity.cuda_version_major = parent_->cuda_version_major;
    d_.identity.cuda_version_minor = parent_->cuda_version_minor;
    d_.identity.compute_capability_major = parent_->compute_capability_major;
    d_.identity.compute_capability_minor = parent_->compute_capability_minor;
    d_.identity.architecture = parent_->architecture;
  }

  // Keeps as much of a text as the member `like` of a device holds.
  template <std::size_t N>
  void read_text(std::string_view key, Text<N> Device::*, std::string& out) {
    const std::optional<std::string_view> given = o_.text(key);
    if (!given) return;
    if (given->size() < N && given->find('\0') == given->npos) {
      out = *given;  // JSON is UTF-8
      return;
    }
    const Text<N> fitting(*given);
    out = fitting.view();
    is_cut_ |= fitting.was_cut();
  }

  void read_names() {
    DescribedIdentity& who = d_.identity;
    read_text("name", &Device::name, who.name);
    read_text("uuid", &Device::uuid, who.uuid);
    read_text("driver_version", &Device::driver_version, who.driver_version);
    read_text("architecture", &Device::architecture, who.architecture);
    const std::optional<std::string_view> bus = o_.text("pci_bus_id");
    if (bus && !is_pci_bus_id(*bus)) {
      o_.found().refuse(Place(o_.at(), "pci_bus_id"), *o_.get("pci_bus_id"),
                        "an address such as \"0000:01:00.0\", in lower case");
    }
    who.pci_bus_id = bus.value_or("");
  }

  void read_vendor() {
    const json::Value* v = o_.get("vendor");
    const auto* name = v != nullptr ? v->as<std::string>() : nullptr;
    const auto known = name != nullptr ? find_word(vendor_words, *name) : std::nullopt;
    if (known) {
      d_.identity.vendor = static_cast<std::uint32_t>(*known);
    } else if (v != nullptr) {
      d_.identity.vendor = static_cast<std::uint32_t>(o_.id("vendor", most16).value_or(0));
    }
  }

  void read_numbers() {
    DescribedIdentity& who = d_.identity;
    const auto id32 = [&](std::string_view key, std::uint64_t high, auto& out) {
      if (const auto number = o_.id(key, high)) out = static_cast<std::uint32_t>(*number);
    };
    read_vendor();
    who.driver_index = o_.whole32("driver_index");
    who.render_minor = o_.whole32("render_minor");
    who.numa_node = o_.whole32("numa_node");
    read_version("cuda_version", who.cuda_version_major, who.cuda_version_minor);
    read_version("compute_capability", who.compute_capability_major, who.compute_capability_minor);
    id32("pci_device", most16, who.pci_device);
    id32("pci_subsystem", most32, who.pci_subsystem);
    who.os_id = o_.id("os_id", most64);
    read_instance();
  }

  void read_version(std::string_view key, std::optional<std::uint32_t>& major_part,
                    std::optional<std::uint32_t>& minor_part) {
    const json::Value* v = o_.get(key);
    if (v == nullptr) return;
    const Place here(o_.at(), key);
    ObjectReader version(*v, here, o_.found());
    major_part = version.whole32("major").value_or(0);
    minor_part = version.whole32("minor").value_or(0);
    version.finish();
  }

  void read_instance() {
    const json::Value* v = o_.get("instance");
    if (v == nullptr) return;
    const Place here(o_.at(), "instance");
    ObjectReader i(*v, here, o_.found());
    d_.identity.instance = {i.whole32("gpu").value_or(0), i.whole32("compute").value_or(0)};
    i.finish();
  }

  void read_metrics() {
    std::set<std::pair<MetricId, std::uint32_t>> seen;
    o_.each("metrics", [&](const json::Value& v, const Place& at) {
      DescribedMetric m = read_metric(v, at, o_.found());
      if (!seen.emplace(m.value.id, m.value.instance).second) {
        o_.found().add(at, "this metric stands on the device already");
      }
      d_.metrics.push_back(std::move(m));
    });
  }

  void read_groups() {
    o_.each("groups", [&](const json::Value& v, const Place& at) {
      ObjectReader o(v, at, o_.found());
      Group& g = d_.groups.emplace_back();
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
    std::vector<std::uint32_t> pids;  // as written, 0 for "self", whose number may be written too
    d_.rows.reserve(o_.length("processes"));
    pids.reserve(d_.rows.capacity());
    o_.each("processes", [&](const json::Value& v, const Place& at) {
      read_row(v, at, o_.found(), self_pid_, d_.rows.emplace_back());
      pids.push_back(d_.rows.back().is_self ? 0 : d_.rows.back().value.pid);
    });
    if (const auto twice = find_repeated(pids)) {
      o_.found().add(Place(Place(o_.at(), "processes"), *twice),
                     "this process stands on the device already");
    }
  }

  [[nodiscard]] MemoryKind implied_memory_kind() const {
    if (d_.memory == nullptr) return MemoryKind::unknown;
    return d_.memory->all().front().kind == PoolKind::unified ? MemoryKind::unified
                                                              : MemoryKind::dedicated;
  }

  void read_kinds() {
    DescribedIdentity& who = d_.identity;
    const auto memory = o_.one_word("memory_kind", memory_kind_words);
    who.memory_kind = memory ? static_cast<hmn::MemoryKind>(*memory) : implied_memory_kind();
    const bool is_unified = who.memory_kind == MemoryKind::unified;
    if (parent_ != nullptr) {  // a partition is what its parent is
      who.device_class = parent_->device_class;
      who.form = parent_->form;
    } else {
      const auto device_class = o_.one_word("device_class", device_class_words);
      who.device_class =
          device_class ? static_cast<hmn::DeviceClass>(*device_class) : hmn::DeviceClass::gpu;
      const auto form = o_.one_word("form", device_form_words);
      who.form = form         ? static_cast<DeviceForm>(*form)
                 : is_unified ? DeviceForm::integrated
                              : DeviceForm::discrete;
    }
    const auto condition = o_.one_word("state", state_words);
    who.state = condition ? static_cast<hmn::State>(*condition) : hmn::State::ready;
  }

  Slot number_at(std::size_t position) {
    const DescribedIdentity& who = d_.identity;
    const std::optional<std::string_view> id = o_.text("id");
    if (id) return numbers_.of("id " + std::string(*id));
    if (!who.uuid.empty()) return numbers_.of_unique("uuid ", who.uuid);
    if (who.pci_bus_id.empty()) return numbers_.of(who.parent, position);
    if (parent_ != nullptr) return numbers_.of("part " + who.pci_bus_id);
    return numbers_.of_unique("pci ", who.pci_bus_id);
  }

  ObjectReader& o_;
  const DescribedIdentity* parent_;
  std::uint32_t self_pid_;
  DeviceNumbers& numbers_;
  bool is_cut_ = false;
  DescribedDevice& d_;
};

// Reads all devices. Their ids, uuids and numbers must differ; partitions have the numbers of their
// parent.
class DevicesReader {
 public:
  DevicesReader(std::uint32_t self_pid, DeviceNumbers& numbers, Machine& out)
      : self_pid_(self_pid), numbers_(numbers), out_(out) {}

  void read(ObjectReader& root) {
    out_.devices.reserve(root.length("devices"));
    std::size_t position = 0;
    root.each("devices", [&](const json::Value& v, const Place& at) {
      ObjectReader o(v, at, root.found());
      const std::size_t here = out_.devices.size();
      read_one(o, nullptr, position++);
      read_partitions(o, here);
      o.finish();
    });
    if (has_.uuid) refuse_repeated(&DescribedIdentity::uuid, true, root);
    if (has_.pci_bus_id) refuse_repeated(&DescribedIdentity::pci_bus_id, false, root);
    if (has_.driver_index) refuse_repeated(&DescribedIdentity::driver_index, false, root);
    if (has_.render_minor) refuse_repeated(&DescribedIdentity::render_minor, false, root);
  }

 private:
  void read_partitions(ObjectReader& o, std::size_t parent) {
    std::optional<DescribedIdentity> whole;
    if (o.get("partitions") != nullptr) whole = out_.devices[parent].identity;
    std::size_t position = 0;
    o.each("partitions", [&](const json::Value& v, const Place& at) {
      ObjectReader p(v, at, o.found());
      read_one(p, &*whole, position++);
      p.finish();
    });
  }

  void read_one(ObjectReader& o, const DescribedIdentity* parent, std::size_t position) {
    DescribedDevice& d = out_.devices.emplace_back();
    DeviceReader(o, parent, self_pid_, numbers_, d).read(position);
    has_.uuid |= !d.identity.uuid.empty();
    has_.pci_bus_id |= !d.identity.pci_bus_id.empty();
    has_.driver_index |= d.identity.driver_index.has_value();
    has_.render_minor |= d.identity.render_minor.has_value();
    const Slot number = d.identity.number;
    if (out_.positions.size() <= number) out_.positions.resize(number + std::size_t{1});
    if (out_.positions[number] != 0) refuse_shared(o.found(), o.at());
    out_.positions[number] = out_.devices.size();
  }

  static void refuse_shared(Problems& found, const Place& at) {
    found.add(at,
              "it shares its id, uuid, PCI address, driver index or render node with a device "
              "before it");
  }

  // Refuses a value of `member` that several devices have. Empty ones are unknown.
  template <class T>
  void refuse_repeated(T DescribedIdentity::*member, bool of_partitions, ObjectReader& root) {
    using Key = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
    std::vector<Key> values;
    std::vector<std::size_t> positions;
    for (const DescribedDevice& d : out_.devices) {
      const T& value = d.identity.*member;
      if (value == T() || (d.identity.parent && !of_partitions)) continue;
      values.push_back(value);
      positions.push_back(static_cast<std::size_t>(&d - out_.devices.data()));
    }
    if (const auto twice = find_repeated(values)) refuse_at(positions[*twice], root);
  }

  void refuse_at(std::size_t position, ObjectReader& root) {
    const auto begin = out_.devices.begin();
    const auto is_whole = [](const DescribedDevice& d) { return !d.identity.parent; };
    const auto here = begin + static_cast<std::ptrdiff_t>(position);
    const auto wholes = static_cast<std::size_t>(std::count_if(begin, here + 1, is_whole));
    const Place list(root.at(), "devices");
    const Place whole(list, wholes - 1);
    if (is_whole(*here)) return refuse_shared(root.found(), whole);
    std::size_t part = 0;
    for (auto before = here - 1; !is_whole(*before); --before) ++part;
    refuse_shared(root.found(), Place(Place(whole, "partitions"), part));
  }

  std::uint32_t self_pid_;
  DeviceNumbers& numbers_;
  Machine& out_;
  // Whether any device has the value, since a search through 100,000 of them takes time.
  struct {
    bool uuid = false, pci_bus_id = false, driver_index = false, render_minor = false;
  } has_;
};

}  // namespace

Slot DeviceNumbers::of(std::string key) {
  const auto [at, is_new] = by_key_.try_emplace(std::move(key), count_);
  if (is_new) ++count_;
  return at->second;
}

Slot DeviceNumbers::of(std::optional<Slot> parent, std::size_t position) {
  if (!has_changes_) return count_++;
  if (!parent) {
    if (by_position_.size() <= position) by_position_.resize(position + 1);
    std::optional<Slot>& at = by_position_[position];
    if (!at) at = count_++;
    return *at;
  }
  const auto [at, is_new] = by_parent_.try_emplace(std::uint64_t{*parent} << 32 | position, count_);
  if (is_new) ++count_;
  return at->second;
}

Device as_device(const DescribedIdentity& d) noexcept {
  Device out;
#define HMN_COPY_MEMBER(member, ...) put(out.member, d.member);
  HMN_DEVICE_FIELDS(HMN_COPY_MEMBER)
#undef HMN_COPY_MEMBER
  out.number = d.number;
  out.parent = d.parent;
  out.is_part = d.parent.has_value();
  return out;
}

void read_devices(ObjectReader& root, std::uint32_t self_pid, DeviceNumbers& numbers,
                  Machine& out) {
  DevicesReader(self_pid, numbers, out).read(root);
}

}  // namespace hmn::simulated
