// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/sample.hpp"

namespace hmn::cli {

label_set& label_set::add(std::string_view name, std::string_view value) {
  if (value.empty()) return *this;
  if (!text_.empty()) text_ += ',';
  text_.append(name).append("=\"");
  for (const char c : value) {
    if (c == '\\' || c == '"') text_ += '\\';
    if (c == '\n')
      text_ += "\\n";
    else
      text_ += c;
  }
  text_ += '"';
  return *this;
}

label_set& label_set::append(const label_set& more) {
  if (!text_.empty() && !more.text_.empty()) text_ += ',';
  text_ += more.text_;
  return *this;
}

}  // namespace hmn::cli
