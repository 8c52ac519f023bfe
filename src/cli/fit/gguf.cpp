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
    const auto from = take_bytes(sizeof(T));
    if (!ended_) std::memcpy(&value, from.data(), sizeof(T));
    return value;
  }
  std::string_view take_bytes(std::uint64_t count) {
    if (count > bytes_.size() - at_) ended_ = true;
    if (ended_) return {};
    const auto part = bytes_.substr(at_, static_cast<std::size_t>(count));
    at_ += part.size();
    return part;
  }
  std::string_view take_text() { return take_bytes(take<std::uint64_t>()); }
  std::uint64_t position() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }
  bool ended() const { return ended_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

constexpr std::uint64_t most_keys = 1u << 16;
constexpr std::uint64_t most_tensors = 1u << 20;
constexpr std::uint64_t longest_key = 65535;  // of the format
constexpr std::uint64_t longest_name = 1024;  // of a tensor; 64 by the format
constexpr std::uint64_t most_dimensions = 8;  // ggml itself takes 4
constexpr std::uint64_t longest_kept_text = 4096;
constexpr std::uint64_t longest_kept_list = 16384;
constexpr std::uint64_t most_kept_numbers = 1u << 20;  // of all lists
constexpr std::uint32_t default_alignment = 32;

enum type : std::uint32_t {
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

bool is_scalar(std::uint32_t of) {
  return of < sizes.size() && sizes[of] != 0;
}

std::uint64_t whole_from(double value) {
  return value >= 0 && value < 1e18 ? static_cast<std::uint64_t>(value) : too_much;
}

template <class T>
std::uint64_t unsigned_of(GgufCursor& in) {
  const auto value = in.take<T>();
  return value < 0 ? too_much : static_cast<std::uint64_t>(value);
}

// Reads an integer; a negative one becomes too large for any use.
std::uint64_t take_whole(GgufCursor& in, std::uint32_t of) {
  switch (of) {
    case uint8:
    case boolean:
      return in.take<std::uint8_t>();
    case int8:
      return unsigned_of<std::int8_t>(in);
    case uint16:
      return in.take<std::uint16_t>();
    case int16:
      return unsigned_of<std::int16_t>(in);
    case uint32:
      return in.take<std::uint32_t>();
    case int32:
      return unsigned_of<std::int32_t>(in);
    case uint64:
      return in.take<std::uint64_t>();
    case int64:
      return unsigned_of<std::int64_t>(in);
    case float32:
      return whole_from(static_cast<double>(in.take<float>()));
    default:
      return whole_from(in.take<double>());
  }
}

Gguf::Value take_scalar(GgufCursor& in, std::uint32_t of) {
  if (of == float32) return static_cast<double>(in.take<float>());
  if (of == float64) return in.take<double>();
  return take_whole(in, of);
}

class Parser {
 public:
  Parser(std::string_view head, std::uint64_t file_bytes)
      : in_(head), file_bytes_(file_bytes), complete_(head.size() >= file_bytes) {}

  Expected<Gguf> parse();
  bool needs_more() const { return in_.ended() && !complete_; }

 private:
  bool refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
    return false;
  }
  // Refuses a truncated header once the data has ended.
  bool here() {
    if (!in_.ended()) return true;
    return refuse(fmt::format("ends in its header, after {} bytes", file_bytes_));
  }
  bool in_file(const char* what, std::uint64_t bytes) {
    if (bytes <= file_bytes_) return true;
    return refuse(fmt::format("{} of {} bytes in a file of {}", what, bytes, file_bytes_));
  }

  bool header();
  bool entry();
  bool list(const std::string& key);
  bool skip_texts(std::uint64_t count);
  bool tensor_row(std::uint64_t alignment);
  bool dimensions(std::string_view name, std::uint64_t& elements, std::uint64_t& first);
  bool fits(std::uint64_t data_begins);

  GgufCursor in_;
  std::uint64_t file_bytes_;
  bool complete_;
  std::uint64_t tensors_ = 0;
  std::uint64_t keys_ = 0;
  std::uint64_t data_bytes_ = 0;    // up to the last tensor's end
  std::uint64_t tensor_bytes_ = 0;  // of all
  std::uint64_t kept_numbers_ = 0;
  std::unordered_set<std::string> names_;
  Gguf out_;
  std::string wrong_;
};

bool Parser::header() {
  const auto magic = in_.take_bytes(4);
  if (magic != "GGUF") return refuse("is no GGUF file: expected \"GGUF\" as its first four bytes");
  out_.version = in_.take<std::uint32_t>();
  if (!here()) return false;
  if (out_.version == 0x02000000 || out_.version == 0x03000000)
    return refuse("is a big-endian GGUF file: expected a little-endian one");
  if (out_.version != 2 && out_.version != 3)
    return refuse(fmt::format("GGUF version {}: expected 2 or 3", out_.version));
  tensors_ = in_.take<std::uint64_t>();
  keys_ = in_.take<std::uint64_t>();
  if (!here()) return false;
  if (tensors_ > most_tensors)
    return refuse(fmt::format("{} tensors: expected at most {}", tensors_, most_tensors));
  if (keys_ > most_keys)
    return refuse(fmt::format("{} keys: expected at most {}", keys_, most_keys));
  return true;
}

bool Parser::skip_texts(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = in_.take<std::uint64_t>();
    if (!in_file("a text", length)) return false;
    in_.take_bytes(length);
    if (!here()) return false;
  }
  return true;
}

