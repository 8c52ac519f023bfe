// SPDX-License-Identifier: MIT OR Apache-2.0
#include "objects.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace hmn_fake {
namespace {

namespace metal = hmn::metal;
using metal::cf;
int alive = 0;

template <kind K>
metal::cf_type type() {
  return static_cast<metal::cf_type>(K);
}

metal::cf_boolean copy_string(cf value, char* out, metal::cf_index size, std::uint32_t encoding) {
  const std::string& text = as_object(value)->text;
  if (encoding != metal::utf8 || static_cast<metal::cf_index>(text.size()) >= size) return 0;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 1;
}

metal::cf_boolean number_value(cf value, metal::cf_index as, void* out) {
  if (as != metal::signed_64) return 0;
  std::memcpy(out, &as_object(value)->number, sizeof(std::int64_t));
  return 1;
}

cf make_signed_32(cf, metal::cf_index as, const void* value) {
  std::int32_t n = 0;
  std::memcpy(&n, value, sizeof n);
  return as == metal::signed_32 ? hmn_fake::make_number(n) : nullptr;
}

cf find(cf dictionary, cf key) {
  for (const auto& [name, value] : as_object(dictionary)->members) {
    if (name == as_object(key)->text) return value;
  }
  return nullptr;
}

cf make_dictionary(cf, const cf* keys, const cf* values, metal::cf_index count,
                   const void* key_calls, const void* value_calls) {
  if (key_calls == nullptr || value_calls == nullptr) return nullptr;
  object* const o = make(kind::dictionary);
  for (metal::cf_index i = 0; i < count; ++i) {
    ++as_object(values[i])->references;
    set(o, as_object(keys[i])->text, as_object(values[i]));
  }
  return o;
}

}  // namespace

object* as_object(cf value) {
  return const_cast<object*>(static_cast<const object*>(value));
}

object* make(kind what) {
  ++alive;
  auto* const o = std::make_unique<object>().release();
  o->what = what;
  return o;
}

object* make_text(std::string text) {
  object* const o = make(kind::text);
  o->text = std::move(text);
  return o;
}

object* make_number(std::int64_t number) {
  object* const o = make(kind::number);
  o->number = number;
  return o;
}

object* make_data(std::string bytes) {
  object* const o = make_text(std::move(bytes));
  o->what = kind::data;
  return o;
}

void set(object* dictionary, const std::string& key, object* value) {
  dictionary->members.emplace_back(key, value);
}

// As CFRelease does, it ends a program that gives back nothing.
void release(object* o) {
  if (o == nullptr || o->references <= 0) std::abort();
  if (--o->references > 0) return;
  for (const auto& [key, value] : o->members) release(value);
  for (object* each : o->items) release(each);
  const std::unique_ptr<object> freed(o);
  --alive;
}

int live_objects() {
  return alive;
}

metal::core_foundation core_calls() {
  static const int marker = 0;
  return {
      .release = [](cf value) { release(as_object(value)); },
      .type_of = [](cf value) { return static_cast<metal::cf_type>(as_object(value)->what); },
      .string_type = type<kind::text>,
      .number_type = type<kind::number>,
      .dictionary_type = type<kind::dictionary>,
      .array_type = type<kind::array>,
      .data_type = type<kind::data>,
      .make_string = [](cf, const char* text, std::uint32_t) -> cf { return make_text(text); },
      .copy_string = copy_string,
      .make_number = make_signed_32,
      .number_value = number_value,
      .find = find,
      .make_dictionary = make_dictionary,
      .count =
          [](cf array) { return static_cast<metal::cf_index>(as_object(array)->items.size()); },
      .at = [](cf array, metal::cf_index i) -> cf {
        return as_object(array)->items.at(static_cast<std::size_t>(i));
      },
      .data_length =
          [](cf data) { return static_cast<metal::cf_index>(as_object(data)->text.size()); },
      .data_bytes =
          [](cf data) {
            return reinterpret_cast<const std::uint8_t*>(as_object(data)->text.data());
          },
      .key_calls = &marker,
      .value_calls = &marker,
  };
}

}  // namespace hmn_fake
