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
#include "cli/fit/tensor.hpp"

namespace hmn::cli::fit {

// Header of a GGUF file, versions 2 and 3.
struct gguf {
  using numbers = std::vector<std::uint64_t>;  // integers or booleans
  using value = std::variant<std::uint64_t, double, std::string, numbers>;

  std::uint32_t version = 0;
  std::vector<std::pair<std::string, value>> metadata;  // without long lists and texts
  std::vector<tensor> tensors;

  std::optional<std::uint64_t> whole(std::string_view key) const;
  const std::string* text(std::string_view key) const;
  const numbers* list(std::string_view key) const;
};

constexpr std::uint64_t most_gguf_header_bytes = 256u << 20;

// Parses the first bytes of a file of `file_bytes`. Sets `needs_more` if the header is longer.
expected<gguf> parse_gguf(std::string_view head, std::uint64_t file_bytes, bool& needs_more);
// Reads a file's header; messages name the file.
expected<gguf> read_gguf(const std::string& path);

}  // namespace hmn::cli::fit
