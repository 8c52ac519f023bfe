// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What became of one start, in words.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>

#include "backends/command_tool/description.hpp"
#include "model/compose.hpp"
#include "platform/subprocess.hpp"

namespace hmn::command_tool {

// What a tool says beside its answer or instead of it.
struct sentence {
  enum class about { tool, field, device, nothing, warning };

  std::string_view part;  // of the line, by which it is known: the rest changed between versions
  about what = about::tool;
  status code = status::backend;
  std::string_view advice;  // what can be done
};

// The first that fits; null when the line is none of them.
const sentence* find_sentence(std::span<const sentence> known, std::string_view line) noexcept;

// HMN_NATIVE_EXIT
native_code exit_of(const platform::outcome& o) noexcept;

class verdict {
 public:
  verdict(const description& d, const platform::outcome& o) : d_(d), o_(o) {}

  // None when the program ran, and has said something or nothing.
  [[nodiscard]] std::optional<failure> why_not_run(std::string_view path) const;
  [[nodiscard]] failure of_sentence(const sentence& s, std::string_view line) const;
  // "<name> <what> and exited with 7: <said>"
  [[nodiscard]] failure of_exit(std::string_view what, std::string_view said = {}) const;

 private:
  const description& d_;
  const platform::outcome& o_;
};

}  // namespace hmn::command_tool
