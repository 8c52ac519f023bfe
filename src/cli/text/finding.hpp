// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <hypomnesis.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "cli/text/json.hpp"
#include "cli/text/terminal.hpp"

namespace hmn::cli {

enum class severity { fine, note, trouble };

// Result of an inspection, with advice if any.
struct finding {
  severity how = severity::fine;
  std::string text;
  std::string advice;
};

finding fine(std::string text);
finding note(std::string text);
finding trouble(std::string text, std::string advice = {});

// Returns whether another source has answered in its place.
bool is_needless(const hypomnesis::backend_info& of) noexcept;
// Takes in `needed` whether there is a GPU that this source should know.
finding inspect_backend(std::string_view name, const hypomnesis::backend_info& of, bool needed);

struct section {
  std::string title;
  std::vector<finding> findings;
};

std::vector<json_object> to_json(const std::vector<section>& report);
std::string render(const std::vector<section>& report, const style& as);

}  // namespace hmn::cli
