// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_frameworks.hpp"

#include <cstring>
#include <set>

#include "objects.hpp"

namespace hmn_fake {
namespace {

namespace metal = hmn::metal;
using metal::cf;
using metal::io_object;

apple* now = nullptr;

// ---- the registry ----

struct entry {
  enum class is { list, gpu, card, pmgr } what;
  std::size_t index = 0;
  std::vector<entry> rest;  // of a list
};
std::map<io_object, entry> entries;
io_object last_entry = 0;

io_object give(entry e) {
  entries[++last_entry] = std::move(e);
  return last_entry;
}

const mac_gpu& gpu_of(const entry& e) {
  return now->gpus.at(e.index);
}

// Takes the dictionary in any case.
int find_services(unsigned, cf matching, io_object* out) {
  const std::string of_class = as_object(matching)->text;
  release(as_object(matching));
  if (now->find_code != 0) return now->find_code;
  entry list{entry::is::list, 0, {}};
  for (std::size_t i = 0; of_class == "IOAccelerator" && i < now->gpus.size(); ++i) {
    list.rest.push_back({entry::is::gpu, i, {}});
  }
  if (of_class == "AppleARMIODevice" && !now->clocks.empty()) {
    list.rest.push_back({entry::is::pmgr, 0, {}});
  }
  *out = give(std::move(list));
  return 0;
}

io_object next(io_object of) {
  entry& list = entries.at(of);
  if (list.rest.empty()) return 0;
  const entry first = list.rest.front();
  list.rest.erase(list.rest.begin());
  return give(first);
}

int class_of(io_object o, char* name) {
  std::strcpy(name, gpu_of(entries.at(o)).of_class.c_str());
  return 0;
}

int name_of(io_object, char* name) {
  std::strcpy(name, "pmgr");
  return 0;
}

int id_of(io_object o, std::uint64_t* id) {
  *id = gpu_of(entries.at(o)).id;
  return 0;
}

int parent_of(io_object o, const char* plane, io_object* parent) {
  const entry e = entries.at(o);
  if (std::strcmp(plane, "IOService") != 0 || !gpu_of(e).card) return -1;
  *parent = give({entry::is::card, e.index, {}});
  return 0;
}

std::string bytes_of(std::uint32_t n) {
  return {reinterpret_cast<const char*>(&n), sizeof n};
}

object* properties_of_gpu(const mac_gpu& g) {
  object* const all = make(kind::dictionary);
  set(all, "CFBundleIdentifier", make_text("com.apple.AGX"));
  if (g.vram_megabytes) set(all, "VRAM,totalMB", make_number(*g.vram_megabytes));
  if (!g.has_statistics) return all;
  object* const table = make(kind::dictionary);
  for (const auto& [key, value] : g.statistics) set(table, key, make_number(value));
  set(all, "PerformanceStatistics", table);
  return all;
}

object* properties_of_card(const mac_card& c) {
  object* const all = make(kind::dictionary);
  set(all, "vendor-id", make_data(bytes_of(c.vendor)));
  set(all, "device-id", make_data(bytes_of(c.device)));
  set(all, "pcidebug", make_text(c.pcidebug));
  set(all, "model", make_data(c.model + '\0'));
  return all;
}

int properties_of(io_object o, cf* out, cf, std::uint32_t) {
  const entry& e = entries.at(o);
  if (e.what == entry::is::gpu) {
    *out = properties_of_gpu(gpu_of(e));
  } else if (e.what == entry::is::card) {
    *out = properties_of_card(*gpu_of(e).card);
  } else {
    object* const all = make(kind::dictionary);
    std::string bytes;
    for (const std::uint32_t n : now->clocks) bytes += bytes_of(n);
    set(all, "voltage-states9", make_data(bytes));
    *out = all;
  }
  return 0;
}

// ---- Metal ----

const mac_metal_device& device_of(cf o) {
  const std::size_t index = as_object(o)->index;
  return index < now->devices.size() ? now->devices[index] : *now->default_device;
}

object* make_device(std::size_t index) {
  object* const o = make(kind::other);
  o->index = index;
  return o;
}

cf copy_all_devices() {
  object* const list = make(kind::array);
  for (std::size_t i = 0; i < now->devices.size(); ++i) list->items.push_back(make_device(i));
  return list;
}

cf make_default_device() {
  ++now->defaults_made;
  return now->default_device ? make_device(now->devices.size()) : nullptr;
}

void* selector(const char* name) {
  static std::set<std::string> known;
  return const_cast<char*>(known.insert(name).first->c_str());
}

// nil answers 0 to anything.
std::uint64_t ask_number(cf o, void* what) {
  const std::string_view name(static_cast<const char*>(what));
  if (o == nullptr) return 0;
  if (name == "count") return as_object(o)->items.size();
  if (name == "registryID") return device_of(o).id;
  if (name == "recommendedMaxWorkingSetSize") return device_of(o).budget;
  std::abort();  // as an object does that does not know the message
}

cf ask_at(cf o, void*, unsigned long index) {
  return o != nullptr ? as_object(o)->items.at(index) : nullptr;
}

int pools = 0;

// ---- IOReport ----

cf copy_channels(cf group, cf subgroup, std::uint64_t, std::uint64_t, std::uint64_t) {
  object* const found = make(kind::dictionary);
  for (std::size_t i = 0; i < now->channels.size(); ++i) {
    const mac_channel& c = now->channels[i];
    const bool is_in = c.group == as_object(group)->text &&
                       (subgroup == nullptr || c.subgroup == as_object(subgroup)->text);
    if (is_in) found->items.push_back(make_device(i));
  }
  if (!found->items.empty()) return found;
  release(found);
  return nullptr;
}

void merge_channels(cf into, cf from, cf) {
  for (const object* each : as_object(from)->items) {
    as_object(into)->items.push_back(make_device(each->index));
  }
}

cf subscribe(const void*, cf channels, cf* subscribed, std::uint64_t, cf) {
  ++as_object(channels)->references;
  *subscribed = channels;
  return make(kind::other);
}

object* make_sample_of(std::size_t index) {
  const mac_channel& c = now->channels.at(index);
  object* const o = make(kind::dictionary);
  o->index = index;
  set(o, "group", make_text(c.group));
  set(o, "name", make_text(c.name));
  set(o, "unit", make_text(c.unit));
  for (const mac_state& s : c.states) o->items.push_back(make_text(s.name));
  return o;
}

cf sample(cf, cf subscribed, cf) {
  object* const list = make(kind::array);
  for (const object* each : as_object(subscribed)->items) {
    list->items.push_back(make_sample_of(each->index));
  }
  object* const all = make(kind::dictionary);
  set(all, "IOReportChannels", list);
  return all;
}

cf member(cf o, const char* key) {
  for (const auto& [name, value] : as_object(o)->members) {
    if (name == key) return value;
  }
  return nullptr;
}

const mac_channel& channel_of(cf o) {
  return now->channels.at(as_object(o)->index);
}

// ---- sensors ----

int set_matching(cf, cf matching) {
  const object* const page = as_object(member(matching, "PrimaryUsagePage"));
  const object* const usage = as_object(member(matching, "PrimaryUsage"));
  if (page->number != 0xff00 || usage->number != 5) std::abort();
  return 0;
}

cf copy_services(cf) {
  object* const list = make(kind::array);
  for (std::size_t i = 0; i < now->thermometers.size(); ++i) {
    list->items.push_back(make_device(i));
  }
  return list;
}

cf copy_property(cf service, cf key) {
  if (as_object(key)->text != "Product") return nullptr;
  return make_text(now->thermometers.at(as_object(service)->index).name);
}

cf copy_event(cf service, std::int64_t type, std::int32_t, std::int64_t) {
  const std::size_t index = as_object(service)->index;
  if (type != 15 || !now->thermometers.at(index).has_event) return nullptr;
  return make_device(index);
}

}  // namespace

apple::apple() {
  now = this;
}

apple::~apple() {
  now = nullptr;
}

int apple::live() {
  return live_objects() + static_cast<int>(entries.size()) + pools;
}

hmn::result<metal::frameworks> apple::load() {
  ++now->loads;
  if (!now->has_frameworks) {
    return hmn::failure{hmn::status::no_source, hmn::source::metal, {}, "no CoreFoundation"};
  }
  metal::frameworks f{};
  f.core = core_calls();
  f.registry = {
      .matching = [](const char* of_class) -> cf { return make_text(of_class); },
      .find_services = find_services,
      .next = next,
      .release = [](io_object o) { return entries.erase(o) == 1 ? 0 : 1; },
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
      .group_of = [](cf c) { return member(c, "group"); },
      .name_of = [](cf c) { return member(c, "name"); },
      .unit_of = [](cf c) { return member(c, "unit"); },
      .value_of = [](cf c, std::int32_t) { return channel_of(c).value; },
      .state_count = [](cf c) { return static_cast<std::int32_t>(channel_of(c).states.size()); },
      .state_name = [](cf c, std::int32_t i) -> cf {
        return as_object(c)->items.at(static_cast<std::size_t>(i));
      },
      .state_time =
          [](cf c, std::int32_t i) {
            return channel_of(c).states.at(static_cast<std::size_t>(i)).ticks;
          },
  };
  f.sensors = {
      .make_client = [](cf) -> cf { return make(kind::other); },
      .set_matching = set_matching,
      .copy_services = copy_services,
      .copy_property = copy_property,
      .copy_event = copy_event,
      .value_of =
          [](cf event, std::int32_t) {
            return now->thermometers.at(as_object(event)->index).celsius;
          },
  };
  f.has_metal = now->has_metal;
  f.has_report = now->has_report;
  f.has_sensors = now->has_sensors;
  return f;
}

}  // namespace hmn_fake
