// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The part of DXGI's binary interface that is used here, declared by hand: function tables in the
// order of dxgi1_4.idl, with placeholders for unused functions. The same on x86-64 and arm64, where
// Windows has a single calling convention.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace hmn::dxgi {

// HRESULT
using code = std::uint32_t;
inline constexpr code success = 0;
inline constexpr code no_interface = 0x80004002;
inline constexpr code not_found = 0x887A0002;
inline constexpr code unsupported = 0x887A0004;
inline constexpr code device_removed = 0x887A0005;

constexpr bool is_failure(code c) noexcept {
  return (c >> 31U) != 0;
}

struct guid {
  std::uint32_t a;
  std::uint16_t b, c;
  std::array<std::uint8_t, 8> d;
};
inline constexpr guid factory1_id{
    0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};
inline constexpr guid adapter3_id{
    0x645967a4, 0x1392, 0x4310, {0xa7, 0x98, 0x80, 0x53, 0xce, 0x3e, 0x93, 0xfd}};
inline constexpr guid device_id{
    0x54ec77fa, 0x1377, 0x44e6, {0x8c, 0x32, 0x88, 0xfd, 0x5f, 0x44, 0xc8, 0x4c}};

inline constexpr std::uint32_t flag_software = 2;

inline constexpr std::uint32_t segment_local = 0;
inline constexpr std::uint32_t segment_non_local = 1;

struct description {  // DXGI_ADAPTER_DESC1
  char16_t name[128];
  std::uint32_t vendor, device, subsystem, revision;
  std::uint64_t dedicated_video, dedicated_system, shared_system;
  std::uint32_t luid_low;
  std::uint32_t luid_high;
  std::uint32_t flags;
  std::uint32_t padding;
};
static_assert(sizeof(description) == 312 && offsetof(description, dedicated_video) == 272);
static_assert(offsetof(description, luid_low) == 296 && offsetof(description, flags) == 304);

struct memory_information {  // DXGI_QUERY_VIDEO_MEMORY_INFO
  std::uint64_t budget, used, available_for_reservation, reserved;
};
static_assert(sizeof(memory_information) == 32);

// Remains if a successful call fills in nothing.
inline constexpr std::uint64_t untouched = std::numeric_limits<std::uint64_t>::max();

using unused = void (*)();

struct unknown_functions {
  code (*query)(void* self, const guid* id, void** out);
  std::uint32_t (*add_reference)(void* self);
  std::uint32_t (*release)(void* self);
};

struct adapter_functions {  // IDXGIAdapter1
  unknown_functions base;
  unused of_object[4];
  unused enumerate_outputs;
  unused description0;
  code (*supports)(void* self, const guid* interface_id, std::int64_t* driver_version);
  code (*describe)(void* self, description* out);
};

struct adapter3_functions {
  adapter_functions base;
  unused description2;
  unused protection[2];
  code (*query_memory)(void* self, std::uint32_t node, std::uint32_t segment,
                       memory_information* out);
};
static_assert(offsetof(adapter3_functions, query_memory) == 14 * sizeof(void*));

struct factory_functions {  // IDXGIFactory1
  unknown_functions base;
  unused of_object[4];
  unused of_factory[5];
  code (*adapter)(void* self, std::uint32_t number, void** out);
  std::int32_t (*is_current)(void* self);
};
static_assert(offsetof(factory_functions, adapter) == 12 * sizeof(void*));

using create_factory = code (*)(const guid* id, void** out);

// Reference to one object, whose first field is its function table.
template <class Functions>
class object {
 public:
  object() noexcept = default;
  explicit object(void* taken) noexcept : it_(taken) {}
  object(object&& other) noexcept : it_(std::exchange(other.it_, nullptr)) {}
  object& operator=(object&& other) noexcept {
    object before(std::move(other));
    std::swap(it_, before.it_);
    return *this;
  }
  ~object() {
    if (it_ != nullptr) table<unknown_functions>()->release(it_);
  }

  explicit operator bool() const noexcept { return it_ != nullptr; }
  [[nodiscard]] void* get() const noexcept { return it_; }
  const Functions* operator->() const noexcept { return table<Functions>(); }

  template <class Other>
  object<Other> as(const guid& id, code& c) const noexcept {
    void* out = nullptr;
    c = table<unknown_functions>()->query(it_, &id, &out);
    if (is_failure(c)) out = nullptr;
    return object<Other>(out);
  }

 private:
  template <class T>
  [[nodiscard]] const T* table() const noexcept {
    return *static_cast<const T* const*>(it_);
  }

  void* it_ = nullptr;
};

using factory = object<factory_functions>;
using adapter1 = object<adapter_functions>;
using adapter3 = object<adapter3_functions>;

}  // namespace hmn::dxgi
