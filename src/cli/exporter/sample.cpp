// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/sample.hpp"

#include <algorithm>

#include "cli/text/utf8.hpp"

namespace hmn::cli {
namespace {

bool is_plain(char c) noexcept {
  return c != '\\' && c != '"' && c != '\n' && static_cast<unsigned char>(c) < 0x80;
}

// One byte that is no UTF-8, in the name of a user or of the host, makes Prometheus refuse the
// whole scrape: it is replaced.
void append_escaped(std::string& out, std::string_view value) {
  while (!value.empty()) {
    const auto end = std::find_if_not(value.begin(), value.end(), is_plain);
    out.append(value.begin(), end);
    value.remove_prefix(static_cast<std::size_t>(end - value.begin()));
    if (value.empty()) return;
    const auto point = first_code_point(value);
    if (point.value < 0x80) out += '\\';
    append_utf8(out, point.value == '\n' ? U'n' : point.value);
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
