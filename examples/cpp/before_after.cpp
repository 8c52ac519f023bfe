// SPDX-License-Identifier: MIT OR Apache-2.0
// before_after: the change on the host and on the first GPU when 64 MiB are allocated.
#include <hypomnesis.hpp>
#include <iostream>

namespace {

constexpr std::size_t work_bytes = 64 << 20;

std::optional<std::uint64_t> read_resident(const hypomnesis::snapshot& snapshot) {
  const auto memory = snapshot.memory();
  return memory ? memory->resident_bytes : std::nullopt;
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
  const auto bytes_before = read_resident(before), bytes_after = read_resident(after);
  if (!bytes_before || !bytes_after) {
    std::cout << "RAM is not known\n";
    return 1;
  }
  const bool rose = *bytes_after >= *bytes_before + work_bytes;
  std::cout << (rose ? "RAM +64 MiB or more\n" : "RAM rose by less than 64 MiB\n");
  return rose && work.back() == 'x' ? 0 : 1;
} catch (const hypomnesis::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
