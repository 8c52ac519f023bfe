// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/top/page_text.hpp"

#include <algorithm>

#include "cli/text/escape.hpp"
#include "cli/text/width.hpp"

namespace hmn::cli::top {
namespace {

struct page_line {
  std::string label;
  std::string text;
  ink with;
};

std::vector<page_line> lines_of(const std::vector<entry>& all, int width, bool ascii_only) {
  std::vector<page_line> out;
  for (const auto& each : all) {
    const bool is_known = !each.value.empty();
    const auto text =
        is_known ? each.value : "unknown" + (each.reason.empty() ? "" : ": " + each.reason);
    bool is_first = true;
    for (auto& line : wrapped(escape_for_text(text, ascii_only), width)) {
      out.push_back(
          {is_first ? each.label : "", std::move(line), is_known ? ink::plain : ink::faint});
      is_first = false;
    }
  }
  return out;
}

}  // namespace

std::vector<std::string> wrapped(const std::string& text, int width) {
  std::vector<std::string> out;
  std::string_view rest = text;
  const auto columns = static_cast<std::size_t>(std::max(width, 2));
  while (display_width(rest) > columns) {
    auto part = cut_to_width(rest, columns, "");
    const auto blank = part.rfind(' ');
    if (blank != std::string::npos && blank > part.size() / 2) part.resize(blank + 1);
    rest.remove_prefix(part.size());
    out.push_back(std::move(part));
  }
  out.emplace_back(rest);
  return out;
}

void draw_entries(frame& on, area where, const std::vector<entry>& all, text_position& in,
                  int labels) {
  const auto lines = lines_of(all, where.width - labels - 2, on.with().ascii_only);
  const auto height = static_cast<std::size_t>(std::max(where.height, 0));
  in.visible = height;
  in.top = std::min(in.top, lines.size() > height ? lines.size() - height : 0);
  const auto first = in.top;
  int y = where.y;
  for (auto i = first; i < lines.size() && i < first + height; ++i, ++y) {
    on.put(where.x + 1, y, lines[i].label, ink::accent, labels - 1);
    on.put(where.x + 1 + labels, y, lines[i].text, lines[i].with);
  }
  if (first + height < lines.size())
    on.put_right(where.x + where.width - 1, where.y + where.height - 1,
                 on.has_unicode() ? " ↓ more " : " v more ", ink::accent);
}

}  // namespace hmn::cli::top
