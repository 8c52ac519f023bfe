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
class SymbolLoader {
 public:
  explicit SymbolLoader(const char* path) : path_(path), library_(platform::Library::open(path)) {
    is_complete_ = static_cast<bool>(library_);
  }

  template <class F>
  SymbolLoader& find(const char* name, F*& target) {
    void* const symbol = is_complete_ ? library_.value.symbol(name) : nullptr;
    if (symbol == nullptr && is_complete_) missing_name_ = name;
    is_complete_ = symbol != nullptr;
    target = reinterpret_cast<F*>(symbol);
    return *this;
  }
  SymbolLoader& find(const char* name, const void*& target) {
    target = is_complete_ ? library_.value.symbol(name) : nullptr;
    if (target == nullptr && is_complete_) missing_name_ = name;
    is_complete_ = target != nullptr;
    return *this;
  }

  bool keep_open() {
    if (is_complete_) library_.value.leave_open();
    return is_complete_;
  }
  [[nodiscard]] Failure make_failure() const {
    return {Status::no_source,
            Source::metal,
            {},
            missing_name_ == nullptr ? compose({path_, " cannot be loaded: ", library_.error_text})
                                     : compose({path_, " has no ", missing_name_})};
  }

 private:
  const char* path_;
  platform::Library::OpenResult library_;
  const char* missing_name_ = nullptr;
  bool is_complete_ = false;
};

Result<void> load(CoreFoundation& core) {
  SymbolLoader loader(core_path);
  loader.find("CFRelease", core.release)
      .find("CFGetTypeID", core.get_type)
      .find("CFStringGetTypeID", core.string_type)
      .find("CFNumberGetTypeID", core.number_type)
      .find("CFDictionaryGetTypeID", core.dictionary_type)
      .find("CFArrayGetTypeID", core.array_type)
      .find("CFDataGetTypeID", core.data_type)
      .find("CFStringCreateWithCString", core.make_string)
      .find("CFStringGetCString", core.copy_string)
      .find("CFNumberCreate", core.make_number)
      .find("CFNumberGetValue", core.number_value)
      .find("CFDictionaryGetValue", core.find)
      .find("CFDictionaryCreate", core.make_dictionary)
      .find("CFArrayGetCount", core.count)
      .find("CFArrayGetValueAtIndex", core.get_item)
      .find("CFDataGetLength", core.data_length)
      .find("CFDataGetBytePtr", core.data_bytes)
      .find("kCFTypeDictionaryKeyCallBacks", core.key_calls)
      .find("kCFTypeDictionaryValueCallBacks", core.value_calls);
  if (loader.keep_open()) return {};
  return loader.make_failure();
}

Result<void> load(IoKit& registry) {
  SymbolLoader loader(io_path);
  loader.find("IOServiceMatching", registry.make_matching)
      .find("IOServiceGetMatchingServices", registry.find_services)
      .find("IOIteratorNext", registry.next)
      .find("IOObjectRelease", registry.release)
      .find("IOObjectGetClass", registry.get_class)
      .find("IORegistryEntryGetName", registry.get_name)
      .find("IORegistryEntryGetRegistryEntryID", registry.get_id)
      .find("IORegistryEntryGetParentEntry", registry.get_parent)
      .find("IORegistryEntryCreateCFProperties", registry.copy_properties);
  if (loader.keep_open()) return {};
  return loader.make_failure();
}

bool load(MetalCalls& calls) {
  SymbolLoader objc(objc_path);
  objc.find("sel_registerName", calls.find_selector)
      .find("objc_msgSend", calls.get_number)
      .find("objc_msgSend", calls.get_item)
      .find("objc_autoreleasePoolPush", calls.open_pool)
      .find("objc_autoreleasePoolPop", calls.close_pool);
  SymbolLoader loader(metal_path);
  loader.find("MTLCopyAllDevices", calls.copy_all_devices)
      .find("MTLCreateSystemDefaultDevice", calls.make_default_device);
  const bool has_objc = objc.keep_open();
  return loader.keep_open() && has_objc;
}

bool load(IoReport& report) {
  SymbolLoader loader(report_path);
  loader.find("IOReportCopyChannelsInGroup", report.copy_channels)
      .find("IOReportMergeChannels", report.merge_channels)
      .find("IOReportCreateSubscription", report.subscribe)
      .find("IOReportCreateSamples", report.sample)
      .find("IOReportChannelGetGroup", report.get_group)
      .find("IOReportChannelGetChannelName", report.get_name)
      .find("IOReportChannelGetUnitLabel", report.get_unit)
      .find("IOReportSimpleGetIntegerValue", report.get_value)
      .find("IOReportStateGetCount", report.state_count)
      .find("IOReportStateGetNameForIndex", report.state_name)
      .find("IOReportStateGetResidency", report.state_time);
  return loader.keep_open();
}

bool load(HidSensors& sensors) {
  SymbolLoader loader(io_path);
  loader.find("IOHIDEventSystemClientCreate", sensors.make_client)
      .find("IOHIDEventSystemClientSetMatching", sensors.set_matching)
      .find("IOHIDEventSystemClientCopyServices", sensors.copy_services)
      .find("IOHIDServiceClientCopyProperty", sensors.copy_property)
      .find("IOHIDServiceClientCopyEvent", sensors.copy_event)
      .find("IOHIDEventGetFloatValue", sensors.get_value);
  return loader.keep_open();
}

}  // namespace

Result<Frameworks> load_frameworks() {
  Frameworks frameworks{};
  if (Result<void> result = load(frameworks.core); !result) return result.failure();
  if (Result<void> result = load(frameworks.registry); !result) return result.failure();
  frameworks.has_metal = load(frameworks.metal);
  frameworks.has_report = load(frameworks.report);
  frameworks.has_sensors = load(frameworks.sensors);
  return frameworks;
}

}  // namespace hmn::metal
