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

Apple* current = nullptr;

// ---- the registry ----

struct Entry {
  enum class Type { list, gpu, card, pmgr } type;
  std::size_t index = 0;
  std::vector<Entry> items;  // of a list
};
std::map<IoObject, Entry> entries;
IoObject last_entry = 0;

IoObject add_entry(Entry entry) {
  entries[++last_entry] = std::move(entry);
  return last_entry;
}

const MacGpu& find_gpu(const Entry& entry) {
  return current->gpus.at(entry.index);
}

// Consumes the dictionary in any case.
int find_services(unsigned, Cf matching, IoObject* out) {
  const std::string class_name = as_object(matching)->text;
  release(as_object(matching));
  if (current->find_code != 0) return current->find_code;
  Entry list{Entry::Type::list, 0, {}};
  for (std::size_t i = 0; class_name == "IOAccelerator" && i < current->gpus.size(); ++i) {
    list.items.push_back({Entry::Type::gpu, i, {}});
  }
  if (class_name == "AppleARMIODevice" && !current->clocks.empty()) {
    list.items.push_back({Entry::Type::pmgr, 0, {}});
  }
  *out = add_entry(std::move(list));
  return 0;
}

IoObject next(IoObject iterator) {
  Entry& list = entries.at(iterator);
  if (list.items.empty()) return 0;
  const Entry first = list.items.front();
  list.items.erase(list.items.begin());
  return add_entry(first);
}

int get_class(IoObject object, char* name) {
  std::strcpy(name, find_gpu(entries.at(object)).class_name.c_str());
  return 0;
}

int get_name(IoObject, char* name) {
  std::strcpy(name, "pmgr");
  return 0;
}

int get_id(IoObject object, std::uint64_t* id) {
  *id = find_gpu(entries.at(object)).id;
  return 0;
}

int get_parent(IoObject object, const char* plane, IoObject* parent) {
  const Entry entry = entries.at(object);
  if (std::strcmp(plane, "IOService") != 0 || !find_gpu(entry).card) return -1;
  *parent = add_entry({Entry::Type::card, entry.index, {}});
  return 0;
}

std::string encode(std::uint32_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

Object* make_gpu_properties(const MacGpu& gpu) {
  Object* const properties = make(Kind::dictionary);
  set(properties, "CFBundleIdentifier", make_text("com.apple.AGX"));
  if (gpu.vram_megabytes) set(properties, "VRAM,totalMB", make_number(*gpu.vram_megabytes));
  if (!gpu.has_statistics) return properties;
  Object* const table = make(Kind::dictionary);
  for (const auto& [key, value] : gpu.statistics) set(table, key, make_number(value));
  set(properties, "PerformanceStatistics", table);
  return properties;
}

Object* make_card_properties(const MacCard& card) {
  Object* const properties = make(Kind::dictionary);
  set(properties, "vendor-id", make_data(encode(card.vendor)));
  set(properties, "device-id", make_data(encode(card.device)));
  set(properties, "pcidebug", make_text(card.pcidebug));
  set(properties, "model", make_data(card.model + '\0'));
  return properties;
}

int copy_properties(IoObject object, Cf* out, Cf, std::uint32_t) {
  const Entry& entry = entries.at(object);
  if (entry.type == Entry::Type::gpu) {
    *out = make_gpu_properties(find_gpu(entry));
  } else if (entry.type == Entry::Type::card) {
    *out = make_card_properties(*find_gpu(entry).card);
  } else {
    Object* const properties = make(Kind::dictionary);
    std::string bytes;
    for (const std::uint32_t clock : current->clocks) bytes += encode(clock);
    set(properties, "voltage-states9", make_data(bytes));
    *out = properties;
  }
  return 0;
}

// ---- Metal ----

const MacMetalDevice& find_device(Cf object) {
  const std::size_t index = as_object(object)->index;
  return index < current->devices.size() ? current->devices[index] : *current->default_device;
}

Object* make_device(std::size_t index) {
  Object* const object = make(Kind::other);
  object->index = index;
  return object;
}

Cf copy_all_devices() {
  Object* const list = make(Kind::array);
  for (std::size_t i = 0; i < current->devices.size(); ++i) list->items.push_back(make_device(i));
  return list;
}

Cf make_default_device() {
  ++current->default_device_count;
  return current->default_device ? make_device(current->devices.size()) : nullptr;
}

void* selector(const char* name) {
  static std::set<std::string> names;
  return const_cast<char*>(names.insert(name).first->c_str());
}

// nil returns 0 for any message.
std::uint64_t ask_number(Cf object, void* selector_name) {
  const std::string_view name(static_cast<const char*>(selector_name));
  if (object == nullptr) return 0;
  if (name == "count") return as_object(object)->items.size();
  if (name == "registryID") return find_device(object).id;
  if (name == "recommendedMaxWorkingSetSize") return find_device(object).budget;
  std::abort();  // as an object does for an unknown message
}

Cf get_item(Cf object, void*, unsigned long index) {
  return object != nullptr ? as_object(object)->items.at(index) : nullptr;
}

int pool_count = 0;

// ---- IOReport ----

Cf copy_channels(Cf group, Cf subgroup, std::uint64_t, std::uint64_t, std::uint64_t) {
  Object* const channels = make(Kind::dictionary);
  for (std::size_t i = 0; i < current->channels.size(); ++i) {
    const MacChannel& channel = current->channels[i];
    const bool matches = channel.group == as_object(group)->text &&
                         (subgroup == nullptr || channel.subgroup == as_object(subgroup)->text);
    if (matches) channels->items.push_back(make_device(i));
  }
  if (!channels->items.empty()) return channels;
  release(channels);
  return nullptr;
}

void merge_channels(Cf target, Cf source, Cf) {
  for (const Object* channel : as_object(source)->items) {
    as_object(target)->items.push_back(make_device(channel->index));
  }
}

Cf subscribe(const void*, Cf channels, Cf* subscribed, std::uint64_t, Cf) {
  ++as_object(channels)->references;
  *subscribed = channels;
  return make(Kind::other);
}

Object* make_channel_sample(std::size_t index) {
  const MacChannel& channel = current->channels.at(index);
  Object* const sample = make(Kind::dictionary);
  sample->index = index;
  set(sample, "group", make_text(channel.group));
  set(sample, "name", make_text(channel.name));
  set(sample, "unit", make_text(channel.unit));
  for (const MacState& state : channel.states) sample->items.push_back(make_text(state.name));
  return sample;
}

Cf sample(Cf, Cf subscribed, Cf) {
  Object* const list = make(Kind::array);
  for (const Object* channel : as_object(subscribed)->items) {
    list->items.push_back(make_channel_sample(channel->index));
  }
  Object* const sample = make(Kind::dictionary);
  set(sample, "IOReportChannels", list);
  return sample;
}

Cf member(Cf object, const char* key) {
  for (const auto& [name, value] : as_object(object)->members) {
    if (name == key) return value;
  }
  return nullptr;
}

const MacChannel& find_channel(Cf object) {
  return current->channels.at(as_object(object)->index);
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
  for (std::size_t i = 0; i < current->thermometers.size(); ++i) {
    list->items.push_back(make_device(i));
  }
  return list;
}

Cf copy_property(Cf service, Cf key) {
  if (as_object(key)->text != "Product") return nullptr;
  return make_text(current->thermometers.at(as_object(service)->index).name);
}

Cf copy_event(Cf service, std::int64_t type, std::int32_t, std::int64_t) {
  const std::size_t index = as_object(service)->index;
  if (type != 15 || !current->thermometers.at(index).has_event) return nullptr;
  return make_device(index);
}

}  // namespace

