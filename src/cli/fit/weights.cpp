// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/system/file.hpp"
#include "cli/text/json.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::size_t most_shape_dimensions = 64;
constexpr std::size_t most_files = 10'000;
constexpr std::size_t length_bytes = 8;

struct element_type {
  std::string_view name;
  std::uint32_t bits;
};
// Element types of Dtype in https://github.com/huggingface/safetensors, tensor.rs.
constexpr element_type element_types[] = {
    {"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6},     {"F6_E3M2", 6},    {"U8", 8},   {"I8", 8},
    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8},     {"I16", 16},       {"U16", 16}, {"F16", 16},
    {"BF16", 16},   {"I32", 32},    {"U32", 32},        {"F32", 32},       {"F64", 64}, {"I64", 64},
    {"U64", 64},    {"C64", 64},    {"F8_E5M2FNUZ", 8}, {"F8_E4M3FNUZ", 8}};

std::uint32_t bits_of(std::string_view name) {
  for (const auto& each : element_types)
    if (each.name == name) return each.bits;
  return 0;
}

Failure wrong_tensor(const std::string& name, std::string_view what) {
  return failed(fmt::format("tensor \"{}\": {}", name, what));
}

std::optional<std::uint64_t> elements_of(const json::Value& row) {
  const auto* shape = row.find("shape");
  if (shape == nullptr || shape->items() == nullptr) return std::nullopt;
  if (shape->items()->size() > most_shape_dimensions) return std::nullopt;
  std::uint64_t elements = 1;
  for (const auto& each : *shape->items()) {
    const auto size = each.whole();
    if (!size) return std::nullopt;
    elements = times(elements, *size);
  }
  return elements;
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::optional<Range> range_of(const json::Value& row) {
  const auto* found = row.find("data_offsets");
  if (found == nullptr || found->items() == nullptr || found->items()->size() != 2)
    return std::nullopt;
  const auto begin = found->items()->front().whole();
  const auto end = found->items()->back().whole();
  if (!begin || !end || *end < *begin) return std::nullopt;
  return Range{*begin, *end};
}

std::string member_shown(const json::Value& row, std::string_view name) {
  const auto* found = row.find(name);
  return fmt::format("{} is {}", name, found != nullptr ? shown(*found) : "missing");
}

Expected<Tensor> tensor_of(const std::string& name, const json::Value& row,
                           std::uint64_t data_bytes) {
  const auto* dtype = row.find("dtype");
  if (dtype == nullptr || dtype->text() == nullptr)
    return wrong_tensor(name, member_shown(row, "dtype") + ": expected a text");
  const auto bits = bits_of(*dtype->text());
  if (bits == 0)
    return wrong_tensor(name, fmt::format("dtype \"{}\": expected one of safetensors, as F16 or "
                                          "BF16",
                                          *dtype->text()));
  const auto elements = elements_of(row);
  if (!elements) return wrong_tensor(name, member_shown(row, "shape") + ": expected whole numbers");
  const auto at = range_of(row);
  if (!at)
    return wrong_tensor(
        name, member_shown(row, "data_offsets") + ": expected two whole numbers in order");
  if (at->end > data_bytes)
    return wrong_tensor(name, fmt::format("ends at byte {} of the weights: expected at most {}",
                                          at->end, data_bytes));
  const auto bytes = divided_up(times(*elements, bits), 8);
  if (bytes != at->end - at->begin)
    return wrong_tensor(name, fmt::format("has {} bytes: expected {} for its shape and dtype",
                                          at->end - at->begin, bytes));
  return Tensor{name, *elements, bytes};
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool is_of_another_sense(std::string_view name) {
  for (const std::string_view part :
       {"vision", "visual", "audio", "multi_modal", "mm_", "mm.", "v.blk", "a.blk", "image"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

bool counts_layers(std::string_view word) {
  for (const std::string_view each : {"blk", "layers", "h", "blocks", "block", "layer"})
    if (word == each) return true;
  return false;
}

std::optional<std::uint64_t> number_in(std::string_view word) {
  std::uint64_t number = 0;
  const auto end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  if (word.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

std::size_t layers_in(const std::vector<Tensor>& tensors) {
  std::uint64_t most = 0;
  for (const auto& each : tensors)
    if (const auto layer = layer_of_tensor(each.name); layer && *layer < most_layers)
      most = std::max(most, *layer + 1);
  return static_cast<std::size_t>(most);
}

}  // namespace

Expected<std::vector<Tensor>> parse_safetensors(std::string_view header, std::uint64_t data_bytes) {
  const auto tree = parse_json(header);
  if (!tree) return failed("its header: " + tree.why().message);
  if (tree->members() == nullptr) return failed("its header: expected a JSON object");
  std::vector<Tensor> tensors;
  std::uint64_t sum = 0;
  const json::Object& rows = *tree->members();
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    const std::string& name = rows.keys[i];
    const json::Value& row = rows.values[i];
    if (name == "__metadata__") continue;
    auto one = tensor_of(name, row, data_bytes);
    if (!one) return one.why();
    sum = plus(sum, one->bytes);
    if (sum > data_bytes) return wrong_tensor(name, "overlaps another one");
    tensors.push_back(*std::move(one));
  }
  return tensors;
}

Expected<std::vector<Tensor>> read_safetensors(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.why();
  const auto length = file->beginning(length_bytes);
  if (!length) return length.why();
  if (length->size() < length_bytes)
    return failed_at(path, fmt::format("{} bytes: expected at least 8", file->size()));
  const auto bytes = little_endian(*length);
  if (bytes > most_safetensors_header_bytes)
    return failed_at(path, fmt::format("a header of {} bytes: expected at most {}", bytes,
                                       most_safetensors_header_bytes));
  if (bytes > file->size() - length_bytes)
    return failed_at(path,
                     fmt::format("a header of {} bytes in a file of {}", bytes, file->size()));
  const auto all = file->beginning(bytes + length_bytes);
  if (!all) return all.why();
  auto tensors = parse_safetensors(std::string_view(*all).substr(length_bytes),
                                   file->size() - length_bytes - bytes);
  if (!tensors) return failed_at(path, tensors.why().message);
  return tensors;
}

Expected<SafetensorsIndex> parse_safetensors_index(std::string text) {
  const auto tree = parse_json(text);
  if (!tree) return tree.why();
  const auto* map = tree->find("weight_map");
  if (map == nullptr || map->members() == nullptr)
    return failed("expected an object \"weight_map\"");
  SafetensorsIndex found;
  if (const auto* metadata = tree->find("metadata"))
    if (const auto* total = metadata->find("total_size")) found.total_bytes = total->whole();
  const json::Object& files = *map->members();
  for (std::size_t i = 0; i < files.keys.size(); ++i) {
    const std::string& name = files.keys[i];
    const json::Value& file = files.values[i];
    if (file.text() == nullptr || file.text()->empty() ||
        file.text()->find_first_of(path_separators) != std::string::npos)
      return wrong_tensor(name, "expected the name of a file in the same folder");
    if (!found.tensors.emplace(name, *file.text()).second)
      return wrong_tensor(name, "is there twice");
    found.files.push_back(*file.text());
  }
  std::sort(found.files.begin(), found.files.end());
  found.files.erase(std::unique(found.files.begin(), found.files.end()), found.files.end());
  if (found.files.size() > most_files)
    return failed(fmt::format("{} files: expected at most {}", found.files.size(), most_files));
  return found;
}

std::uint64_t Weights::total() const {
  std::uint64_t sum = outside;
  for (const auto each : layers) sum = plus(sum, each);
  return sum;
}

std::optional<std::uint64_t> layer_of_tensor(std::string_view name) noexcept {
  if (is_of_another_sense(name)) return std::nullopt;
  std::string_view before;
  while (!name.empty()) {
    const auto word = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    if (counts_layers(before))
      if (const auto number = number_in(word)) return number;
    before = word;
  }
  return std::nullopt;
}

Weights weights_of(const std::vector<Tensor>& tensors, std::size_t layers) {
  Weights made;
  made.layers.resize(layers != 0 ? layers : layers_in(tensors));
  for (const auto& each : tensors) {
    const auto layer = layer_of_tensor(each.name);
    auto& to = layer && *layer < made.layers.size() ? made.layers[static_cast<std::size_t>(*layer)]
                                                    : made.outside;
    to = plus(to, each.bytes);
    made.parameters = plus(made.parameters, each.elements);
  }
  return made;
}

Weights scaled_to(const Weights& counted, std::uint64_t total) {
  Weights made = counted;
  const auto sum = static_cast<double>(counted.total());
  std::uint64_t left = total;
  for (auto& each : made.layers) {
    const auto share = sum == 0 ? 0 : static_cast<double>(each) / sum;
    each = std::min(left, static_cast<std::uint64_t>(share * static_cast<double>(total)));
    left -= each;
  }
  made.outside = left;
  return made;
}

}  // namespace hmn::cli::fit
