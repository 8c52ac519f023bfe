// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/sysfs/attribute.hpp"

#include <cerrno>

#include "model/failure.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::sysfs {
namespace {

using LineBuffer = std::array<char, 128>;

std::string_view describe_error(int error) noexcept {
  switch (error) {
    case no_number:
      return " holds no number";
    case ENOENT:
      return " is missing: not supported by this device or driver";
    case EACCES:
    case EPERM:
      return " may not be read by this user";
    case ENODEV:
    case ENXIO:
      return " is gone with its device";
    case EMFILE:
    case ENFILE:
      return " cannot be opened: no file descriptor is left";
    default:
      return " cannot be read";
  }
}

}  // namespace

PathText::PathText(std::initializer_list<Piece> parts) noexcept {
  std::size_t length = 0;
  for (const Piece& part : parts) length += PieceText(part).view().size();
  if (length < bytes_.size()) length_ = compose_into(bytes_, parts).size();
  bytes_[length_] = '\0';
}

platform::ErrnoOr<std::string_view> read_text(std::string_view folder, std::string_view name,
                                              std::span<char> buffer) noexcept {
  const PathText path{folder, "/", name};
  const auto result = platform::read_small(path.c_str(), buffer);
  return {{buffer.data(), result ? result.value : 0}, result.error};
}

platform::ErrnoOr<std::string_view> read_line(std::string_view folder, std::string_view name,
                                              std::span<char> buffer) noexcept {
  const auto [text, error] = read_text(folder, name, buffer);
  return {scan::trim(text.substr(0, text.find_first_of(std::string_view("\r\n\0", 3)))), error};
}

platform::ErrnoOr<std::uint64_t> read_number(std::string_view folder,
                                             std::string_view name) noexcept {
  const auto value = read_signed(folder, name);
  const bool is_negative = value && value.value < 0;
  return {static_cast<std::uint64_t>(value.value), is_negative ? no_number : value.error};
}

platform::ErrnoOr<std::int64_t> read_signed(std::string_view folder,
                                            std::string_view name) noexcept {
  LineBuffer buffer;
  const auto line = read_line(folder, name, buffer);
  if (!line) return {0, line.error};
  const auto value = scan::parse_number<std::int64_t>(line.value);
  return {value.value_or(0), value ? 0 : no_number};
}

platform::ErrnoOr<std::uint64_t> read_hex(std::string_view folder, std::string_view name) noexcept {
  LineBuffer buffer;
  const auto line = read_line(folder, name, buffer);
  if (!line) return {0, line.error};
  const auto value =
      scan::parse_number(line.value.starts_with("0x") ? line.value.substr(2) : "", 16);
  return {value.value_or(0), value ? 0 : no_number};
}

Text<64> read_link_name(std::string_view folder, std::string_view name, int* error) noexcept {
  const PathText path{folder, "/", name};
  std::array<char, 512> target;
  const auto result = platform::read_link(path.c_str(), target);
  if (error != nullptr) *error = result.error;
  const std::string_view path_target(target.data(), result.value);
  return Text<64>(path_target.substr(path_target.rfind('/') + 1));
}

// A reading would resume a device that is "suspending".
bool is_asleep_status(std::string_view runtime_status) noexcept {
  return runtime_status == "suspended" || runtime_status == "suspending";
}

platform::ErrnoOr<bool> is_asleep(std::string_view device_folder) noexcept {
  LineBuffer buffer;
  const auto line = read_line(device_folder, "power/runtime_status", buffer);
  if (line.error == ENOENT || line.error == ENOTDIR) return {false, 0};
  if (!line) return {false, line.error};
  // Files of sysfs are never empty: that is a failed read.
  return {is_asleep_status(line.value), line.value.empty() ? EIO : 0};
}

Failure make_file_failure(Source source, int error, std::string_view folder,
                          std::string_view name) {
  NativeCode native;
  if (error != no_number) native = {NativeDomain::error_number, error};
  return {error == no_number ? Status::backend : translate_errno(error, Status::unsupported),
          source,
          native,
          {folder, "/", name, describe_error(error)},
          error == no_number ? Reason::not_understood : Reason::unknown};
}

}  // namespace hmn::sysfs
