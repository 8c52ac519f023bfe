// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions of Apple's frameworks that are used, found at run time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/failure.hpp"

namespace hmn::metal {

// Declared by hand: Apple publishes no headers for libIOReport and the sensors of IOHID.

// CoreFoundation
using Cf = const void*;                            // CFTypeRef
using CfBoolean = unsigned char;                   // Boolean
using CfIndex = long;                              // CFIndex
using CfType = unsigned long;                      // CFTypeID
inline constexpr std::uint32_t utf8 = 0x08000100;  // kCFStringEncodingUTF8
inline constexpr CfIndex signed_32 = 3;            // kCFNumberSInt32Type
inline constexpr CfIndex signed_64 = 4;            // kCFNumberSInt64Type

// IOKit
using IoObject = unsigned int;                    // io_object_t, a mach_port_t
inline constexpr std::size_t io_name_size = 128;  // io_name_t
inline constexpr unsigned int main_port = 0;      // kIOMainPortDefault

// IOHIDEvent of a temperature sensor: its usage, type and value field.
inline constexpr std::int32_t apple_vendor_page = 0xff00;
inline constexpr std::int32_t temperature_usage = 5;
inline constexpr std::int64_t temperature_event = 15;
inline constexpr std::int32_t temperature_field = 15 << 16;

struct CoreFoundation {
  void (*release)(Cf);
  CfType (*get_type)(Cf);
  CfType (*string_type)();
  CfType (*number_type)();
  CfType (*dictionary_type)();
  CfType (*array_type)();
  CfType (*data_type)();
  Cf (*make_string)(Cf allocator, const char* text, std::uint32_t encoding);
  CfBoolean (*copy_string)(Cf string, char* out, CfIndex size, std::uint32_t encoding);
  Cf (*make_number)(Cf allocator, CfIndex type, const void* value);
  CfBoolean (*number_value)(Cf number, CfIndex type, void* out);
  Cf (*find)(Cf dictionary, Cf key);
  Cf (*make_dictionary)(Cf allocator, const Cf* keys, const Cf* values, CfIndex count,
                        const void* key_calls, const void* value_calls);
  CfIndex (*count)(Cf array);
  Cf (*get_item)(Cf array, CfIndex index);
  CfIndex (*data_length)(Cf data);
  const std::uint8_t* (*data_bytes)(Cf data);
  const void* key_calls;    // kCFTypeDictionaryKeyCallBacks
  const void* value_calls;  // kCFTypeDictionaryValueCallBacks
};

struct IoKit {
  Cf (*make_matching)(const char* class_name);
  // Consumes the dictionary.
  int (*find_services)(unsigned int port, Cf matching, IoObject* iterator);
  IoObject (*next)(IoObject iterator);
  int (*release)(IoObject);
  int (*get_class)(IoObject, char* name);
  int (*get_name)(IoObject, char* name);
  int (*get_id)(IoObject, std::uint64_t* id);
  int (*get_parent)(IoObject, const char* plane, IoObject* parent);
  int (*copy_properties)(IoObject, Cf* properties, Cf allocator, std::uint32_t options);
};

// Calls that send a message, by return type.
struct MetalCalls {
  Cf (*copy_all_devices)();
  Cf (*make_default_device)();
  void* (*find_selector)(const char* name);
  std::uint64_t (*get_number)(Cf object, void* selector);
  Cf (*get_item)(Cf object, void* selector, unsigned long index);
  void* (*open_pool)();
  void (*close_pool)(void*);
};

struct IoReport {
  Cf (*copy_channels)(Cf group, Cf subgroup, std::uint64_t, std::uint64_t, std::uint64_t);
  void (*merge_channels)(Cf target, Cf source, Cf);
  Cf (*subscribe)(const void*, Cf channels, Cf* subscribed, std::uint64_t, Cf);
  Cf (*sample)(Cf subscription, Cf subscribed, Cf);
  Cf (*get_group)(Cf channel);
  Cf (*get_name)(Cf channel);
  Cf (*get_unit)(Cf channel);
  std::int64_t (*get_value)(Cf channel, std::int32_t);
  std::int32_t (*state_count)(Cf channel);
  Cf (*state_name)(Cf channel, std::int32_t index);
  std::int64_t (*state_time)(Cf channel, std::int32_t index);
};

struct HidSensors {
  Cf (*make_client)(Cf allocator);
  int (*set_matching)(Cf client, Cf matching);
  Cf (*copy_services)(Cf client);
  Cf (*copy_property)(Cf service, Cf key);
  Cf (*copy_event)(Cf service, std::int64_t type, std::int32_t options, std::int64_t timestamp);
  double (*get_value)(Cf event, std::int32_t field);
};

struct Frameworks {
  CoreFoundation core;
  IoKit registry;
  MetalCalls metal;
  IoReport report;
  HidSensors sensors;
  // The first two frameworks are always there.
  bool has_metal = false;
  bool has_report = false;
  bool has_sensors = false;
};

// Loads this system's frameworks. They cannot be unloaded.
Result<Frameworks> load_frameworks();

}  // namespace hmn::metal
