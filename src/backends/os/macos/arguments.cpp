// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/macos/arguments.hpp"

#include <cstdint>
#include <cstring>

#include "model/scan.hpp"
#include "model/text.hpp"

namespace hmn::macos {

void append_arguments(std::string& out, std::string_view bytes) {
  std::int32_t count = 0;
  if (bytes.size() < sizeof count) return;
  std::memcpy(&count, bytes.data(), sizeof count);
  bytes.remove_prefix(sizeof count);
  const std::size_t end_of_path = bytes.find('\0');
  if (end_of_path == bytes.npos) return;
  const std::size_t first = bytes.find_first_not_of('\0', end_of_path);
  if (first == bytes.npos) return;
  bytes.remove_prefix(first);
  for (std::int32_t i = 0; i < count && !bytes.empty(); ++i) {
    if (i > 0) out += ' ';
    append_utf8(out, scan::take_until(bytes, '\0'));
  }
}

}  // namespace hmn::macos
