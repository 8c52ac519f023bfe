// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/expected.hpp"
#include "cli/fit/architecture.hpp"
#include "cli/fit/weights.hpp"

namespace hmn::cli::fit {

// Type of a tensor's elements, stored in blocks.
struct GgmlType {
  std::uint32_t number;
  std::string_view name;
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
};
const GgmlType* find_ggml_type(std::uint32_t number) noexcept;

// Header of a GGUF file, versions 2 and 3.
struct Gguf {
  using Numbers = std::vector<std::uint64_t>;  // integers or booleans
  // Long lists and texts, and lists of texts or fractions, are keys without a value.
  using Value = std::variant<std::monostate, std::uint64_t, double, std::string, Numbers>;

  std::uint32_t version = 0;
  std::vector<std::pair<std::string, Value>> metadata;
  std::vector<Tensor> tensors;

  const Value* find(std::string_view key) const;
  std::optional<std::uint64_t> whole(std::string_view key) const;
  const std::string* text(std::string_view key) const;
};

constexpr std::uint64_t max_gguf_header_bytes = 256u << 20;

// Parses the first bytes of a file of `file_bytes`. Sets `needs_more` if the header is longer.
Expected<Gguf> parse_gguf(std::string_view head, std::uint64_t file_bytes, bool& needs_more);
// Reads a file's header; messages name the file.
Expected<Gguf> read_gguf(const std::string& path);

// Reads the architecture from the keys of a GGUF file, by the allocations of llama.cpp. Each key of
// its name that may change them is used, known to change nothing, or named in the notes.
Expected<Architecture> read_architecture(const Gguf& file);

}  // namespace hmn::cli::fit
