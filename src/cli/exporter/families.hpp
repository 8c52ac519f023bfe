// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include "cli/exporter/families.def"
#include "cli/exporter/samples.hpp"

// Families under the project's own names.
namespace hmn::cli::families {

#define HMN_FAMILY(id, name, kind, unit, labels, help, source) \
  inline constexpr Family id{name, FamilyKind::kind, help};
HMN_FAMILIES(HMN_FAMILY)
#undef HMN_FAMILY

}  // namespace hmn::cli::families
