// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "backends/nvidia_smi/columns.hpp"
#include "backends/nvidia_smi/rows.hpp"

namespace hmn::nvidia_smi {

// Something that the tool said beside its rows: a lost device, a row that makes no sense.
struct problem {
  failure why;
  std::string bus_id;  // of the device; empty: not of one
};

template <class Row>
struct reply {
  std::vector<Row> rows;
  std::vector<problem> problems;
  bool is_truncated = false;  // there were more rows
};

// The nvidia-smi program of this machine.
class tool {
 public:
  explicit tool(const settings& s) : wanted_path_(s.nvidia_smi_path) {}

  // Is there a program to run?
  result<void> find();

  result<reply<gpu_row>> ask_gpus(reading& r);
  result<reply<app_row>> ask_apps(reading& r);

 private:
  template <class Row>
  result<reply<Row>> ask(reading& r, std::string_view option, column_choice& choice,
                         answer<Row> (*parse)(std::string_view, bool));
  void forget_when_replaced();

  std::string wanted_path_;
  std::string path_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  column_choice gpu_columns_{gpu_spellings()};
  column_choice app_columns_{app_spellings()};
};

}  // namespace hmn::nvidia_smi
