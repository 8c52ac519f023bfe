// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/fit/gguf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_set>

#include "cli/system/file.hpp"

namespace hmn::cli::fit {
namespace {

// Types of enum ggml_type in ggml.h; block sizes from ggml-common.h.
constexpr GgmlType types[] = {
    {0, "F32", 1, 4},
    {1, "F16", 1, 2},
    {2, "Q4_0", 32, 18},
    {3, "Q4_1", 32, 20},
    {6, "Q5_0", 32, 22},
    {7, "Q5_1", 32, 24},
    {8, "Q8_0", 32, 34},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144},
    {13, "Q5_K", 256, 176},
    {14, "Q6_K", 256, 210},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4},
    {27, "I64", 1, 8},
    {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2},
    {31, "Q4_0_4_4", 32, 18},  // written from July 2024 to January 2025, as are the next two
    {32, "Q4_0_4_8", 32, 18},
    {33, "Q4_0_8_8", 32, 18},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
    {41, "Q1_0", 128, 18},
};

// Reader of consecutive little-endian values; after the end of the data every value is zero.
class GgufCursor {
 public:
  explicit GgufCursor(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  T take() {
    T value{};
    const auto bytes = take_bytes(sizeof(T));
    if (!has_ended_) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }
  std::string_view take_bytes(std::uint64_t count) {
    if (count > bytes_.size() - position_) has_ended_ = true;
    if (has_ended_) return {};
    const auto part = bytes_.substr(position_, static_cast<std::size_t>(count));
    position_ += part.size();
    return part;
  }
  std::string_view take_text() { return take_bytes(take<std::uint64_t>()); }
  std::uint64_t position() const { return position_; }
  std::uint64_t left() const { return bytes_.size() - position_; }
  bool has_ended() const { return has_ended_; }

 private:
  std::string_view bytes_;
  std::size_t position_ = 0;
  bool has_ended_ = false;
};

constexpr std::uint64_t max_keys = 1u << 16;
constexpr std::uint64_t max_file_tensors = 1u << 20;
constexpr std::uint64_t longest_key = 65535;  // of the format
constexpr std::uint64_t longest_name = 1024;  // of a tensor; 64 by the format
constexpr std::uint64_t max_dimensions = 8;   // ggml itself accepts 4
constexpr std::uint64_t longest_kept_text = 4096;
constexpr std::uint64_t longest_kept_list = 16384;
constexpr std::uint64_t max_kept_numbers = 1u << 20;  // of all lists
constexpr std::uint32_t default_alignment = 32;

enum ValueType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  text,
  array,
  uint64,
  int64,
  float64
};
constexpr std::array<std::uint8_t, 13> sizes = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

bool is_scalar(std::uint32_t type) {
  return type < sizes.size() && sizes[type] != 0;
}

std::uint64_t convert_to_whole(double value) {
  return value >= 0 && value < 1e18 ? static_cast<std::uint64_t>(value) : saturated_size;
}

template <class T>
std::uint64_t take_non_negative(GgufCursor& cursor) {
  const auto value = cursor.take<T>();
  return value < 0 ? saturated_size : static_cast<std::uint64_t>(value);
}

// Reads an integer; a negative one becomes too large for any use.
std::uint64_t take_whole(GgufCursor& cursor, std::uint32_t type) {
  switch (type) {
    case uint8:
    case boolean:
      return cursor.take<std::uint8_t>();
    case int8:
      return take_non_negative<std::int8_t>(cursor);
    case uint16:
      return cursor.take<std::uint16_t>();
    case int16:
      return take_non_negative<std::int16_t>(cursor);
    case uint32:
      return cursor.take<std::uint32_t>();
    case int32:
      return take_non_negative<std::int32_t>(cursor);
    case uint64:
      return cursor.take<std::uint64_t>();
    case int64:
      return take_non_negative<std::int64_t>(cursor);
    case float32:
      return convert_to_whole(static_cast<double>(cursor.take<float>()));
    default:
      return convert_to_whole(cursor.take<double>());
  }
}

Gguf::Value take_scalar(GgufCursor& cursor, std::uint32_t type) {
  if (type == float32) return static_cast<double>(cursor.take<float>());
  if (type == float64) return cursor.take<double>();
  return take_whole(cursor, type);
}

class Parser {
 public:
  Parser(std::string_view head, std::uint64_t file_bytes)
      : cursor_(head), file_bytes_(file_bytes), is_complete_(head.size() >= file_bytes) {}

  Expected<Gguf> parse();
  bool needs_more() const { return cursor_.has_ended() && !is_complete_; }

 private:
  bool refuse(std::string reason) {
    if (error_.empty()) error_ = std::move(reason);
    return false;
  }
  // Refuses a truncated header once the data has ended.
  bool check_not_ended() {
    if (!cursor_.has_ended()) return true;
    return refuse(fmt::format("ends in its header, after {} bytes", file_bytes_));
  }
  bool check_size(const char* subject, std::uint64_t bytes) {
    if (bytes <= file_bytes_) return true;
    return refuse(fmt::format("{} of {} bytes in a file of {}", subject, bytes, file_bytes_));
  }

