// SPDX-License-Identifier: MIT OR Apache-2.0
//
// CoreFoundation's objects, with their references counted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "backends/metal/frameworks.hpp"

namespace hmn_fake {

enum class Kind : unsigned long { text = 1, number, dictionary, array, data, other };

struct Object {
  Kind kind = Kind::other;
  int references = 1;
  std::string text;  // bytes, if data
  std::int64_t number = 0;
  std::vector<std::pair<std::string, Object*>> members;  // each held
  std::vector<Object*> items;                            // likewise
  std::size_t index = 0;                                 // of the object it represents
};

Object* make(Kind kind);
Object* make_text(std::string text);
Object* make_number(std::int64_t number);
Object* make_data(std::string bytes);
void set(Object* dictionary, const std::string& key, Object* value);  // takes the reference
void release(Object* object);
Object* as_object(hmn::metal::Cf value);
int live_objects();

hmn::metal::CoreFoundation core_calls();

}  // namespace hmn_fake
