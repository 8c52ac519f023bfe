// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.h>

#include <optional>
#include <string>
#include <string_view>

#include "cli/handles.hpp"
#include "cli/text/finding.hpp"

namespace hmn::cli {

struct nvidia_backends {
  std::optional<hmn_backend_info> nvml;
  std::optional<hmn_backend_info> nvidia_smi;
};

finding fine(std::string text);
finding note(std::string text);
finding trouble(std::string text, std::string advice = {});

// needed: there is a GPU that this source should know.
finding inspect_backend(std::string_view name, const hmn_backend_info& of, bool needed);
// A row for each source of measurement, NVIDIA's aside, which stand with their adapters.
section inspect_sources(const context& in);

}  // namespace hmn::cli
