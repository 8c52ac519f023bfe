// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "cli/text/terminal.hpp"

namespace hmn::cli {

enum class verdict { fine, note, trouble };

// One thing that was looked at; what to do about it, if anything.
struct finding {
  verdict how = verdict::fine;
  std::string text;
  std::string advice;
};

struct section {
  std::string title;
  std::vector<finding> findings;
};

std::string render(const std::vector<section>& report, const style& as);

}  // namespace hmn::cli
