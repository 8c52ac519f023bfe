// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/exporter/sample.hpp"
#include "cli/exporter/transfer_rates.hpp"

namespace hmn::cli {

// Names of other exporters.
enum class dialect : std::uint8_t { dcgm, nvidia_smi };

constexpr std::string_view dialect_words[] = {"dcgm", "nvidia-smi"};

// Adds the samples of the families in compat.def.
void collect_compatible(dialect as, const std::vector<hypomnesis::snapshot_device>& devices,
                        const transfer_rates& rates, samples& to);

}  // namespace hmn::cli
