// SPDX-License-Identifier: MIT OR Apache-2.0
#include "objects.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>

namespace hmn_fake {
namespace {

namespace metal = hmn::metal;
using metal::Cf;
int live_count = 0;

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

metal::CfBoolean number_value(Cf value, metal::CfIndex number_type, void* out) {
  if (number_type != metal::signed_64) return 0;
  std::memcpy(out, &as_object(value)->number, sizeof(std::int64_t));
  return 1;
}

Cf make_signed_32(Cf, metal::CfIndex number_type, const void* value) {
  std::int32_t number = 0;
  std::memcpy(&number, value, sizeof number);
  return number_type == metal::signed_32 ? hmn_fake::make_number(number) : nullptr;
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
  Object* const object = make(Kind::dictionary);
  for (metal::CfIndex i = 0; i < count; ++i) {
    ++as_object(values[i])->references;
    set(object, as_object(keys[i])->text, as_object(values[i]));
  }
  return object;
}

}  // namespace

Object* as_object(Cf value) {
  return const_cast<Object*>(static_cast<const Object*>(value));
}

Object* make(Kind kind) {
  ++live_count;
  auto* const o = std::make_unique<Object>().release();
  o->kind = kind;
  return o;
}

Object* make_text(std::string text) {
  Object* const object = make(Kind::text);
  object->text = std::move(text);
  return object;
}

Object* make_number(std::int64_t number) {
  Object* const object = make(Kind::number);
  object->number = number;
  return object;
}

Object* make_data(std::string bytes) {
  Object* const object = make_text(std::move(bytes));
  object->kind = Kind::data;
  return object;
}

void set(Object* dictionary, const std::string& key, Object* value) {
  dictionary->members.emplace_back(key, value);
}

// Like CFRelease, aborts the program for a null or released object.
void release(Object* object) {
  if (object == nullptr || object->references <= 0) std::abort();
  if (--object->references > 0) return;
  for (const auto& [key, value] : object->members) release(value);
  for (Object* item : object->items) release(item);
  const std::unique_ptr<Object> freed(object);
  --live_count;
}

int live_objects() {
  return live_count;
}

metal::CoreFoundation core_calls() {
  static const int marker = 0;
  return {
      .release = [](Cf value) { release(as_object(value)); },
      .get_type = [](Cf value) { return static_cast<metal::CfType>(as_object(value)->kind); },
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
      .get_item = [](Cf array, metal::CfIndex i) -> Cf {
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
