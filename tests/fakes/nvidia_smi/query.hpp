// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario.hpp"

namespace fake_smi {

struct arguments {
  enum query { none, gpus, apps } what = none;
  std::vector<std::string> fields;
  std::vector<std::string> ids;
  bool csv = false, header = true, units = true;
  std::string joined;
  std::string refusal;  // not empty: the tool ends with this text
};

arguments arguments_from(const std::vector<std::string>& words);

struct output {
  std::string text;
  int exit_code = 0;
};

output answer(const scenario& scene, const arguments& asked);

}  // namespace fake_smi
