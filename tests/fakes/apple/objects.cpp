// SPDX-License-Identifier: MIT OR Apache-2.0
#include "objects.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace hmn_fake {
namespace {

namespace metal = hmn::metal;
using metal::Cf;
int alive = 0;

template <Kind K>
metal::CfType type() {
  return static_cast<metal::CfType>(K);
}

metal::CfBoolean copy_string(Cf value, char* out, metal::CfIndex size, std::uint32_t encoding) {
  const std::string& text = as_object(value)->text;
  if (encoding != metal::utf8 || static_cast<metal::CfIndex>(text.size()) >= size) return 0;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return 1;
}

metal::CfBoolean number_value(Cf value, metal::CfIndex as, void* out) {
  if (as != metal::signed_64) return 0;
  std::memcpy(out, &as_object(value)->number, sizeof(std::int64_t));
  return 1;
}

Cf make_signed_32(Cf, metal::CfIndex as, const void* value) {
  std::int32_t n = 0;
  std::memcpy(&n, value, sizeof n);
  return as == metal::signed_32 ? hmn_fake::make_number(n) : nullptr;
}

Cf find(Cf dictionary, Cf key) {
  for (const auto& [name, value] : as_object(dictionary)->members) {
    if (name == as_object(key)->text) return value;
  }
  return nullptr;
}

Cf make_dictionary(Cf, const Cf* keys, const Cf* values, metal::CfIndex count,
                   const void* key_calls, const void* value_calls) {
  if (key_calls == nullptr || value_calls == nullptr) return nullptr;
  Object* const o = make(Kind::dictionary);
  for (metal::CfIndex i = 0; i < count; ++i) {
    ++as_object(values[i])->references;
    set(o, as_object(keys[i])->text, as_object(values[i]));
  }
  return o;
}

}  // namespace

Object* as_object(Cf value) {
  return const_cast<Object*>(static_cast<const Object*>(value));
}

Object* make(Kind what) {
  ++alive;
  auto* const o = std::make_unique<Object>().release();
  o->what = what;
  return o;
}

Object* make_text(std::string text) {
  Object* const o = make(Kind::text);
  o->text = std::move(text);
  return o;
}

Object* make_number(std::int64_t number) {
  Object* const o = make(Kind::number);
  o->number = number;
  return o;
}

Object* make_data(std::string bytes) {
  Object* const o = make_text(std::move(bytes));
  o->what = Kind::data;
  return o;
}

void set(Object* dictionary, const std::string& key, Object* value) {
  dictionary->members.emplace_back(key, value);
}

// As CFRelease does, it ends a program that gives back nothing.
void release(Object* o) {
  if (o == nullptr || o->references <= 0) std::abort();
  if (--o->references > 0) return;
  for (const auto& [key, value] : o->members) release(value);
  for (Object* each : o->items) release(each);
  const std::unique_ptr<Object> freed(o);
  --alive;
}

int live_objects() {
  return alive;
}

metal::CoreFoundation core_calls() {
  static const int marker = 0;
  return {
      .release = [](Cf value) { release(as_object(value)); },
      .type_of = [](Cf value) { return static_cast<metal::CfType>(as_object(value)->what); },
      .string_type = type<Kind::text>,
      .number_type = type<Kind::number>,
      .dictionary_type = type<Kind::dictionary>,
      .array_type = type<Kind::array>,
      .data_type = type<Kind::data>,
      .make_string = [](Cf, const char* text, std::uint32_t) -> Cf { return make_text(text); },
      .copy_string = copy_string,
      .make_number = make_signed_32,
      .number_value = number_value,
      .find = find,
      .make_dictionary = make_dictionary,
      .count = [](Cf array) { return static_cast<metal::CfIndex>(as_object(array)->items.size()); },
      .at = [](Cf array, metal::CfIndex i) -> Cf {
        return as_object(array)->items.at(static_cast<std::size_t>(i));
      },
      .data_length =
          [](Cf data) { return static_cast<metal::CfIndex>(as_object(data)->text.size()); },
      .data_bytes =
          [](Cf data) {
            return reinterpret_cast<const std::uint8_t*>(as_object(data)->text.data());
          },
      .key_calls = &marker,
      .value_calls = &marker,
  };
}

}  // namespace hmn_fake
