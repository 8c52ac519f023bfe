// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/process.hpp"

#include "fuzz.hpp"

using namespace hmn::procfs;

void fuzz(std::string_view input) {
  const std::size_t length = take_byte(input) % 32;
  const std::string_view comm = input.substr(0, length);
  const std::string_view name = find_full_name(comm, input);
  promise(name == comm || (name.starts_with(comm) && comm.size() >= max_comm_length));
  for (const bool is_cut : {false, true}) {
    std::string command;
    append_command(command, input, is_cut);
    promise(command.find('\0') == std::string::npos);
    promise(command.size() <= 3 * input.size());
  }
}
