// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "../strict_json.hpp"

namespace fake_smi {

using fakes::json;

// A number is printed with its column's unit, a text unchanged.
using Cells = std::map<std::string, json>;

struct Gpu {
  Cells fields;
  std::vector<Cells> apps;
};

struct Failure {
  std::string text;
  int exit_code = 255;
  bool uses_stderr = false;
};

struct Behaviour {
  unsigned delay_ms = 0;
  unsigned drip_ms = 0;
  unsigned long long long_line_bytes = 0;
  unsigned orphan_holds_stdout_ms = 0;
  int dies_by_signal = 0;
  bool hang = false;
  bool hang_after_output = false;
  bool close_stdout_and_hang = false;
  bool ignore_sigterm = false;
  std::string endless;
};

struct Scenario {
  std::vector<Gpu> gpus;
  std::vector<std::string> known_fields, known_app_fields;
  std::map<std::string, std::string> units;  // of columns that fields.cpp does not know
  std::string absent = "[N/A]";
  std::optional<Failure> failure;
  std::optional<std::string> raw_query_gpu, raw_query_compute_apps;
  std::map<std::string, std::string> raw;  // by the arguments joined with spaces
  std::string stderr_text;
  std::optional<int> exit_code;
  Behaviour behaviour;
};

// `invocation` counts from 0 and picks from "sequence". Files are looked up in `folder`.
Scenario parse_scenario(const std::string& text, const std::string& folder, unsigned invocation);

}  // namespace fake_smi
