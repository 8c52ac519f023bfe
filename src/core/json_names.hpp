// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Numbers and bits of the model as words of the JSON rendering.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/device.hpp"
#include "model/failure.hpp"
#include "model/host_memory.hpp"
#include "model/note.hpp"
#include "model/pool.hpp"
#include "model/short_text.hpp"
#include "model/usage.hpp"

namespace hmn {

std::string_view name_of(source s) noexcept;
std::string_view name_of(status s) noexcept;
std::string_view name_of(native_domain d) noexcept;
std::string_view name_of(device_kind k) noexcept;
std::string_view name_of(memory_kind k) noexcept;
std::string_view name_of(state s) noexcept;
std::string_view name_of(pool_kind k) noexcept;
std::string_view name_of(accounting a) noexcept;
std::string_view name_of(memory_pressure p) noexcept;
std::string_view name_of(name_state s) noexcept;
std::string_view vendor_name(std::uint32_t pci_vendor) noexcept;

using json_name = short_text<28>;

// [n] names bit n.
std::span<const json_name> note_names() noexcept;
std::span<const json_name> subject_names() noexcept;
std::span<const json_name> usage_kind_names() noexcept;
std::span<const json_name> throttle_names() noexcept;
// Of the presence bits of the struct that a subject is about.
std::span<const json_name> field_names(std::uint32_t subject_bit) noexcept;

}  // namespace hmn
