// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Rules of sized structs.
#pragma once

#include <hypomnesis.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/failure.hpp"

namespace hmn::api {

inline constexpr std::uint32_t largest_struct = 65536;
// Largest result of this version: each is first written to memory of this size.
inline constexpr std::uint32_t largest_result = 1024;

constexpr bool is_struct_size(std::uint32_t size, std::uint32_t v1) noexcept {
  return size >= v1 && size <= largest_struct && size % 8 == 0;
}

// Size of each struct in its first release.
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
inline constexpr std::uint32_t size_v1<hmn_metric_key> = HMN_METRIC_KEY_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_reason_key> = HMN_REASON_KEY_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_metric> = HMN_METRIC_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_usage> = HMN_USAGE_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_group> = HMN_GROUP_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_snapshot_options> = HMN_SNAPSHOT_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_snapshot_info> = HMN_SNAPSHOT_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_diagnostic> = HMN_DIAGNOSTIC_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_delta> = HMN_DELTA_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_sampler_options> = HMN_SAMPLER_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_sampler_info> = HMN_SAMPLER_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_peak> = HMN_PEAK_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_packing> = HMN_PACKING_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_attention> = HMN_ATTENTION_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_cache> = HMN_CACHE_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_tracker_options> = HMN_TRACKER_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_tracker_info> = HMN_TRACKER_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_tag> = HMN_TAG_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_spill_options> = HMN_SPILL_OPTIONS_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_spill_sample> = HMN_SPILL_SAMPLE_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_spill_info> = HMN_SPILL_INFO_SIZE_V1;
template <>
inline constexpr std::uint32_t size_v1<hmn_episode> = HMN_EPISODE_SIZE_V1;

// Position in its struct of a field with a presence bit.
struct SizedField {
  std::uint16_t begin;
  std::uint16_t end;
  hmn_fields bit;
};

// Position of `present` in every result that has one.
inline constexpr std::size_t present_offset = 8;

template <class T>
inline constexpr std::array<SizedField, 0> result_fields{};
#define HMN_OPTIONAL_FIELD(type, member, bit) \
  SizedField{offsetof(type, member), offsetof(type, member) + sizeof(type::member), bit},
#define HMN_RESULT(type, ...)                               \
  static_assert(offsetof(type, present) == present_offset); \
  template <>                                               \
  inline constexpr auto result_fields<type> = std::to_array<SizedField>({__VA_ARGS__});
#include "api/result_fields.def"
#undef HMN_RESULT
#undef HMN_OPTIONAL_FIELD

// Returns the presence bits of the fields that fit into a struct of that size.
constexpr hmn_fields bits_within(std::span<const SizedField> fields, std::uint32_t size) noexcept {
  hmn_fields bits = 0;
  for (const SizedField& field : fields) {
    if (field.end <= size) bits |= field.bit;
  }
  return bits;
}

template <class T>
inline constexpr hmn_fields all_fields = bits_within(result_fields<T>, sizeof(T));

// A caller's result struct of any type, so that its rules are plain code instead of templates.
struct SizedOut {
  unsigned char* bytes;
  std::uint32_t first_size;  // the struct's V1
  std::uint32_t known_size;  // in this version of the library
  std::span<const SizedField> fields;

  template <class T>
  static SizedOut wrap(T* out) noexcept {
    static_assert(size_v1<T> != 0 && size_v1<T> % 8 == 0 && sizeof(T) <= largest_result);
    return {reinterpret_cast<unsigned char*>(out), size_v1<T>, sizeof(T), result_fields<T>};
  }

  [[nodiscard]] Result<void> check() const;
  // Zeroes everything after struct_size.
  void clear() const noexcept;
  // Writes every byte up to the caller's struct_size and none beyond. A field that does not fit
  // completely becomes zero and absent.
  void write(const void* result) const noexcept;

 private:
  [[nodiscard]] std::uint32_t size() const noexcept;
};

// Zeroes a result on every path that does not write it.
class ClearUnlessWritten {
 public:
  explicit ClearUnlessWritten(SizedOut out) noexcept : out_(out) {}
  ClearUnlessWritten(const ClearUnlessWritten&) = delete;
  ClearUnlessWritten& operator=(const ClearUnlessWritten&) = delete;
  ~ClearUnlessWritten() {
    if (!is_written_) out_.clear();
  }
  void write(const void* result) noexcept {
    out_.write(result);
    is_written_ = true;
  }

 private:
  const SizedOut out_;
  bool is_written_ = false;
};

// Copies an input struct of any size over a zeroed one. NULL, and fields beyond the caller's
// struct, leave zeros.
Result<void> read_sized(const void* input, std::uint32_t first_size, void* output,
                        std::uint32_t known_size);

template <class T>
Result<void> read_input(const T* input, T& output) {
  return read_sized(input, size_v1<T>, &output, sizeof output);
}

}  // namespace hmn::api