Apple::Apple() {
  current = this;
}

Apple::~Apple() {
  current = nullptr;
}

int Apple::count_references() {
  return live_objects() + static_cast<int>(entries.size()) + pool_count;
}

hmn::Result<metal::Frameworks> Apple::load() {
  ++current->loads;
  if (!current->has_frameworks) {
    return hmn::Failure{hmn::Status::no_source, hmn::Source::metal, {}, "no CoreFoundation"};
  }
  metal::Frameworks frameworks{};
  frameworks.core = core_calls();
  frameworks.registry = {
      .make_matching = [](const char* class_name) -> Cf { return make_text(class_name); },
      .find_services = find_services,
      .next = next,
      .release = [](IoObject object) { return entries.erase(object) == 1 ? 0 : 1; },
      .get_class = get_class,
      .get_name = get_name,
      .get_id = get_id,
      .get_parent = get_parent,
      .copy_properties = copy_properties,
  };
  frameworks.metal = {
      .copy_all_devices = copy_all_devices,
      .make_default_device = make_default_device,
      .find_selector = selector,
      .get_number = ask_number,
      .get_item = get_item,
      .open_pool = []() -> void* { return ++pool_count, nullptr; },
      .close_pool = [](void*) { --pool_count; },
  };
  frameworks.report = {
      .copy_channels = copy_channels,
      .merge_channels = merge_channels,
      .subscribe = subscribe,
      .sample = sample,
      .get_group = [](Cf c) { return member(c, "group"); },
      .get_name = [](Cf c) { return member(c, "name"); },
      .get_unit = [](Cf c) { return member(c, "unit"); },
      .get_value = [](Cf c, std::int32_t) { return find_channel(c).value; },
      .state_count = [](Cf c) { return static_cast<std::int32_t>(find_channel(c).states.size()); },
      .state_name = [](Cf c, std::int32_t i) -> Cf {
        return as_object(c)->items.at(static_cast<std::size_t>(i));
      },
      .state_time =
          [](Cf c, std::int32_t i) {
            return find_channel(c).states.at(static_cast<std::size_t>(i)).ticks;
          },
  };
  frameworks.sensors = {
      .make_client = [](Cf) -> Cf { return make(Kind::other); },
      .set_matching = set_matching,
      .copy_services = copy_services,
      .copy_property = copy_property,
      .copy_event = copy_event,
      .get_value =
          [](Cf event, std::int32_t) {
            return current->thermometers.at(as_object(event)->index).celsius;
          },
  };
  frameworks.has_metal = current->has_metal;
  frameworks.has_report = current->has_report;
  frameworks.has_sensors = current->has_sensors;
  return frameworks;
}

}  // namespace hmn_fake
