// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rules of sized structs.
#pragma once

#include <hypomnesis.h>

#include <algorithm>
#include <cstring>

#include "model/failure.hpp"

namespace hmn::api {

inline constexpr std::uint32_t largest_struct = 65536;

constexpr bool is_struct_size(std::uint32_t size, std::uint32_t v1) noexcept {
  return size >= v1 && size <= largest_struct && size % 8 == 0;
}

// The first released size of each struct.
template <class T>
inline constexpr std::uint32_t size_v1 = 0;
template <>
inline constexpr std::uint32_t size_v1<hmn_error> = HMN_ERROR_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_context_options> = HMN_CONTEXT_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_backend_info> = HMN_BACKEND_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_process_memory> = HMN_PROCESS_MEMORY_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_system_memory> = HMN_SYSTEM_MEMORY_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_device> = HMN_DEVICE_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_pool> = HMN_POOL_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_telemetry> = HMN_TELEMETRY_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_usage> = HMN_USAGE_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_snapshot_options> = HMN_SNAPSHOT_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_snapshot_info> = HMN_SNAPSHOT_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_diagnostic> = HMN_DIAGNOSTIC_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_delta> = HMN_DELTA_SIZE_V1;

// Once a struct has grown, bits of its appended fields must be cleared for callers with an older
// size; until then every accepted size holds every field.
template <class T>
constexpr bool has_grown = sizeof(T) != size_v1<T>;

template <class T>
result<void> check_result(const T* out) {
  static_assert(size_v1<T> != 0 && size_v1<T> % 8 == 0);
  if (out == nullptr) return failure{status::argument, source::none, {}, "out is NULL"};
  if (is_struct_size(out->struct_size, size_v1<T>)) return {};
  return failure{status::struct_size, source::none, {},
                 "out->struct_size must be a multiple of 8, from the struct's first size to 65536"};
}

// Zeroes all that lies behind struct_size.
template <class T>
void clear_result(T* out) noexcept {
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  std::memset(bytes + sizeof out->struct_size, 0, out->struct_size - sizeof out->struct_size);
}

// Writes every byte up to the caller's struct_size and none past it.
template <class T>
void write_result(T* out, const T& full) noexcept {
  static_assert(!has_grown<T>, "mask `present` by the caller's size");
  const std::uint32_t size = out->struct_size;
  const std::size_t known = std::min<std::size_t>(size, sizeof(T));
  auto* bytes = reinterpret_cast<unsigned char*>(out);
  const auto* from = reinterpret_cast<const unsigned char*>(&full);
  std::memcpy(bytes + sizeof size, from + sizeof size, known - sizeof size);
  std::memset(bytes + known, 0, size - known);
}

// Reads an input of any size: NULL and what the caller's struct does not hold are zero.
template <class T>
result<T> read_input(const T* options) {
  T full{};
  full.struct_size = sizeof(T);
  if (options == nullptr) return full;
  const std::uint32_t size = options->struct_size;
  if (!is_struct_size(size, size_v1<T>)) {
    return failure{status::struct_size, source::none, {},
                   "options->struct_size must be a multiple of 8, from its first size to 65536"};
  }
  const std::size_t known = std::min<std::size_t>(size, sizeof(T));
  const auto* bytes = reinterpret_cast<const unsigned char*>(options);
  if (std::any_of(bytes + known, bytes + size, [](unsigned char b) { return b != 0; })) {
    return failure{status::unknown_flag, source::none, {},
                   "the options hold a field that this version of the library does not know"};
  }
  std::memcpy(&full, bytes, known);
  full.struct_size = sizeof(T);
  return full;
}

}  // namespace hmn::api
