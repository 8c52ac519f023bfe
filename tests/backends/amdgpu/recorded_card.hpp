// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "recorded.hpp"

// The card's folder of a recording, "…/card0/device".
inline std::string find_card_folder(const recorded::Entry& entry) {
  for (const auto& folder : std::filesystem::directory_iterator(entry.path())) {
    if (folder.path().filename().string().starts_with("card")) return folder.path() / "device";
  }
  return {};
}