bool Parser::list(const std::string& key) {
  const auto of = in_.take<std::uint32_t>();
  const auto count = in_.take<std::uint64_t>();
  if (!here()) return false;
  if (of == text) {
    if (!in_file("a list", times(count, 8))) return false;
    out_.metadata.emplace_back(key, std::monostate());
    return skip_texts(count);
  }
  if (!is_scalar(of))
    return refuse(
        fmt::format("key \"{}\": a list of type {}: expected 0 to 8 or 10 to 12", key, of));
  const auto bytes = times(count, sizes[of]);
  if (!in_file("a list", bytes)) return false;
  const bool kept = count <= longest_kept_list && count <= most_kept_numbers - kept_numbers_;
  if (!kept || of == float32 || of == float64) {
    out_.metadata.emplace_back(key, std::monostate());
    in_.take_bytes(bytes);
    return here();
  }
  kept_numbers_ += count;
  Gguf::Numbers values;
  for (std::uint64_t i = 0; i < count && !in_.ended(); ++i) values.push_back(take_whole(in_, of));
  out_.metadata.emplace_back(key, std::move(values));
  return here();
}

bool Parser::entry() {
  const auto length = in_.take<std::uint64_t>();
  if (!here()) return false;
  if (length > longest_key)
    return refuse(fmt::format("a key of {} bytes: expected at most {}", length, longest_key));
  const std::string key(in_.take_bytes(length));
  const auto of = in_.take<std::uint32_t>();
  if (!here()) return false;
  if (!names_.insert(key).second) return refuse(fmt::format("key \"{}\" is there twice", key));
  if (of == array) return list(key);
  if (of == text) {
    const auto bytes = in_.take<std::uint64_t>();
    if (!in_file("a text", bytes)) return false;
    const auto value = in_.take_bytes(bytes);
    if (bytes <= longest_kept_text)
      out_.metadata.emplace_back(key, std::string(value));
    else
      out_.metadata.emplace_back(key, std::monostate());
    return here();
  }
  if (!is_scalar(of)) return refuse(fmt::format("key \"{}\": type {}: expected 0 to 12", key, of));
  out_.metadata.emplace_back(key, take_scalar(in_, of));
  return here();
}

bool Parser::dimensions(std::string_view name, std::uint64_t& elements, std::uint64_t& first) {
  const auto count = in_.take<std::uint32_t>();
  if (!here()) return false;
  if (count > most_dimensions)
    return refuse(fmt::format("tensor \"{}\": {} dimensions: expected at most {}", name, count,
                              most_dimensions));
  elements = first = 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto size = in_.take<std::uint64_t>();
    if (i == 0) first = size;
    elements = times(elements, size);
  }
  return here();
}