  bool parse_header();
  bool parse_entry();
  bool parse_list(const std::string& key);
  bool skip_texts(std::uint64_t count);
  bool parse_tensor_row(std::uint64_t alignment);
  bool parse_dimensions(std::string_view name, std::uint64_t& elements, std::uint64_t& row_size);
  bool check_tensor_data(std::uint64_t data_start);

  GgufCursor cursor_;
  std::uint64_t file_bytes_;
  bool is_complete_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
  std::uint64_t data_bytes_ = 0;    // up to the last tensor's end
  std::uint64_t tensor_bytes_ = 0;  // of all
  std::uint64_t kept_numbers_ = 0;
  std::unordered_set<std::string> key_names_;
  Gguf result_;
  std::string error_;
};

bool Parser::parse_header() {
  const auto magic = cursor_.take_bytes(4);
  if (magic != "GGUF")
    return refuse("is not a GGUF file: expected \"GGUF\" as its first four bytes");
  result_.version = cursor_.take<std::uint32_t>();
  if (!check_not_ended()) return false;
  if (result_.version == 0x02000000 || result_.version == 0x03000000)
    return refuse("is a big-endian GGUF file: expected a little-endian one");
  if (result_.version != 2 && result_.version != 3)
    return refuse(fmt::format("GGUF version {}: expected 2 or 3", result_.version));
  tensor_count_ = cursor_.take<std::uint64_t>();
  key_count_ = cursor_.take<std::uint64_t>();
  if (!check_not_ended()) return false;
  if (tensor_count_ > max_file_tensors)
    return refuse(fmt::format("{} tensors: expected at most {}", tensor_count_, max_file_tensors));
  if (key_count_ > max_keys)
    return refuse(fmt::format("{} keys: expected at most {}", key_count_, max_keys));
  return true;
}

bool Parser::skip_texts(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = cursor_.take<std::uint64_t>();
    if (!check_size("a text", length)) return false;
    cursor_.take_bytes(length);
    if (!check_not_ended()) return false;
  }
  return true;
}

bool Parser::parse_list(const std::string& key) {
  const auto type = cursor_.take<std::uint32_t>();
  const auto count = cursor_.take<std::uint64_t>();
  if (!check_not_ended()) return false;
  if (type == text) {
    if (!check_size("a list", saturating_product(count, 8))) return false;
    result_.metadata.emplace_back(key, std::monostate());
    return skip_texts(count);
  }
  if (!is_scalar(type))
    return refuse(
        fmt::format("key \"{}\": a list of type {}: expected 0 to 8 or 10 to 12", key, type));
  const auto bytes = saturating_product(count, sizes[type]);
  if (!check_size("a list", bytes)) return false;
  const bool is_kept = count <= longest_kept_list && count <= max_kept_numbers - kept_numbers_;
  if (!is_kept || type == float32 || type == float64) {
    result_.metadata.emplace_back(key, std::monostate());
    cursor_.take_bytes(bytes);
    return check_not_ended();
  }
  kept_numbers_ += count;
  Gguf::Numbers values;
  for (std::uint64_t i = 0; i < count && !cursor_.has_ended(); ++i)
    values.push_back(take_whole(cursor_, type));
  result_.metadata.emplace_back(key, std::move(values));
  return check_not_ended();
}

bool Parser::parse_entry() {
  const auto length = cursor_.take<std::uint64_t>();
  if (!check_not_ended()) return false;
  if (length > longest_key)
    return refuse(fmt::format("a key of {} bytes: expected at most {}", length, longest_key));
  const std::string key(cursor_.take_bytes(length));
  const auto type = cursor_.take<std::uint32_t>();
  if (!check_not_ended()) return false;
  if (!key_names_.insert(key).second) return refuse(fmt::format("key \"{}\" is there twice", key));
  if (type == array) return parse_list(key);
  if (type == text) {
    const auto bytes = cursor_.take<std::uint64_t>();
    if (!check_size("a text", bytes)) return false;
    const auto value = cursor_.take_bytes(bytes);
    if (bytes <= longest_kept_text)
      result_.metadata.emplace_back(key, std::string(value));
    else
      result_.metadata.emplace_back(key, std::monostate());
    return check_not_ended();
  }
  if (!is_scalar(type))
    return refuse(fmt::format("key \"{}\": type {}: expected 0 to 12", key, type));
  result_.metadata.emplace_back(key, take_scalar(cursor_, type));
  return check_not_ended();
}

