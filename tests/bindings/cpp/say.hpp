// SPDX-License-Identifier: MIT OR Apache-2.0
// Writes values in the format of ../behaviour.py.
#ifndef HMN_TESTS_BINDINGS_SAY_HPP
#define HMN_TESTS_BINDINGS_SAY_HPP
#include <hypomnesis.hpp>
#include <iostream>

#include "records.hpp"

inline void write_value(const std::string& text) {
  std::cout << '"';
  for (const char c : text) {
    if (c == '\t')
      std::cout << "\\t";
    else if (c == '\n')
      std::cout << "\\n";
    else if (c == '\r')
      std::cout << "\\r";
    else if (c == '\\')
      std::cout << "\\\\";
    else
      std::cout << c;
  }
}

template <class T>
void write_value(T value) {
  if constexpr (std::is_enum_v<T>)
    std::cout << hypomnesis::number(value);
  else
    std::cout << value;
}

template <class T>
void write_value(const std::optional<T>& value) {
  if (value)
    write_value(*value);
  else
    std::cout << "null";
}

template <class T>
void write_field(const char* key, const T& value) {
  std::cout << key << '\t';
  write_value(value);
  std::cout << '\n';
}

// Writes a record, one line per field.
template <class Record>
auto write_record(const Record& record)
    -> decltype(each_field(record, [](const char*, const auto&) {})) {
  each_field(record, [](const char* key, const auto& value) { write_field(key, value); });
}

template <class T>
void write_record(const std::optional<T>& value) {
  if (value)
    write_record(*value);
  else
    std::cout << "value\tnull\n";
}

#endif
