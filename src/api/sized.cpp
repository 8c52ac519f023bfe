// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/sized.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace hmn::api {
namespace {

std::uint32_t read_struct_size(const void* record) noexcept {
  std::uint32_t size = 0;
  std::memcpy(&size, record, sizeof size);
  return size;
}

constexpr std::uint32_t header_size = sizeof(std::uint32_t);

Failure wrong_size(std::uint32_t size, std::uint32_t first_size) {
  return make_failure(Status::struct_size,
                      {"struct_size: ", size, ", expected a multiple of 8 from ", first_size,
                       " to ", largest_struct});
}

}  // namespace

std::uint32_t SizedOut::size() const noexcept {
  return read_struct_size(bytes);
}

Result<void> SizedOut::check() const {
  if (bytes == nullptr) return make_failure(Status::argument, "out is NULL");
  if (is_struct_size(size(), first_size)) return {};
  return wrong_size(size(), first_size);
}

void SizedOut::clear() const noexcept {
  std::memset(bytes + header_size, 0, size() - header_size);
}

void SizedOut::write(const void* result) const noexcept {
  const std::uint32_t common_size = std::min(size(), known_size);
  std::memcpy(bytes + header_size, static_cast<const unsigned char*>(result) + header_size,
              common_size - header_size);
  std::memset(bytes + common_size, 0, size() - common_size);
  if (common_size == known_size || fields.empty()) return;
  hmn_fields present = 0;
  std::memcpy(&present, bytes + present_offset, sizeof present);
  for (const SizedField& field : fields) {
    if (field.end <= common_size) continue;
    present &= ~field.bit;
    if (field.begin < common_size) std::memset(bytes + field.begin, 0, common_size - field.begin);
  }
  std::memcpy(bytes + present_offset, &present, sizeof present);
}

Result<void> read_sized(const void* input, std::uint32_t first_size, void* output,
                        std::uint32_t known_size) {
  if (input == nullptr) return {};
  const std::uint32_t size = read_struct_size(input);
  if (!is_struct_size(size, first_size)) return wrong_size(size, first_size);
  const std::uint32_t common_size = std::min(size, known_size);
  const auto* bytes = static_cast<const unsigned char*>(input);
  if (std::any_of(bytes + common_size, bytes + size, [](unsigned char b) { return b != 0; })) {
    return make_failure(Status::unknown_flag,
                        {"struct_size: ", size, ": a field past the ", common_size,
                         " bytes that this version of the library knows is set"});
  }
  std::memcpy(output, bytes, common_size);
  return {};
}

}  // namespace hmn::api
