// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "recorded.hpp"

// The card's folder of a recording, "…/card0/device".
inline std::string recorded_card(const recorded::Entry& e) {
  for (const auto& one : std::filesystem::directory_iterator(e.path())) {
    if (one.path().filename().string().starts_with("card")) return one.path() / "device";
  }
  return {};
}