bool Parser::parse_dimensions(std::string_view name, std::uint64_t& elements,
                              std::uint64_t& row_size) {
  const auto count = cursor_.take<std::uint32_t>();
  if (!check_not_ended()) return false;
  if (count > max_dimensions)
    return refuse(fmt::format("tensor \"{}\": {} dimensions: expected at most {}", name, count,
                              max_dimensions));
  elements = row_size = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto size = cursor_.take<std::uint64_t>();
    if (i == 0) row_size = size;
    elements = saturating_product(elements, size);
  }
  return check_not_ended();
}

bool Parser::parse_tensor_row(std::uint64_t alignment) {
  const auto length = cursor_.take<std::uint64_t>();
  if (!check_not_ended()) return false;
  if (length > longest_name)
    return refuse(
        fmt::format("a tensor's name of {} bytes: expected at most {}", length, longest_name));
  const std::string name(cursor_.take_bytes(length));
  std::uint64_t elements = 0;
  std::uint64_t row_size = 0;
  if (!check_not_ended() || !parse_dimensions(name, elements, row_size)) return false;
  const auto number = cursor_.take<std::uint32_t>();
  const auto offset = cursor_.take<std::uint64_t>();
  if (!check_not_ended()) return false;
  const auto* kind = find_ggml_type(number);
  if (kind == nullptr)
    return refuse(fmt::format("tensor \"{}\": type {}: expected a type of ggml", name, number));
  if (row_size % kind->block_elements != 0)
    return refuse(fmt::format("tensor \"{}\": rows of {}: expected a multiple of {} for {}", name,
                              row_size, kind->block_elements, kind->name));
  const auto bytes = saturating_product(elements / kind->block_elements, kind->block_bytes);
  const auto end = saturating_sum(offset, bytes);
  if (elements == saturated_size || bytes > file_bytes_ || end > file_bytes_)
    return refuse(
        fmt::format("tensor \"{}\": ends at byte {} of the weights: expected at most the "
                    "file's {}",
                    name, end, file_bytes_));
  if (offset % alignment != 0)
    return refuse(fmt::format("tensor \"{}\": offset {}: expected a multiple of {}", name, offset,
                              alignment));
  data_bytes_ = std::max(data_bytes_, end);
  tensor_bytes_ = saturating_sum(tensor_bytes_, bytes);
  result_.tensors.push_back({name, elements, bytes});
  return true;
}

bool Parser::check_tensor_data(std::uint64_t data_start) {
  if (result_.tensors.empty()) return true;
  const auto required_bytes = saturating_sum(data_start, data_bytes_);
  if (required_bytes > file_bytes_)
    return refuse(fmt::format("is cut short: {} bytes, expected {}", file_bytes_, required_bytes));
  if (tensor_bytes_ > file_bytes_ - data_start) return refuse("its tensors overlap");
  return true;
}

Expected<Gguf> Parser::parse() {
  bool ok = parse_header();
  for (std::uint64_t i = 0; ok && i < key_count_; ++i) ok = parse_entry();
  const auto alignment = result_.whole("general.alignment").value_or(default_alignment);
  if (ok && (alignment == 0 || alignment > (1u << 20) || (alignment & (alignment - 1)) != 0))
    ok = refuse(fmt::format("general.alignment {}: expected a power of two", alignment));
  for (std::uint64_t i = 0; ok && i < tensor_count_; ++i) ok = parse_tensor_row(alignment);
  if (ok) ok = check_tensor_data(divide_rounding_up(cursor_.position(), alignment) * alignment);
  if (!ok) return make_failure(error_);
  return std::move(result_);
}

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t number) noexcept {
  for (const auto& type : types)
    if (type.number == number) return &type;
  return nullptr;
}

const Gguf::Value* Gguf::find(std::string_view key) const {
  for (const auto& [name, entry] : metadata)
    if (name == key) return &entry;
  return nullptr;
}

std::optional<std::uint64_t> Gguf::whole(std::string_view key) const {
  const auto* number = std::get_if<std::uint64_t>(find(key));
  return number != nullptr ? std::optional(*number) : std::nullopt;
}

const std::string* Gguf::text(std::string_view key) const {
  return std::get_if<std::string>(find(key));
}

Expected<Gguf> parse_gguf(std::string_view head, std::uint64_t file_bytes, bool& needs_more) {
  Parser parser(head, file_bytes);
  auto parsed = parser.parse();
  needs_more = parser.needs_more();
  return parsed;
}

Expected<Gguf> read_gguf(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.error();
  for (std::uint64_t limit = 1u << 20;; limit *= 4) {
    const auto head = file->beginning(limit);
    if (!head) return head.error();
    bool needs_more = false;
    auto parsed = parse_gguf(*head, file->size(), needs_more);
    if (needs_more && limit < max_gguf_header_bytes) continue;
    if (parsed) return parsed;
    if (needs_more)
      return make_failure(fmt::format("\"{}\": a header of more than {} bytes", path, limit));
    return make_file_failure(path, parsed.error().message);
  }
}

}  // namespace hmn::cli::fit
