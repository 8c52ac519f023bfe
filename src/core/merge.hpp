// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One device seen by several sources: each value from the best of them that has it.
#pragma once

#include <cstdint>

#include "core/snapshot.hpp"

namespace hmn {

// Takes from `other` what `best` lacks.
void merge(device& best, const device& other);
void merge(dated<telemetry>& best, const dated<telemetry>& other);
// Of one kind.
void merge(dated<pool>& best, const dated<pool>& other);

// telemetry_field bits of what is there.
std::uint32_t fields_of(const telemetry& t) noexcept;

}  // namespace hmn
