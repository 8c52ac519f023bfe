// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "platform/file.hpp"

namespace hmn::cli {

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, closed)),
      size_(other.size_) {}

Expected<std::string> read_whole(const std::string& path, std::uint64_t max_bytes) {
  const auto file = InputFile::open(path);
  if (!file) return file.error();
  if (file->size() > max_bytes)
    return make_failure(
        fmt::format("\"{}\": {} bytes: expected at most {}", path, file->size(), max_bytes));
  return file->beginning(max_bytes);
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of(path_separators) + 1);
}

std::optional<std::string> read_text_file(const std::string& path) {
  constexpr std::size_t max_bytes = 1 << 20;
  std::string text;
  return platform::read_whole(path.c_str(), text, max_bytes) ? std::optional(std::move(text))
                                                             : std::nullopt;
}

bool OutputTarget::may_replace(std::string_view name) const {
  return force || std::any_of(suffixes.begin(), suffixes.end(),
                              [name](std::string_view suffix) { return name.ends_with(suffix); });
}

Failure already_exists_error(const OutputTarget& target, const std::string& file) {
  const auto link_text =
      file == target.path ? std::string() : fmt::format(" leads to \"{}\", which", file);
  const auto kind = target.suffixes.empty()
                        ? std::string()
                        : fmt::format(", and is no {} file", fmt::join(target.suffixes, " or "));
  return make_failure(fmt::format("{} \"{}\"{} is there already{}; --force replaces it",
                                  target.option, target.path, link_text, kind));
}

std::optional<Failure> check_new_name(const OutputTarget& target, std::string_view file) {
  const auto name = file_name(file);
  const bool has_ending = name.find('.', 1) != name.npos;
  if (target.accepts_any_name || !has_ending || target.suffixes.empty() || target.may_replace(file))
    return std::nullopt;
  return make_usage_error(
      fmt::format("{} \"{}\": expected a file whose name ends in {}; --force writes any",
                  target.option, target.path, fmt::join(target.suffixes, " or ")));
}

std::optional<Failure> write_to_stream(Stream stream, std::string_view text) {
  const auto outcome = write_stream(stream, text);
  if (outcome.reason != WriteOutcome::Reason::failed) return std::nullopt;
  return make_failure(fmt::format("cannot write to standard {}: {}",
                                  stream == Stream::output ? "output" : "error",
                                  format_write_error(outcome)));
}

}  // namespace hmn::cli
