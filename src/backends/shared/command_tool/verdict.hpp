// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Outcome of one run, in words: of the whole, and of fields that it left out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "backends/shared/command_tool/description.hpp"
#include "model/compose.hpp"
#include "platform/subprocess.hpp"

namespace hmn::command_tool {

// Message that a tool prints next to its output or instead of it.
struct sentence {
  enum class about { tool, field, device, nothing, warning };

  std::string_view part;  // of the line, which identifies it: the rest differs between versions
  about what = about::tool;
  status code = status::backend;
  const char* advice;  // to the user
};

// Returns the first match; null if the line is no known sentence.
const sentence* find_sentence(std::span<const sentence> known, std::string_view line) noexcept;

// HMN_NATIVE_EXIT
native_code exit_of(const platform::outcome& o) noexcept;

// Fields without a value, similar ones grouped.
struct missing {
  std::uint32_t fields = 0;
  status code = status::unsupported;
  message_text message;
  reason stated = reason::unknown;
};

void add_missing(std::vector<missing>& to, std::uint32_t fields, status code,
                 const message_text& message, reason stated = reason::unknown);

class verdict {
 public:
  verdict(const description& d, const platform::outcome& o) : d_(d), o_(o) {}

  // Returns nothing if the program ran, with or without output.
  [[nodiscard]] std::optional<failure> why_not_run(std::string_view path) const;
  [[nodiscard]] failure of_sentence(const sentence& s, std::string_view line) const;
  // Formats "<name> <what> and exited with 7: <said>".
  [[nodiscard]] failure of_exit(std::string_view what, std::string_view said = {}) const;

 private:
  const description& d_;
  const platform::outcome& o_;
};

}  // namespace hmn::command_tool
