// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_frameworks.hpp"

#include <cstring>
#include <set>

#include "objects.hpp"

namespace hmn_fake {
namespace {

namespace metal = hmn::metal;
using metal::Cf;
using metal::IoObject;

Apple* now = nullptr;

// ---- the registry ----

struct Entry {
  enum class Is { list, gpu, card, pmgr } what;
  std::size_t index = 0;
  std::vector<Entry> rest;  // of a list
};
std::map<IoObject, Entry> entries;
IoObject last_entry = 0;

IoObject give(Entry e) {
  entries[++last_entry] = std::move(e);
  return last_entry;
}

const MacGpu& gpu_of(const Entry& e) {
  return now->gpus.at(e.index);
}

// Takes the dictionary in any case.
int find_services(unsigned, Cf matching, IoObject* out) {
  const std::string of_class = as_object(matching)->text;
  release(as_object(matching));
  if (now->find_code != 0) return now->find_code;
  Entry list{Entry::Is::list, 0, {}};
  for (std::size_t i = 0; of_class == "IOAccelerator" && i < now->gpus.size(); ++i) {
    list.rest.push_back({Entry::Is::gpu, i, {}});
  }
  if (of_class == "AppleARMIODevice" && !now->clocks.empty()) {
    list.rest.push_back({Entry::Is::pmgr, 0, {}});
  }
  *out = give(std::move(list));
  return 0;
}

IoObject next(IoObject of) {
  Entry& list = entries.at(of);
  if (list.rest.empty()) return 0;
  const Entry first = list.rest.front();
  list.rest.erase(list.rest.begin());
  return give(first);
}

int class_of(IoObject o, char* name) {
  std::strcpy(name, gpu_of(entries.at(o)).of_class.c_str());
  return 0;
}

int name_of(IoObject, char* name) {
  std::strcpy(name, "pmgr");
  return 0;
}

int id_of(IoObject o, std::uint64_t* id) {
  *id = gpu_of(entries.at(o)).id;
  return 0;
}

int parent_of(IoObject o, const char* plane, IoObject* parent) {
  const Entry e = entries.at(o);
  if (std::strcmp(plane, "IOService") != 0 || !gpu_of(e).card) return -1;
  *parent = give({Entry::Is::card, e.index, {}});
  return 0;
}

std::string bytes_of(std::uint32_t n) {
  return {reinterpret_cast<const char*>(&n), sizeof n};
}

Object* properties_of_gpu(const MacGpu& g) {
  Object* const all = make(Kind::dictionary);
  set(all, "CFBundleIdentifier", make_text("com.apple.AGX"));
  if (g.vram_megabytes) set(all, "VRAM,totalMB", make_number(*g.vram_megabytes));
  if (!g.has_statistics) return all;
  Object* const table = make(Kind::dictionary);
  for (const auto& [key, value] : g.statistics) set(table, key, make_number(value));
  set(all, "PerformanceStatistics", table);
  return all;
}

Object* properties_of_card(const MacCard& c) {
  Object* const all = make(Kind::dictionary);
  set(all, "vendor-id", make_data(bytes_of(c.vendor)));
  set(all, "device-id", make_data(bytes_of(c.device)));
  set(all, "pcidebug", make_text(c.pcidebug));
  set(all, "model", make_data(c.model + '\0'));
  return all;
}

int properties_of(IoObject o, Cf* out, Cf, std::uint32_t) {
  const Entry& e = entries.at(o);
  if (e.what == Entry::Is::gpu) {
    *out = properties_of_gpu(gpu_of(e));
  } else if (e.what == Entry::Is::card) {
    *out = properties_of_card(*gpu_of(e).card);
  } else {
    Object* const all = make(Kind::dictionary);
    std::string bytes;
    for (const std::uint32_t n : now->clocks) bytes += bytes_of(n);
    set(all, "voltage-states9", make_data(bytes));
    *out = all;
  }
  return 0;
}

// ---- Metal ----

const MacMetalDevice& device_of(Cf o) {
  const std::size_t index = as_object(o)->index;
  return index < now->devices.size() ? now->devices[index] : *now->default_device;
}

Object* make_device(std::size_t index) {
  Object* const o = make(Kind::other);
  o->index = index;
  return o;
}

Cf copy_all_devices() {
  Object* const list = make(Kind::array);
  for (std::size_t i = 0; i < now->devices.size(); ++i) list->items.push_back(make_device(i));
  return list;
}

Cf make_default_device() {
  ++now->defaults_made;
  return now->default_device ? make_device(now->devices.size()) : nullptr;
}

void* selector(const char* name) {
  static std::set<std::string> known;
  return const_cast<char*>(known.insert(name).first->c_str());
}

// nil answers 0 to anything.
std::uint64_t ask_number(Cf o, void* what) {
  const std::string_view name(static_cast<const char*>(what));
  if (o == nullptr) return 0;
  if (name == "count") return as_object(o)->items.size();
  if (name == "registryID") return device_of(o).id;
  if (name == "recommendedMaxWorkingSetSize") return device_of(o).budget;
  std::abort();  // as an object does that does not know the message
}

Cf ask_at(Cf o, void*, unsigned long index) {
  return o != nullptr ? as_object(o)->items.at(index) : nullptr;
}

int pools = 0;

// ---- IOReport ----

Cf copy_channels(Cf group, Cf subgroup, std::uint64_t, std::uint64_t, std::uint64_t) {
  Object* const found = make(Kind::dictionary);
  for (std::size_t i = 0; i < now->channels.size(); ++i) {
    const MacChannel& c = now->channels[i];
    const bool is_in = c.group == as_object(group)->text &&
                       (subgroup == nullptr || c.subgroup == as_object(subgroup)->text);
    if (is_in) found->items.push_back(make_device(i));
  }
  if (!found->items.empty()) return found;
  release(found);
  return nullptr;
}

void merge_channels(Cf into, Cf from, Cf) {
  for (const Object* each : as_object(from)->items) {
    as_object(into)->items.push_back(make_device(each->index));
  }
}

Cf subscribe(const void*, Cf channels, Cf* subscribed, std::uint64_t, Cf) {
  ++as_object(channels)->references;
  *subscribed = channels;
  return make(Kind::other);
}

Object* make_sample_of(std::size_t index) {
  const MacChannel& c = now->channels.at(index);
  Object* const o = make(Kind::dictionary);
  o->index = index;
  set(o, "group", make_text(c.group));
  set(o, "name", make_text(c.name));
  set(o, "unit", make_text(c.unit));
  for (const MacState& s : c.states) o->items.push_back(make_text(s.name));
  return o;
}

Cf sample(Cf, Cf subscribed, Cf) {
  Object* const list = make(Kind::array);
  for (const Object* each : as_object(subscribed)->items) {
    list->items.push_back(make_sample_of(each->index));
  }
  Object* const all = make(Kind::dictionary);
  set(all, "IOReportChannels", list);
  return all;
}

Cf member(Cf o, const char* key) {
  for (const auto& [name, value] : as_object(o)->members) {
    if (name == key) return value;
  }
  return nullptr;
}

const MacChannel& channel_of(Cf o) {
  return now->channels.at(as_object(o)->index);
}

// ---- sensors ----

int set_matching(Cf, Cf matching) {
  const Object* const page = as_object(member(matching, "PrimaryUsagePage"));
  const Object* const usage = as_object(member(matching, "PrimaryUsage"));
  if (page->number != 0xff00 || usage->number != 5) std::abort();
  return 0;
}

Cf copy_services(Cf) {
  Object* const list = make(Kind::array);
  for (std::size_t i = 0; i < now->thermometers.size(); ++i) {
    list->items.push_back(make_device(i));
  }
  return list;
}

Cf copy_property(Cf service, Cf key) {
  if (as_object(key)->text != "Product") return nullptr;
  return make_text(now->thermometers.at(as_object(service)->index).name);
}

Cf copy_event(Cf service, std::int64_t type, std::int32_t, std::int64_t) {
  const std::size_t index = as_object(service)->index;
  if (type != 15 || !now->thermometers.at(index).has_event) return nullptr;
  return make_device(index);
}

}  // namespace

Apple::Apple() {
  now = this;
}

Apple::~Apple() {
  now = nullptr;
}

int Apple::live() {
  return live_objects() + static_cast<int>(entries.size()) + pools;
}

hmn::Result<metal::Frameworks> Apple::load() {
  ++now->loads;
  if (!now->has_frameworks) {
    return hmn::Failure{hmn::Status::no_source, hmn::Source::metal, {}, "no CoreFoundation"};
  }
  metal::Frameworks f{};
  f.core = core_calls();
  f.registry = {
      .matching = [](const char* of_class) -> Cf { return make_text(of_class); },
      .find_services = find_services,
      .next = next,
      .release = [](IoObject o) { return entries.erase(o) == 1 ? 0 : 1; },
      .class_of = class_of,
      .name_of = name_of,
      .id_of = id_of,
      .parent_of = parent_of,
      .properties_of = properties_of,
  };
  f.metal = {
      .copy_all_devices = copy_all_devices,
      .make_default_device = make_default_device,
      .selector = selector,
      .ask_number = ask_number,
      .ask_at = ask_at,
      .open_pool = []() -> void* { return ++pools, nullptr; },
      .close_pool = [](void*) { --pools; },
  };
  f.report = {
      .copy_channels = copy_channels,
      .merge_channels = merge_channels,
      .subscribe = subscribe,
      .sample = sample,
      .group_of = [](Cf c) { return member(c, "group"); },
      .name_of = [](Cf c) { return member(c, "name"); },
      .unit_of = [](Cf c) { return member(c, "unit"); },
      .value_of = [](Cf c, std::int32_t) { return channel_of(c).value; },
      .state_count = [](Cf c) { return static_cast<std::int32_t>(channel_of(c).states.size()); },
      .state_name = [](Cf c, std::int32_t i) -> Cf {
        return as_object(c)->items.at(static_cast<std::size_t>(i));
      },
      .state_time =
          [](Cf c, std::int32_t i) {
            return channel_of(c).states.at(static_cast<std::size_t>(i)).ticks;
          },
  };
  f.sensors = {
      .make_client = [](Cf) -> Cf { return make(Kind::other); },
      .set_matching = set_matching,
      .copy_services = copy_services,
      .copy_property = copy_property,
      .copy_event = copy_event,
      .value_of =
          [](Cf event, std::int32_t) {
            return now->thermometers.at(as_object(event)->index).celsius;
          },
  };
  f.has_metal = now->has_metal;
  f.has_report = now->has_report;
  f.has_sensors = now->has_sensors;
  return f;
}

}  // namespace hmn_fake
