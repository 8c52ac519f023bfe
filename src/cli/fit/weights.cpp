// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/system/file.hpp"
#include "cli/text/json.hpp"

namespace hmn::cli::fit {
namespace {

constexpr std::size_t max_shape_dimensions = 64;
constexpr std::size_t max_files = 10'000;
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

std::uint32_t find_element_bits(std::string_view name) {
  for (const auto& type : element_types)
    if (type.name == name) return type.bits;
  return 0;
}

Failure tensor_error(const std::string& name, std::string_view problem) {
  return make_failure(fmt::format("tensor \"{}\": {}", name, problem));
}

std::optional<std::uint64_t> count_elements(const json::Value& row) {
  const auto* shape = row.find("shape");
  if (shape == nullptr || shape->items() == nullptr) return std::nullopt;
  if (shape->items()->size() > max_shape_dimensions) return std::nullopt;
  std::uint64_t elements = 1;
  for (const auto& dimension : *shape->items()) {
    const auto size = dimension.integer();
    if (!size) return std::nullopt;
    elements = saturating_product(elements, *size);
  }
  return elements;
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::optional<Range> parse_data_offsets(const json::Value& row) {
  const auto* offsets = row.find("data_offsets");
  if (offsets == nullptr || offsets->items() == nullptr || offsets->items()->size() != 2)
    return std::nullopt;
  const auto begin = offsets->items()->front().integer();
  const auto end = offsets->items()->back().integer();
  if (!begin || !end || *end < *begin) return std::nullopt;
  return Range{*begin, *end};
}

std::string describe_member(const json::Value& row, std::string_view name) {
  const auto* member = row.find(name);
  return fmt::format("{} is {}", name, member != nullptr ? abbreviate(*member) : "missing");
}

Expected<Tensor> parse_tensor(const std::string& name, const json::Value& row,
                              std::uint64_t data_bytes) {
  const auto* dtype = row.find("dtype");
  if (dtype == nullptr || dtype->text() == nullptr)
    return tensor_error(name, describe_member(row, "dtype") + ": expected a text");
  const auto bits = find_element_bits(*dtype->text());
  if (bits == 0)
    return tensor_error(name, fmt::format("dtype \"{}\": expected one of safetensors, as F16 or "
                                          "BF16",
                                          *dtype->text()));
  const auto elements = count_elements(row);
  if (!elements)
    return tensor_error(name, describe_member(row, "shape") + ": expected whole numbers");
  const auto range = parse_data_offsets(row);
  if (!range)
    return tensor_error(
        name, describe_member(row, "data_offsets") + ": expected two whole numbers in order");
  if (range->end > data_bytes)
    return tensor_error(name, fmt::format("ends at byte {} of the weights: expected at most {}",
                                          range->end, data_bytes));
  const auto bytes = divide_rounding_up(saturating_product(*elements, bits), 8);
  if (bytes != range->end - range->begin)
    return tensor_error(name, fmt::format("has {} bytes: expected {} for its shape and dtype",
                                          range->end - range->begin, bytes));
  return Tensor{name, *elements, bytes};
}

std::uint64_t decode_little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = length_bytes; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

bool is_multimodal(std::string_view name) {
  for (const std::string_view part :
       {"vision", "visual", "audio", "multi_modal", "mm_", "mm.", "v.blk", "a.blk", "image"})
    if (name.find(part) != std::string_view::npos) return true;
  return false;
}

bool precedes_layer_number(std::string_view word) {
  for (const std::string_view prefix : {"blk", "layers", "h", "blocks", "block", "layer"})
    if (word == prefix) return true;
  return false;
}

std::optional<std::uint64_t> parse_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto end = word.data() + word.size();
  const auto parsed = std::from_chars(word.data(), end, number);
  if (word.empty() || parsed.ec != std::errc{} || parsed.ptr != end) return std::nullopt;
  return number;
}

void add_bytes(std::uint64_t& sum, std::uint64_t bytes) {
  sum = saturating_sum(sum, bytes);
}

std::size_t count_layers(const std::vector<Tensor>& tensors) {
  std::uint64_t count = 0;
  for (const auto& tensor : tensors)
    if (const auto layer = parse_layer_number(tensor.name); layer && *layer < max_layers)
      count = std::max(count, *layer + 1);
  return static_cast<std::size_t>(count);
}

// Returns whether llama.cpp's --n-cpu-moe moves the tensor: LLM_FFN_EXPS_REGEX in common/common.h.
bool is_expert(std::string_view name) {
  const auto start = name.find(".ffn_");
  if (start == std::string_view::npos) return false;
  name.remove_prefix(start);
  for (const auto* part : {"up", "down", "gate", "gate_up"})
    for (const auto* suffix : {"_exps", "_chexps"})
      if (name.starts_with(fmt::format(".ffn_{}{}", part, suffix))) return true;
  return false;
}

// Returns whether llama.cpp keeps the tensor in RAM: LLM_TENSOR_LAYER_INPUT in src/llama-arch.cpp.
bool is_embedding(std::string_view name) {
  for (const auto* prefix :
       {"token_embd.", "position_embd.", "token_types.", "per_layer_token_embd."})
    if (name.starts_with(prefix)) return true;
  return false;
}

}  // namespace

Expected<std::vector<Tensor>> parse_safetensors(std::string_view header, std::uint64_t data_bytes) {
  const auto tree = parse_json(header);
  if (!tree) return make_failure("its header: " + tree.error().message);
  if (tree->members() == nullptr) return make_failure("its header: expected a JSON object");
  std::vector<Tensor> tensors;
  std::uint64_t sum = 0;
  const json::Object& rows = *tree->members();
  for (std::size_t i = 0; i < rows.keys.size(); ++i) {
    const std::string& name = rows.keys[i];
    const json::Value& row = rows.values[i];
    if (name == "__metadata__") continue;
    auto tensor = parse_tensor(name, row, data_bytes);
    if (!tensor) return tensor.error();
    sum = saturating_sum(sum, tensor->bytes);
    if (sum > data_bytes) return tensor_error(name, "overlaps another one");
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

Expected<std::vector<Tensor>> read_safetensors(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.error();
  const auto length = file->beginning(length_bytes);
  if (!length) return length.error();
  if (length->size() < length_bytes)
    return make_file_failure(path, fmt::format("{} bytes: expected at least 8", file->size()));
  const auto bytes = decode_little_endian(*length);
  if (bytes > max_safetensors_header_bytes)
    return make_file_failure(path, fmt::format("a header of {} bytes: expected at most {}", bytes,
                                               max_safetensors_header_bytes));
  if (bytes > file->size() - length_bytes)
    return make_file_failure(
        path, fmt::format("a header of {} bytes in a file of {}", bytes, file->size()));
  const auto head = file->beginning(bytes + length_bytes);
  if (!head) return head.error();
  auto tensors = parse_safetensors(std::string_view(*head).substr(length_bytes),
                                   file->size() - length_bytes - bytes);
  if (!tensors) return make_file_failure(path, tensors.error().message);
  return tensors;
}

Expected<SafetensorsIndex> parse_safetensors_index(std::string text) {
  const auto tree = parse_json(text);
  if (!tree) return tree.error();
  const auto* map = tree->find("weight_map");
  if (map == nullptr || map->members() == nullptr)
    return make_failure("expected an object \"weight_map\"");
  SafetensorsIndex index;
  if (const auto* metadata = tree->find("metadata"))
    if (const auto* total = metadata->find("total_size")) index.total_bytes = total->integer();
  const json::Object& files = *map->members();
  for (std::size_t i = 0; i < files.keys.size(); ++i) {
    const std::string& name = files.keys[i];
    const json::Value& file = files.values[i];
    if (file.text() == nullptr || file.text()->empty() ||
        file.text()->find_first_of(path_separators) != std::string::npos)
      return tensor_error(name, "expected the name of a file in the same folder");
    if (!index.tensors.emplace(name, *file.text()).second)
      return tensor_error(name, "is there twice");
    index.files.push_back(*file.text());
  }
  std::sort(index.files.begin(), index.files.end());
  index.files.erase(std::unique(index.files.begin(), index.files.end()), index.files.end());
  if (index.files.size() > max_files)
    return make_failure(
        fmt::format("{} files: expected at most {}", index.files.size(), max_files));
  return index;
}

std::uint64_t Weights::total() const {
  std::uint64_t sum = outside;
  for (const auto layer : layers) sum = saturating_sum(sum, layer);
  return sum;
}

std::optional<std::uint64_t> parse_layer_number(std::string_view name) noexcept {
  if (is_multimodal(name)) return std::nullopt;
  std::string_view before;
  while (!name.empty()) {
    const auto word = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), word.size() + 1));
    if (precedes_layer_number(before))
      if (const auto number = parse_number(word)) return number;
    before = word;
  }
  return std::nullopt;
}