bool Parser::tensor_row(std::uint64_t alignment) {
  const auto length = in_.take<std::uint64_t>();
  if (!here()) return false;
  if (length > longest_name)
    return refuse(
        fmt::format("a tensor's name of {} bytes: expected at most {}", length, longest_name));
  const std::string name(in_.take_bytes(length));
  std::uint64_t elements = 0;
  std::uint64_t first = 0;
  if (!here() || !dimensions(name, elements, first)) return false;
  const auto number = in_.take<std::uint32_t>();
  const auto offset = in_.take<std::uint64_t>();
  if (!here()) return false;
  const auto* kind = find_ggml_type(number);
  if (kind == nullptr)
    return refuse(fmt::format("tensor \"{}\": type {}: expected a type of ggml", name, number));
  if (first % kind->block_elements != 0)
    return refuse(fmt::format("tensor \"{}\": rows of {}: expected a multiple of {} for {}", name,
                              first, kind->block_elements, kind->name));
  const auto bytes = times(elements / kind->block_elements, kind->block_bytes);
  const auto end = plus(offset, bytes);
  if (elements == too_much || bytes > file_bytes_ || end > file_bytes_)
    return refuse(
        fmt::format("tensor \"{}\": ends at byte {} of the weights: expected at most the "
                    "file's {}",
                    name, end, file_bytes_));
  if (offset % alignment != 0)
    return refuse(fmt::format("tensor \"{}\": offset {}: expected a multiple of {}", name, offset,
                              alignment));
  data_bytes_ = std::max(data_bytes_, end);
  tensor_bytes_ = plus(tensor_bytes_, bytes);
  out_.tensors.push_back({name, elements, bytes});
  return true;
}

bool Parser::fits(std::uint64_t data_begins) {
  if (out_.tensors.empty()) return true;
  const auto needed = plus(data_begins, data_bytes_);
  if (needed > file_bytes_)
    return refuse(fmt::format("is cut short: {} bytes, expected {}", file_bytes_, needed));
  if (tensor_bytes_ > file_bytes_ - data_begins) return refuse("its tensors overlap");
  return true;
}

Expected<Gguf> Parser::parse() {
  bool good = header();
  for (std::uint64_t i = 0; good && i < keys_; ++i) good = entry();
  const auto alignment = out_.whole("general.alignment").value_or(default_alignment);
  if (good && (alignment == 0 || alignment > (1u << 20) || (alignment & (alignment - 1)) != 0))
    good = refuse(fmt::format("general.alignment {}: expected a power of two", alignment));
  for (std::uint64_t i = 0; good && i < tensors_; ++i) good = tensor_row(alignment);
  if (good) good = fits(divided_up(in_.position(), alignment) * alignment);
  if (!good) return failed(wrong_);
  return std::move(out_);
}

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t number) noexcept {
  for (const auto& each : types)
    if (each.number == number) return &each;
  return nullptr;
}

const Gguf::Value* Gguf::find(std::string_view key) const {
  for (const auto& [name, found] : metadata)
    if (name == key) return &found;
  return nullptr;
}

std::optional<std::uint64_t> Gguf::whole(std::string_view key) const {
  const auto* found = std::get_if<std::uint64_t>(find(key));
  return found != nullptr ? std::optional(*found) : std::nullopt;
}

const std::string* Gguf::text(std::string_view key) const {
  return std::get_if<std::string>(find(key));
}

Expected<Gguf> parse_gguf(std::string_view head, std::uint64_t file_bytes, bool& needs_more) {
  Parser of(head, file_bytes);
  auto parsed = of.parse();
  needs_more = of.needs_more();
  return parsed;
}

Expected<Gguf> read_gguf(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return file.why();
  for (std::uint64_t window = 1u << 20;; window *= 4) {
    const auto head = file->beginning(window);
    if (!head) return head.why();
    bool needs_more = false;
    auto parsed = parse_gguf(*head, file->size(), needs_more);
    if (needs_more && window < most_gguf_header_bytes) continue;
    if (parsed) return parsed;
    if (needs_more)
      return failed(fmt::format("\"{}\": a header of more than {} bytes", path, window));
    return failed_at(path, parsed.why().message);
  }
}

}  // namespace hmn::cli::fit
