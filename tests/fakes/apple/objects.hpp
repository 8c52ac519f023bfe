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

enum class kind : unsigned long { text = 1, number, dictionary, array, data, other };

struct object {
  kind what = kind::other;
  int references = 1;
  std::string text;  // of data its bytes
  std::int64_t number = 0;
  std::vector<std::pair<std::string, object*>> members;  // each held
  std::vector<object*> items;                            // likewise
  std::size_t index = 0;                                 // of what it stands for
};

object* make(kind what);
object* make_text(std::string text);
object* make_number(std::int64_t number);
object* make_data(std::string bytes);
void set(object* dictionary, const std::string& key, object* value);  // takes the reference
void release(object* o);
object* as_object(hmn::metal::cf value);
int live_objects();

hmn::metal::core_foundation core_calls();

}  // namespace hmn_fake
