// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/sample.hpp"

#include <algorithm>

#include "cli/text/escape.hpp"
#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

bool is_plain(char c) noexcept {
  return c >= ' ' && c <= '~' && c != '\\' && c != '"';
}

// One byte that is no UTF-8, in the name of a user or of the host, makes Prometheus refuse the
// whole scrape: it is replaced. What a terminal or a browser would act on is written as in text;
// the format has an escape for a line break of its own.
void append_escaped(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const auto end = std::find_if_not(value.begin(), value.end(), is_plain);
    out.append(value.begin(), end);
    value.remove_prefix(static_cast<std::size_t>(end - value.begin()));
    if (value.empty()) return;
    const auto point = first_code_point(value);
    if (point.value == '\n') {
      out += "\\n";
    } else if (is_acted_on(point.value)) {
      out += '\\';
      append_text_escape(out, point.value);
    } else {
      if (point.value < 0x80) out += '\\';
      append_utf8(out, point.value);
    }
    value.remove_prefix(point.length);
  }
}

}  // namespace

label_set& label_set::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  append_escaped(text_, value);
  text_ += '"';
  return *this;
}

label_set& label_set::append(const label_set& more) {
  if (!text_.empty() && !more.text_.empty()) text_ += ',';
  text_ += more.text_;
  return *this;
}

label_set label_set::with(std::string_view name, std::string_view value) const {
  constexpr std::size_t marks = 4;
  label_set more;
  more.text_.reserve(text_.size() + name.size() + value.size() + marks);
  more.text_ = text_;
  more.add(name, value);
  return more;
}

}  // namespace hmn::cli
