// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "scenario.hpp"

namespace fake_smi {

struct Arguments {
  enum Query { none, gpus, apps } query = none;
  std::vector<std::string> fields;
  std::vector<std::string> ids;
  bool csv = false, header = true, units = true;
  std::string joined;
  std::string refusal;  // not empty: the tool ends with this text
};

Arguments parse_arguments(const std::vector<std::string>& words);

struct Output {
  std::string text;
  int exit_code = 0;
};

Output answer(const Scenario& scene, const Arguments& arguments);

}  // namespace fake_smi
