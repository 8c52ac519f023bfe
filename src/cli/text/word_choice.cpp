// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/word_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace hmn::cli {

expected<std::size_t> choose_word(std::string_view option, std::string_view text,
                                  std::span<const std::string_view> words) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<std::size_t>(found - words.begin());
  return misused(fmt::format("{} \"{}\": expected {} or {}", option, text,
                             fmt::join(words.first(words.size() - 1), ", "), words.back()));
}

std::optional<failure> refuse_empty(std::string_view option, const std::optional<std::string>& text,
                                    std::string_view wanted) {
  if (!text || !text->empty()) return std::nullopt;
  return misused(fmt::format("{} \"\": expected {}", option, wanted));
}

}  // namespace hmn::cli
