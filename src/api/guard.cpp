// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/guard.hpp"

#include "model/text.hpp"

namespace hmn::api {

void clear_error(hmn_error* error) noexcept {
  if (error != nullptr) clear_result(error);
}

void write_error(hmn_error* error, const failure& why) noexcept {
  if (error == nullptr) return;
  hmn_error full{};
  full.struct_size = error->struct_size;
  full.status = static_cast<hmn_status>(why.code);
  full.backend = static_cast<std::uint32_t>(why.from);
  full.native_domain = static_cast<std::uint32_t>(why.native.domain);
  full.native_code = why.native.code;
  bool cut = false;
  copy_utf8(full.message, sizeof full.message, why.message, cut);
  if (cut) full.notes |= HMN_NOTE_TRUNCATED;
  write_result(error, full);
}

result<void> check_context(hmn_context* handle) {
  if (handle == nullptr) return null_argument("context is NULL");
  if (!object(handle).is_forked()) return {};
  return failure{status::forked, source::none, {},
                 "the context was made before this process was forked: make a new one"};
}

void text_out::clear() const noexcept {
  if (needed != nullptr) *needed = 0;
  if (buffer != nullptr && capacity > 0) buffer[0] = '\0';
}

result<void> text_out::write(std::string_view text) const {
  if (text.size() >= UINT32_MAX) {
    return failure{status::overflow, source::none, {}, "the text is longer than 4 GiB"};
  }
  const auto size = static_cast<std::uint32_t>(text.size()) + 1;
  if (needed != nullptr) *needed = size;
  if (buffer == nullptr) return {};
  if (capacity < size) return failure{status::buffer, source::none, {}, "the buffer is too small"};
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  return {};
}

}  // namespace hmn::api
