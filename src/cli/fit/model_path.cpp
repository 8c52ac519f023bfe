// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/model_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/system/file.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::size_t part_digits = 5;
constexpr unsigned most_parts = 9999;

std::optional<unsigned> five_digits(std::string_view text) {
  unsigned number = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (text.size() != part_digits || parsed.ec != std::errc{} || parsed.ptr != end)
    return std::nullopt;
  return number;
}

std::vector<std::string> ending_in(const std::vector<std::string>& all, std::string_view suffix) {
  std::vector<std::string> found;
  for (const auto& each : all)
    if (each.ends_with(suffix)) found.push_back(each);
  return found;
}

// Returns the only file of a kind, or the first part of a set.
std::optional<std::string> only_one(std::vector<std::string> files, std::string_view suffix) {
  std::erase_if(files, [&](const std::string& each) {
    const auto part = parse_part_name(each, suffix);
    return (part && part->number != 1) || each.starts_with("mmproj");
  });
  return files.size() == 1 ? std::optional(files.front()) : std::nullopt;
}

}  // namespace

std::optional<part_name> parse_part_name(std::string_view file, std::string_view suffix) {
  constexpr std::string_view between = "-of-";
  constexpr std::size_t length =
      1 + part_digits + between.size() + part_digits;  // "-00001-of-00002"
  if (!file.ends_with(suffix)) return std::nullopt;
  file.remove_suffix(suffix.size());
  if (file.size() < length) return std::nullopt;
  const auto end = file.substr(file.size() - length);
  const auto number = five_digits(end.substr(1, part_digits));
  const auto count = five_digits(end.substr(1 + part_digits + between.size()));
  if (end.front() != '-' || end.substr(1 + part_digits, between.size()) != between || !number ||
      !count || *number == 0 || *number > *count || *count > most_parts)
    return std::nullopt;
  return part_name{std::string(file.substr(0, file.size() - length)), *number, *count};
}

std::vector<std::string> parts_of(const std::string& file, std::string_view suffix) {
  const auto part = parse_part_name(file, suffix);
  if (!part) return {file};
  std::vector<std::string> all;
  for (unsigned i = 1; i <= part->count; ++i)
    all.push_back(fmt::format("{}-{:05}-of-{:05}{}", part->prefix, i, part->count, suffix));
  return all;
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of(path_separators);
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string file_name_of(const std::string& path) {
  return path.substr(folder_of(path).size());
}

expected<std::string> find_model(const std::string& folder) {
  const auto in = folder_of(folder) == folder ? folder : folder + "/";
  for (const auto* name : {"model.safetensors.index.json", "model.safetensors"})
    if (is_there(in + name)) return in + name;
  const auto all = list_folder(in);
  for (const std::string_view suffix : {".safetensors", ".gguf"}) {
    const auto files = ending_in(all, suffix);
    if (const auto one = only_one(files, suffix)) return in + *one;
    if (files.size() > 1)
      return failed(fmt::format("\"{}\": {} files end in {}: expected one, or the path of one",
                                folder, files.size(), suffix));
  }
  if (is_there(in + "config.json")) return in + "config.json";
  return failed(
      fmt::format("\"{}\": expected model.safetensors.index.json, a .safetensors or "
                  ".gguf file, or config.json in it",
                  folder));
}

}  // namespace hmn::cli::fit
