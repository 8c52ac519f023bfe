// SPDX-License-Identifier: MIT OR Apache-2.0
// memory: the memory of this process, and what the host has available.
#include <hypomnesis.hpp>
#include <iostream>

static void print_size(const char* label, std::optional<std::uint64_t> bytes) {
  std::cout << label << ": ";
  if (bytes)
    std::cout << *bytes << " bytes (" << hypomnesis::format_bytes(*bytes) << ")\n";
  else
    std::cout << "not known\n";
}

int main() try {
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::environment;
  const hypomnesis::context context(options);
  print_size("resident", context.own_memory().resident_bytes);
  print_size("available", context.system_memory().available_bytes);
} catch (const hypomnesis::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
