// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/metal/frameworks.hpp"
#include "model/message_text.hpp"
#include "platform/library.hpp"

namespace hmn::metal {
namespace {

constexpr const char* core_path =
    "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation";
constexpr const char* io_path = "/System/Library/Frameworks/IOKit.framework/IOKit";
constexpr const char* metal_path = "/System/Library/Frameworks/Metal.framework/Metal";
constexpr const char* objc_path = "/usr/lib/libobjc.A.dylib";
constexpr const char* report_path = "/usr/lib/libIOReport.dylib";

// Looks up functions of a library until one is missing.
class Taker {
 public:
  explicit Taker(const char* path) : path_(path), opened_(platform::Library::open(path)) {
    is_whole_ = static_cast<bool>(opened_);
  }

  template <class F>
  Taker& take(const char* name, F*& into) {
    void* const found = is_whole_ ? opened_.value.symbol(name) : nullptr;
    if (found == nullptr && is_whole_) lacking_ = name;
    is_whole_ = found != nullptr;
    into = reinterpret_cast<F*>(found);
    return *this;
  }
  Taker& take(const char* name, const void*& into) {
    into = is_whole_ ? opened_.value.symbol(name) : nullptr;
    if (into == nullptr && is_whole_) lacking_ = name;
    is_whole_ = into != nullptr;
    return *this;
  }

  bool keep() {
    if (is_whole_) opened_.value.leave_open();
    return is_whole_;
  }
  [[nodiscard]] Failure why() const {
    return {Status::no_source,
            Source::metal,
            {},
            lacking_ == nullptr ? compose({path_, " cannot be loaded: ", opened_.error_text})
                                : compose({path_, " has no ", lacking_})};
  }

 private:
  const char* path_;
  platform::Library::OpenResult opened_;
  const char* lacking_ = nullptr;
  bool is_whole_ = false;
};

Result<void> load(CoreFoundation& f) {
  Taker from(core_path);
  from.take("CFRelease", f.release)
      .take("CFGetTypeID", f.type_of)
      .take("CFStringGetTypeID", f.string_type)
      .take("CFNumberGetTypeID", f.number_type)
      .take("CFDictionaryGetTypeID", f.dictionary_type)
      .take("CFArrayGetTypeID", f.array_type)
      .take("CFDataGetTypeID", f.data_type)
      .take("CFStringCreateWithCString", f.make_string)
      .take("CFStringGetCString", f.copy_string)
      .take("CFNumberCreate", f.make_number)
      .take("CFNumberGetValue", f.number_value)
      .take("CFDictionaryGetValue", f.find)
      .take("CFDictionaryCreate", f.make_dictionary)
      .take("CFArrayGetCount", f.count)
      .take("CFArrayGetValueAtIndex", f.at)
      .take("CFDataGetLength", f.data_length)
      .take("CFDataGetBytePtr", f.data_bytes)
      .take("kCFTypeDictionaryKeyCallBacks", f.key_calls)
      .take("kCFTypeDictionaryValueCallBacks", f.value_calls);
  if (from.keep()) return {};
  return from.why();
}

Result<void> load(IoKit& f) {
  Taker from(io_path);
  from.take("IOServiceMatching", f.matching)
      .take("IOServiceGetMatchingServices", f.find_services)
      .take("IOIteratorNext", f.next)
      .take("IOObjectRelease", f.release)
      .take("IOObjectGetClass", f.class_of)
      .take("IORegistryEntryGetName", f.name_of)
      .take("IORegistryEntryGetRegistryEntryID", f.id_of)
      .take("IORegistryEntryGetParentEntry", f.parent_of)
      .take("IORegistryEntryCreateCFProperties", f.properties_of);
  if (from.keep()) return {};
  return from.why();
}

bool load(MetalCalls& f) {
  Taker objc(objc_path);
  objc.take("sel_registerName", f.selector)
      .take("objc_msgSend", f.ask_number)
      .take("objc_msgSend", f.ask_at)
      .take("objc_autoreleasePoolPush", f.open_pool)
      .take("objc_autoreleasePoolPop", f.close_pool);
  Taker from(metal_path);
  from.take("MTLCopyAllDevices", f.copy_all_devices)
      .take("MTLCreateSystemDefaultDevice", f.make_default_device);
  const bool has_objc = objc.keep();
  return from.keep() && has_objc;
}

bool load(IoReport& f) {
  Taker from(report_path);
  from.take("IOReportCopyChannelsInGroup", f.copy_channels)
      .take("IOReportMergeChannels", f.merge_channels)
      .take("IOReportCreateSubscription", f.subscribe)
      .take("IOReportCreateSamples", f.sample)
      .take("IOReportChannelGetGroup", f.group_of)
      .take("IOReportChannelGetChannelName", f.name_of)
      .take("IOReportChannelGetUnitLabel", f.unit_of)
      .take("IOReportSimpleGetIntegerValue", f.value_of)
      .take("IOReportStateGetCount", f.state_count)
      .take("IOReportStateGetNameForIndex", f.state_name)
      .take("IOReportStateGetResidency", f.state_time);
  return from.keep();
}

bool load(HidSensors& f) {
  Taker from(io_path);
  from.take("IOHIDEventSystemClientCreate", f.make_client)
      .take("IOHIDEventSystemClientSetMatching", f.set_matching)
      .take("IOHIDEventSystemClientCopyServices", f.copy_services)
      .take("IOHIDServiceClientCopyProperty", f.copy_property)
      .take("IOHIDServiceClientCopyEvent", f.copy_event)
      .take("IOHIDEventGetFloatValue", f.value_of);
  return from.keep();
}

}  // namespace

Result<Frameworks> load_frameworks() {
  Frameworks all{};
  if (Result<void> loaded = load(all.core); !loaded) return loaded.why();
  if (Result<void> loaded = load(all.registry); !loaded) return loaded.why();
  all.has_metal = load(all.metal);
  all.has_report = load(all.report);
  all.has_sensors = load(all.sensors);
  return all;
}

}  // namespace hmn::metal
