// SPDX-License-Identifier: MIT OR Apache-2.0
// `free_memory SIZE`: the GPU that has SIZE free, for instance 8GiB. Exit status 0 if any has.
#include <charconv>
#include <hypomnesis.hpp>
#include <iostream>

namespace {

enum exit_status { success = 0, nothing_found = 1, wrong_usage = 2 };

// Bytes, or a whole number of KiB, MiB, GiB or TiB.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  constexpr std::string_view units[] = {"", "KiB", "MiB", "GiB", "TiB"};
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc()) return {};
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  unsigned shift = 0;
  for (const std::string_view candidate : units) {
    if (unit == candidate && number <= UINT64_MAX >> shift) return number << shift;
    shift += 10;
  }
  return {};
}

std::optional<std::uint64_t> read_free_memory(const hypomnesis::context& context,
                                              std::uint32_t index) {
  try {
    return context.pool(index).usable_bytes;
  } catch (const hypomnesis::error&) {
    return {};
  }
}

// Index of the device with the most free memory.
std::optional<std::uint32_t> find_device(const hypomnesis::context& context, std::uint64_t size) {
  std::optional<std::uint32_t> best;
  std::uint64_t most = 0;
  const std::uint32_t count = context.scan().count;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto name = context.device(i).name;
    std::cout << "GPU " << i << (name ? " [" + *name + "]" : "") << ": ";
    const auto bytes = read_free_memory(context, i);
    if (!bytes) {
      std::cout << "free memory is not known\n";
      continue;
    }
    const bool fits = *bytes >= size;
    std::cout << hypomnesis::format_bytes(*bytes) << " free, "
              << (fits ? "fits" : "does not fit") << '\n';
    if (fits && (!best || *bytes > most)) {
      best = i;
      most = *bytes;
    }
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) try {
  const auto size = argc == 2 ? parse_size(argv[1]) : std::nullopt;
  if (!size) {
    std::cerr << "usage: free_memory SIZE, for instance 8GiB\n";
    return wrong_usage;
  }
  hypomnesis::context_options options;
  options.flags = hypomnesis::context_flag::environment;
  if (const auto best = find_device(hypomnesis::context(options), *size)) {
    std::cout << "GPU " << *best << " has most\n";
    return success;
  }
  std::cout << "no GPU has " << hypomnesis::format_bytes(*size) << " free\n";
  return nothing_found;
} catch (const hypomnesis::error& e) {
  std::cerr << e.what() << '\n';
  return nothing_found;
}
