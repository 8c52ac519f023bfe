// SPDX-License-Identifier: MIT OR Apache-2.0
#include <hypomnesis.hpp>
#include <iostream>

int main() {
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::environment;
  const hypomnesis::context context(options);
  const auto free = context.pool(0).free_bytes;
  std::cout << hypomnesis::version_string() << ": " << context.device(0).name.value_or("no name")
            << ", " << (free ? hypomnesis::format_bytes(*free) : "not known") << '\n';
}
