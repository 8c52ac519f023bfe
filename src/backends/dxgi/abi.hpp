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
using Code = std::uint32_t;
inline constexpr Code success = 0;
inline constexpr Code no_interface = 0x80004002;
inline constexpr Code not_found = 0x887A0002;
inline constexpr Code unsupported = 0x887A0004;
inline constexpr Code device_removed = 0x887A0005;

constexpr bool is_failure(Code c) noexcept {
  return (c >> 31U) != 0;
}

struct Guid {
  std::uint32_t a;
  std::uint16_t b, c;
  std::array<std::uint8_t, 8> d;
};
inline constexpr Guid factory1_id{
    0x770aae78, 0xf26f, 0x4dba, {0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1, 0xb3, 0x87}};
inline constexpr Guid adapter3_id{
    0x645967a4, 0x1392, 0x4310, {0xa7, 0x98, 0x80, 0x53, 0xce, 0x3e, 0x93, 0xfd}};
inline constexpr Guid device_id{
    0x54ec77fa, 0x1377, 0x44e6, {0x8c, 0x32, 0x88, 0xfd, 0x5f, 0x44, 0xc8, 0x4c}};

inline constexpr std::uint32_t flag_software = 2;

inline constexpr std::uint32_t segment_local = 0;
inline constexpr std::uint32_t segment_non_local = 1;

struct Description {  // DXGI_ADAPTER_DESC1
  char16_t name[128];
  std::uint32_t vendor, device, subsystem, revision;
  std::uint64_t dedicated_video, dedicated_system, shared_system;
  std::uint32_t luid_low;
  std::uint32_t luid_high;
  std::uint32_t flags;
  std::uint32_t padding;
};
static_assert(sizeof(Description) == 312 && offsetof(Description, dedicated_video) == 272);
static_assert(offsetof(Description, luid_low) == 296 && offsetof(Description, flags) == 304);

struct MemoryInformation {  // DXGI_QUERY_VIDEO_MEMORY_INFO
  std::uint64_t budget, used, available_for_reservation, reserved;
};
static_assert(sizeof(MemoryInformation) == 32);

// Remains if a successful call fills in nothing.
inline constexpr std::uint64_t untouched = std::numeric_limits<std::uint64_t>::max();

using Unused = void (*)();

struct UnknownFunctions {
  Code (*query)(void* self, const Guid* id, void** out);
  std::uint32_t (*add_reference)(void* self);
  std::uint32_t (*release)(void* self);
};

struct AdapterFunctions {  // IDXGIAdapter1
  UnknownFunctions base;
  Unused object_functions[4];
  Unused enumerate_outputs;
  Unused description0;
  Code (*supports)(void* self, const Guid* interface_id, std::int64_t* driver_version);
  Code (*describe)(void* self, Description* out);
};

struct Adapter3Functions {
  AdapterFunctions base;
  Unused description2;
  Unused protection[2];
  Code (*query_memory)(void* self, std::uint32_t node, std::uint32_t segment,
                       MemoryInformation* out);
};
static_assert(offsetof(Adapter3Functions, query_memory) == 14 * sizeof(void*));

struct FactoryFunctions {  // IDXGIFactory1
  UnknownFunctions base;
  Unused object_functions[4];
  Unused parent_functions[5];
  Code (*adapter)(void* self, std::uint32_t number, void** out);
  std::int32_t (*is_current)(void* self);
};
static_assert(offsetof(FactoryFunctions, adapter) == 12 * sizeof(void*));

using CreateFactory = Code (*)(const Guid* id, void** out);

// Reference to one object, whose first field is its function table.
template <class Functions>
class ComObject {
 public:
  ComObject() noexcept = default;
  explicit ComObject(void* pointer) noexcept : pointer_(pointer) {}
  ComObject(ComObject&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  ComObject& operator=(ComObject&& other) noexcept {
    ComObject previous(std::move(other));
    std::swap(pointer_, previous.pointer_);
    return *this;
  }
  ~ComObject() {
    if (pointer_ != nullptr) table<UnknownFunctions>()->release(pointer_);
  }

  explicit operator bool() const noexcept { return pointer_ != nullptr; }
  [[nodiscard]] void* get() const noexcept { return pointer_; }
  const Functions* operator->() const noexcept { return table<Functions>(); }

  template <class Other>
  ComObject<Other> query_interface(const Guid& id, Code& code) const noexcept {
    void* out = nullptr;
    code = table<UnknownFunctions>()->query(pointer_, &id, &out);
    if (is_failure(code)) out = nullptr;
    return ComObject<Other>(out);
  }

 private:
  template <class T>
  [[nodiscard]] const T* table() const noexcept {
    return *static_cast<const T* const*>(pointer_);
  }

  void* pointer_ = nullptr;
};

using Factory = ComObject<FactoryFunctions>;
using Adapter1 = ComObject<AdapterFunctions>;
using Adapter3 = ComObject<Adapter3Functions>;

}  // namespace hmn::dxgi
