// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Files of sysfs that hold one value: their first line. Some copies of such trees are padded with
// NUL bytes, so a value ends at the first.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "model/failure.hpp"
#include "model/message_text.hpp"
#include "model/text.hpp"
#include "platform/file.hpp"

namespace hmn::sysfs {

// A path built without an allocation. One that does not fit is empty, so that opening it fails.
class PathText {
 public:
  PathText(std::initializer_list<Piece> parts) noexcept;
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), length_}; }

 private:
  std::size_t length_ = 0;
  std::array<char, 4352> bytes_;  // PATH_MAX and a path below the root
};

// Error of a value that is no number, distinct from errno values.
inline constexpr int no_number = -1;

// Reads <folder>/<name> as far as the buffer goes.
platform::ErrnoOr<std::string_view> read_text(std::string_view folder, std::string_view name,
                                              std::span<char> buffer) noexcept;
// Reads the first line of <folder>/<name>, blanks trimmed.
platform::ErrnoOr<std::string_view> read_line(std::string_view folder, std::string_view name,
                                              std::span<char> buffer) noexcept;
// Accepts decimal digits only, below 2^63; else `no_number`.
platform::ErrnoOr<std::uint64_t> read_number(std::string_view folder,
                                             std::string_view name) noexcept;
// The same with a sign.
platform::ErrnoOr<std::int64_t> read_signed(std::string_view folder,
                                            std::string_view name) noexcept;
// Accepts "0x1002".
platform::ErrnoOr<std::uint64_t> read_hex(std::string_view folder, std::string_view name) noexcept;

// Returns the last part of a link's target: the name of a driver or a bus.
Text<64> read_link_name(std::string_view folder, std::string_view name,
                        int* error = nullptr) noexcept;

// Parses power/runtime_status. Pure.
bool is_asleep_status(std::string_view runtime_status) noexcept;
// Reads the file; a device without it never sleeps.
platform::ErrnoOr<bool> is_asleep(std::string_view device_folder) noexcept;

// Returns the failure for a file <folder>/<name> without a value.
Failure make_file_failure(Source source, int error, std::string_view folder, std::string_view name);

}  // namespace hmn::sysfs
