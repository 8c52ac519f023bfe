// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Appends JSON to a text: no spaces, no document in between.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hmn {

class json_writer {
 public:
  explicit json_writer(std::string& out) : out_(out) {}

  void open(char bracket) {
    separate();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }

  // Keys are literals that need no escape.
  void key(std::string_view name) {
    out_.append(first_ ? "\"" : ",\"", first_ ? 1 : 2);
    out_.append(name);
    out_.append("\":", 2);
    first_ = true;
  }

  void null() { raw("null"); }
  void truth(bool b) { raw(b ? "true" : "false"); }
  // A literal that needs no escape.
  void word(std::string_view literal) {
    separate();
    out_ += '"';
    out_.append(literal);
    out_ += '"';
  }
  void text(std::string_view bytes);

  void number(std::integral auto n) { digits(n); }
  // The shortest text that reads back as the same double.
  void number(double n) {
    if (std::isfinite(n)) {
      digits(n);
    } else {
      null();
    }
  }

  template <class T>
  void member(std::string_view name, T n) {
    key(name);
    number(n);
  }
  template <class T>
  void member(std::string_view name, const std::optional<T>& n) {
    key(name);
    if (n) {
      number(*n);
    } else {
      null();
    }
  }
  void word_member(std::string_view name, std::string_view literal) {
    key(name);
    word(literal);
  }
  // Null when empty.
  void text_member(std::string_view name, std::string_view bytes) {
    key(name);
    if (bytes.empty()) {
      null();
    } else {
      text(bytes);
    }
  }

 private:
  void separate() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  void raw(std::string_view literal) {
    separate();
    out_.append(literal);
  }
  template <class T>
  void digits(T n) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, n);
    separate();
    out_.append(buffer, end.ptr);
  }

  std::string& out_;
  bool first_ = true;  // no comma before what comes next
};

}  // namespace hmn