Weights sum_weights(const std::vector<Tensor>& tensors, std::size_t layers) {
  Weights weights;
  weights.layers.resize(layers != 0 ? layers : count_layers(tensors));
  weights.experts.resize(weights.layers.size());
  std::uint64_t input = 0;
  bool has_output = false;
  for (const auto& tensor : tensors) {
    weights.parameters = saturating_sum(weights.parameters, tensor.elements);
    const auto layer = parse_layer_number(tensor.name);
    if (layer && *layer < weights.layers.size()) {
      const auto i = static_cast<std::size_t>(*layer);
      add_bytes(weights.layers[i], tensor.bytes);
      if (is_expert(tensor.name)) add_bytes(weights.experts[i], tensor.bytes);
      weights.largest = std::max(weights.largest, tensor.bytes);
      continue;
    }
    add_bytes(weights.outside, tensor.bytes);
    if (is_embedding(tensor.name)) add_bytes(weights.embeddings, tensor.bytes);
    if (tensor.name == "token_embd.weight") input = tensor.bytes;
    if (tensor.name == "output.weight") has_output = true;
  }
  if (!has_output) weights.output_copy = input;
  return weights;
}

Weights scale_weights(const Weights& weights, std::uint64_t total) {
  Weights scaled = weights;
  const auto sum = static_cast<double>(weights.total());
  std::uint64_t left = total;
  for (auto& layer : scaled.layers) {
    const auto share = sum == 0 ? 0 : static_cast<double>(layer) / sum;
    layer = std::min(left, static_cast<std::uint64_t>(share * static_cast<double>(total)));
    left -= layer;
  }
  scaled.outside = left;
  return scaled;
}

}  // namespace hmn::cli::fit
