// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/identity.hpp"
#include "fuzz.hpp"

void fuzz(std::string_view input) {
  const auto information = hmn::nvml::parse_information(input);
  for (const std::string_view part :
       {information.model, information.uuid, hmn::nvml::parse_driver_version(input)}) {
    promise(is_inside(part, input));
    promise(part.find('\n') == std::string_view::npos);
  }
}
