// SPDX-License-Identifier: MIT OR Apache-2.0
// before_after: the change on the host and on the first GPU when 64 MiB are allocated.
#include <hypomnesis.hpp>
#include <iostream>

namespace {

constexpr std::size_t work_bytes = 64 << 20;

bool rose_enough(const hypomnesis::snapshot& before, const hypomnesis::snapshot& after) {
  const auto a = before.memory();
  const auto b = after.memory();
  return a && b && a->resident_bytes && b->resident_bytes &&
         *b->resident_bytes >= *a->resident_bytes + work_bytes;
}

}  // namespace

int main() try {
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::environment;
  const hypomnesis::context context(options);
  const hypomnesis::snapshot before = context.take();
  const std::vector<char> work(work_bytes, 'x');
  const hypomnesis::snapshot after = context.take();
  if (after.info().device_count > 0) {
    if (const auto lines = hypomnesis::before_after_lines(before, after, 0, "work")) {
      std::cout << *lines;
      return 0;
    }
  }
  const bool rose = rose_enough(before, after);
  std::cout << (rose ? "RAM +64 MiB or more\n" : "RAM rose by less than 64 MiB\n");
  return rose && work.back() == 'x' ? 0 : 1;
} catch (const hypomnesis::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
