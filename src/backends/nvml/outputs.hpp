// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Arguments of a call of the driver: whether it wrote what it returns, and what that is.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "backends/nvml/abi.hpp"
#include "model/message_text.hpp"

namespace hmn::nvml {

// The outputs come first, in the order of their layouts (arguments.cpp).
enum class role : std::uint8_t {
  number,
  signed_number,
  wide_number,
  pointer,
  memory_v1,
  memory_v2,
  pci,
  c2c,
  addressing,
  utilization,
  temperature,
  account,
  event,
  fields,    // their number comes before
  capacity,  // of samples or rows, in and out
  samples,   // their capacity comes next
  rows,      // their capacity comes before
  text,      // its capacity comes next
  input,
  subject,
};

template <class T>
inline constexpr role role_of = std::is_pointer_v<T> ? role::pointer : role::input;
template <>
inline constexpr role role_of<handle> = role::subject;
template <>
inline constexpr role role_of<event_set> = role::subject;
template <>
inline constexpr role role_of<unsigned*> = role::number;
template <>
inline constexpr role role_of<int*> = role::signed_number;
template <>
inline constexpr role role_of<unsigned long long*> = role::wide_number;
template <>
inline constexpr role role_of<memory_v1*> = role::memory_v1;
template <>
inline constexpr role role_of<bar1_memory*> = role::memory_v1;
template <>
inline constexpr role role_of<memory_v2*> = role::memory_v2;
template <>
inline constexpr role role_of<pci_info*> = role::pci;
template <>
inline constexpr role role_of<c2c_mode*> = role::c2c;
template <>
inline constexpr role role_of<addressing_mode*> = role::addressing;
template <>
inline constexpr role role_of<utilization*> = role::utilization;
template <>
inline constexpr role role_of<temperature_v1*> = role::temperature;
template <>
inline constexpr role role_of<accounting_stats*> = role::account;
template <>
inline constexpr role role_of<event_data*> = role::event;
template <>
inline constexpr role role_of<field_value*> = role::fields;
template <>
inline constexpr role role_of<process_sample*> = role::samples;
template <>
inline constexpr role role_of<void*> = role::rows;
template <>
inline constexpr role role_of<char*> = role::text;

constexpr bool has_capacity(role r) noexcept {
  return r == role::rows || r == role::samples;
}
// In a call with these parameters.
template <class T, class... P>
inline constexpr role role_among = role_of<T> == role::number && (has_capacity(role_of<P>) || ...)
                                       ? role::capacity
                                       : role_of<T>;

struct argument {
  template <class T>
  static argument of(role is, T value) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return {is, reinterpret_cast<std::uintptr_t>(value)};
    } else {
      return {is, static_cast<std::uint64_t>(value)};
    }
  }
  template <class T>
  [[nodiscard]] T as() const noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(address());
    } else {
      return static_cast<T>(value);
    }
  }
  [[nodiscard]] char* address() const noexcept {
    return reinterpret_cast<char*>(static_cast<std::uintptr_t>(value));
  }

  role is;
  std::uint64_t value;  // a number, or an address
};
using argument_list = std::span<const argument>;

// Marks the outputs, so that one which the driver leaves alone is recognized.
void mark(argument_list all) noexcept;
// Whether the driver wrote them all and terminated its texts. Each field has its own outcome.
bool are_written(argument_list all) noexcept;
code outcome_of(const field_value& reported) noexcept;

// Describes a successful call: "nvmlDeviceGetMemoryInfo: ok, total=…, free=…, used=…".
message_text describe(const char* symbol, argument_list all) noexcept;

}  // namespace hmn::nvml
