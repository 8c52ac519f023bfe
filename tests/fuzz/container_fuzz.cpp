// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/linux/container.hpp"

#include "backends/os/linux/process_name.hpp"
#include "fuzz.hpp"

using namespace hmn::os;

void fuzz(std::string_view input) {
  const container in = parse_container(input);
  promise(in.empty() || is_inside(in.id, input));
  promise(in.id.find('/') == std::string_view::npos);
  promise(in.empty() == in.runtime.empty());
  std::string text;
  append_container(text, in);
  promise(text.size() > in.runtime.size());
  for (const bool is_cut : {false, true}) {
    std::string command;
    append_command(command, input, is_cut);
    promise(command.find('\0') == std::string::npos);
    promise(command.size() <= 3 * input.size());
  }
}
