// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/sized.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hmn::api {
namespace {

std::uint32_t size_at(const void* sized) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, sized, sizeof size);
  return size;
}

constexpr std::uint32_t header = sizeof(std::uint32_t);

Failure wrong_size(std::uint32_t size, std::uint32_t first_size) {
  return failed(Status::struct_size, {"struct_size: ", size, ", expected a multiple of 8 from ",
                                      first_size, " to ", largest_struct});
}

}  // namespace

std::uint32_t SizedOut::size() const noexcept {
  return size_at(bytes);
}

Result<void> SizedOut::check() const {
  if (bytes == nullptr) return failed(Status::argument, "out is NULL");
  if (is_struct_size(size(), first_size)) return {};
  return wrong_size(size(), first_size);
}

void SizedOut::clear() const noexcept {
  std::memset(bytes + header, 0, size() - header);
}

void SizedOut::write(const void* full) const noexcept {
  const std::uint32_t held = std::min(size(), known_size);
  std::memcpy(bytes + header, static_cast<const unsigned char*>(full) + header, held - header);
  std::memset(bytes + held, 0, size() - held);
  if (held == known_size || fields.empty()) return;
  hmn_fields present = 0;
  std::memcpy(&present, bytes + present_offset, sizeof present);
  for (const SizedField& f : fields) {
    if (f.end <= held) continue;
    present &= ~f.bit;
    if (f.begin < held) std::memset(bytes + f.begin, 0, held - f.begin);
  }
  std::memcpy(bytes + present_offset, &present, sizeof present);
}

Result<void> read_sized(const void* options, std::uint32_t first_size, void* full,
                        std::uint32_t known_size) {
  if (options == nullptr) return {};
  const std::uint32_t size = size_at(options);
  if (!is_struct_size(size, first_size)) return wrong_size(size, first_size);
  const std::uint32_t known = std::min(size, known_size);
  const auto* bytes = static_cast<const unsigned char*>(options);
  if (std::any_of(bytes + known, bytes + size, [](unsigned char b) { return b != 0; })) {
    return failed(Status::unknown_flag, {"struct_size: ", size, ": a field past the ", known,
                                         " bytes that this version of the library knows is set"});
  }
  std::memcpy(full, bytes, known);
  return {};
}

}  // namespace hmn::api
