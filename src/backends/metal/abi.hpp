// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is used of Apple's frameworks, in words of our own. Nothing of it is in headers that Apple
// opened except where said: libIOReport and the sensors of IOHID have none at all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hmn::metal {

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

// IOHIDEvent of a temperature sensor: its usage, its type and the field of its value.
inline constexpr std::int32_t apple_vendor_page = 0xff00;
inline constexpr std::int32_t temperature_usage = 5;
inline constexpr std::int64_t temperature_event = 15;
inline constexpr std::int32_t temperature_field = 15 << 16;

}  // namespace hmn::metal
