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
using cf = const void*;                            // CFTypeRef
using cf_boolean = unsigned char;                  // Boolean
using cf_index = long;                             // CFIndex
using cf_type = unsigned long;                     // CFTypeID
inline constexpr std::uint32_t utf8 = 0x08000100;  // kCFStringEncodingUTF8
inline constexpr cf_index signed_32 = 3;           // kCFNumberSInt32Type
inline constexpr cf_index signed_64 = 4;           // kCFNumberSInt64Type

// IOKit
using io_object = unsigned int;               // io_object_t, a mach_port_t
inline constexpr std::size_t io_name = 128;   // io_name_t
inline constexpr unsigned int main_port = 0;  // kIOMainPortDefault

// IOHIDEvent of a temperature sensor: its usage, type and value field.
inline constexpr std::int32_t apple_vendor_page = 0xff00;
inline constexpr std::int32_t temperature_usage = 5;
inline constexpr std::int64_t temperature_event = 15;
inline constexpr std::int32_t temperature_field = 15 << 16;

struct core_foundation {
  void (*release)(cf);
  cf_type (*type_of)(cf);
  cf_type (*string_type)();
  cf_type (*number_type)();
  cf_type (*dictionary_type)();
  cf_type (*array_type)();
  cf_type (*data_type)();
  cf (*make_string)(cf allocator, const char* text, std::uint32_t encoding);
  cf_boolean (*copy_string)(cf string, char* out, cf_index size, std::uint32_t encoding);
  cf (*make_number)(cf allocator, cf_index type, const void* value);
  cf_boolean (*number_value)(cf number, cf_index type, void* out);
  cf (*find)(cf dictionary, cf key);
  cf (*make_dictionary)(cf allocator, const cf* keys, const cf* values, cf_index count,
                        const void* key_calls, const void* value_calls);
  cf_index (*count)(cf array);
  cf (*at)(cf array, cf_index index);
  cf_index (*data_length)(cf data);
  const std::uint8_t* (*data_bytes)(cf data);
  const void* key_calls;    // kCFTypeDictionaryKeyCallBacks
  const void* value_calls;  // kCFTypeDictionaryValueCallBacks
};

struct io_kit {
  cf (*matching)(const char* of_class);
  // Consumes the dictionary.
  int (*find_services)(unsigned int port, cf matching, io_object* iterator);
  io_object (*next)(io_object iterator);
  int (*release)(io_object);
  int (*class_of)(io_object, char* name);
  int (*name_of)(io_object, char* name);
  int (*id_of)(io_object, std::uint64_t* id);
  int (*parent_of)(io_object, const char* plane, io_object* parent);
  int (*properties_of)(io_object, cf* properties, cf allocator, std::uint32_t options);
};

// Calls that send a message, by return type.
struct metal_calls {
  cf (*copy_all_devices)();
  cf (*make_default_device)();
  void* (*selector)(const char* name);
  std::uint64_t (*ask_number)(cf object, void* selector);
  cf (*ask_at)(cf object, void* selector, unsigned long index);
  void* (*open_pool)();
  void (*close_pool)(void*);
};

struct io_report {
  cf (*copy_channels)(cf group, cf subgroup, std::uint64_t, std::uint64_t, std::uint64_t);
  void (*merge_channels)(cf into, cf from, cf);
  cf (*subscribe)(const void*, cf channels, cf* subscribed, std::uint64_t, cf);
  cf (*sample)(cf subscription, cf subscribed, cf);
  cf (*group_of)(cf channel);
  cf (*name_of)(cf channel);
  cf (*unit_of)(cf channel);
  std::int64_t (*value_of)(cf channel, std::int32_t);
  std::int32_t (*state_count)(cf channel);
  cf (*state_name)(cf channel, std::int32_t index);
  std::int64_t (*state_time)(cf channel, std::int32_t index);
};

struct hid_sensors {
  cf (*make_client)(cf allocator);
  int (*set_matching)(cf client, cf matching);
  cf (*copy_services)(cf client);
  cf (*copy_property)(cf service, cf key);
  cf (*copy_event)(cf service, std::int64_t type, std::int32_t options, std::int64_t at);
  double (*value_of)(cf event, std::int32_t field);
};

struct frameworks {
  core_foundation core;
  io_kit registry;
  metal_calls metal;
  io_report report;
  hid_sensors sensors;
  // The first two frameworks are always there.
  bool has_metal = false;
  bool has_report = false;
  bool has_sensors = false;
};

// Loads this system's frameworks. They cannot be unloaded.
result<frameworks> load_frameworks();

}  // namespace hmn::metal
