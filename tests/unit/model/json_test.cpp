// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "model/json_writer.hpp"

using hmn::json::SyntaxError;
using hmn::json::Value;

namespace {

Value parsed(std::string_view text) {
  auto out = hmn::json::parse(text);
  const auto* e = std::get_if<SyntaxError>(&out);
  INFO(text);
  INFO((e != nullptr ? e->what : std::string()));
  REQUIRE(e == nullptr);
  return std::move(*std::get_if<Value>(&out));
}

SyntaxError refused(std::string_view text) {
  auto out = hmn::json::parse(text);
  INFO(text);
  REQUIRE(std::holds_alternative<SyntaxError>(out));
  return *std::get_if<SyntaxError>(&out);
}

std::string text_of(std::string_view json) {
  return *parsed(json).as<std::string>();
}

// Another parser's opinion of the same text.
bool is_json(std::string_view text) {
  return nlohmann::json::accept(text.begin(), text.end());
}

bool same(const Value& a, const nlohmann::json& b) {
  if (const auto* members = a.as<hmn::json::Object>()) {
    if (!b.is_object() || b.size() != members->keys.size()) return false;
    for (std::size_t i = 0; i < members->keys.size(); ++i) {
      const auto at = b.find(members->keys[i]);
      if (at == b.end() || !same(members->values[i], *at)) return false;
    }
    return true;
  }
  if (const auto* list = a.as<hmn::json::Array>()) {
    if (!b.is_array() || b.size() != list->items.size()) return false;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      if (!same(list->items[i], b[i])) return false;
    }
    return true;
  }
  if (const auto* text = a.as<std::string>()) return b == *text;
  if (const auto* truth = a.as<bool>()) return b.is_boolean() && b == *truth;
  if (const auto* whole = a.as<std::uint64_t>()) return b.is_number_unsigned() && b == *whole;
  if (const auto* other = a.as<hmn::json::Number>()) {
    return b.is_number() && b.get<double>() == other->nearest;
  }
  return b.is_null();
}

}  // namespace

TEST_CASE("whole numbers up to 2^64 - 1 are exact") {
  CHECK(*parsed("0").as<std::uint64_t>() == 0);
  CHECK(*parsed("9007199254740993").as<std::uint64_t>() == 9'007'199'254'740'993U);
  CHECK(*parsed("18446744073709551615").as<std::uint64_t>() == UINT64_MAX);
}

TEST_CASE("all other numbers keep their text beside the nearest double") {
  for (const char* text : {"18446744073709551616", "-1", "-0", "1.0", "1e3", "-1.25E-2", "1e308"}) {
    CAPTURE(text);
    const Value v = parsed(text);
    REQUIRE(v.as<hmn::json::Number>() != nullptr);
    CHECK(v.as<hmn::json::Number>()->text == text);
    CHECK(v.as<hmn::json::Number>()->nearest == std::stod(text));
  }
  CHECK(std::signbit(parsed("-0").as<hmn::json::Number>()->nearest));
}

TEST_CASE("texts are unescaped") {
  CHECK(text_of(R"("a\"b\\c\/d\b\f\n\r\t")") == "a\"b\\c/d\b\f\n\r\t");
  CHECK(text_of(R"("\u0041\u00e9\u20AC\ud83D\uDE00")") == "Aé€😀");
  CHECK(text_of(R"("\u0000")") == std::string(1, '\0'));
  CHECK(text_of("\"é€😀\x7f\"") == "é€😀\x7f");
}

TEST_CASE("documents are read as another parser reads them") {
  for (const char* text :
       {"{}", "[]", " [ 1 , 2.5 , [ ] , { } , \"\" ] ", "{\"a\":{\"b\":[null,true,false]},\"\":0}",
        "\xEF\xBB\xBF{\"a\":1}", "[-0.0,1e-7,123456789012345678901234567890]", "\"x\"", "null"}) {
    CAPTURE(text);
    CHECK(same(parsed(text), nlohmann::json::parse(text)));
  }
}

TEST_CASE("whatever another parser refuses is refused") {
  const std::string good = R"({"a": [1, -2.5e+3, "x\u00e9\n", true, false, null], "b": {"c": {}}})";
  CHECK(is_json(good));
  const std::string_view bytes = "\"\\{}[],:0-e.\x01 t\xC3";
  for (std::size_t i = 0; i <= good.size(); ++i) {
    for (const char c : bytes) {
      std::string changed = good;
      changed.insert(i, 1, c);
      const bool accepted = std::holds_alternative<Value>(hmn::json::parse(changed));
      CAPTURE(changed);
      CHECK(accepted == is_json(changed));
    }
    const std::string cut = good.substr(0, i);
    CAPTURE(cut);
    CHECK(std::holds_alternative<Value>(hmn::json::parse(cut)) == is_json(cut));
  }
}

TEST_CASE("a refusal names the line, the column and the reason") {
  const SyntaxError e = refused("{\n  \"a\": 1,\n  \"b\" 2\n}");
  CHECK(e.line == 3);
  CHECK(e.column == 7);
  CHECK(e.what == "expected ':' after a key");
  CHECK(refused("").what == "not a JSON value");
  CHECK(refused("").column == 1);
  CHECK(refused("nul").what == "not a JSON value");
  CHECK(refused("{} x").what == "nothing may follow the document");
  CHECK(refused("{} x").column == 4);
  CHECK(refused("[1 2]").what == "expected ',' or ']' in a list");
  CHECK(refused("{\"a\":1 2}").what == "expected ',' or '}' in an object");
  CHECK(refused("{a:1}").what == "expected a key in double quotes");
  CHECK(refused("[1,]").what == "not a JSON value");
  CHECK(refused("\"abc").what == "a text that does not end");
  CHECK(refused("\"a\nb\"").what == "a control character in a text; write it as \\u00XX");
  CHECK(refused("\"\\x\"").what == "no such escape in a text");
  CHECK(refused("\"\\u12\"").what == "\\u needs four hexadecimal digits");
  CHECK(refused("\"\\u12g4\"").what == "\\u needs four hexadecimal digits");
  CHECK(refused("\"\\ud800\"").what == "half of a surrogate pair");
  CHECK(refused("\"\\ud800\\u0041\"").what == "half of a surrogate pair");
  CHECK(refused("\"\\udc00\"").what == "half of a surrogate pair");
  CHECK(refused("1e999").what == "a number that no double can hold");
  CHECK(refused("[\"\xC3\x28\"]").what == "a byte that is not UTF-8");
  CHECK(refused("[\"\xC3\x28\"]").column == 3);
  CHECK(refused(std::string_view("{}\0", 3)).what == "a byte that is not UTF-8");
}

TEST_CASE("a key that stands twice is refused by name, however it is spelled") {
  CHECK(refused(R"({"a":1,"b":2,"a":3})").what == "the key \"a\" stands twice in this object");
  CHECK(refused(R"([{"x":{"k":1,"\u006b":2}}])").what ==
        "the key \"k\" stands twice in this object");
  CHECK(refused(R"([{"x":{"k":1,"\u006b":2}}])").column == 7);
  parsed(R"({"a":{"a":{"a":1}}})");
}

TEST_CASE("depth and number of values are bounded") {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  parsed(nested(hmn::json::Rules().deepest));
  CHECK(refused(nested(hmn::json::Rules().deepest + 1)).what == "nested deeper than 64 levels");
  CHECK(refused(std::string(1'000'000, '[')).what == "nested deeper than 64 levels");
  std::string many = "[0";
  for (std::size_t i = 2; i < hmn::json::Rules().most_values; ++i) many += ",0";
  parsed(many + "]");
  CHECK(refused(many + ",0]").what == "more than 1000000 values");
}

TEST_CASE("the front of a text: where it ends, and what careless writers print") {
  const auto front = [](std::string_view text, std::size_t& length) {
    return hmn::json::parse_front(text, length);
  };
  std::size_t length = 0;
  auto out = front("{\"a\": [1, 2]} and more }", length);
  REQUIRE(std::holds_alternative<Value>(out));
  CHECK(length == 13);

  out = front(R"({"a": NaN, "b": -Infinity, "c": 1e999, "a": 2})", length);
  REQUIRE(std::holds_alternative<Value>(out));
  const auto* members = std::get<Value>(out).as<hmn::json::Object>();
  REQUIRE(members != nullptr);
  CHECK(members->keys == std::vector<std::string>{"a", "b", "c", "a"});
  for (int i = 0; i < 3; ++i) {
    const auto* none = members->values[static_cast<std::size_t>(i)].as<hmn::json::Number>();
    REQUIRE(none != nullptr);
    CHECK(std::isnan(none->nearest));
  }
  CHECK(*members->values[3].as<std::uint64_t>() == 2);

  out = front("{\"card0\": {\"VRAM Total Memory (B)\": \"12", length);
  REQUIRE(std::holds_alternative<SyntaxError>(out));
  CHECK(length == 0);
  CHECK(std::get<SyntaxError>(out).key == "VRAM Total Memory (B)");
  CHECK(refused("{\"a\": NaN}").what == "not a JSON value");
}

TEST_CASE("a document is written as it was read") {
  constexpr std::string_view text =
      R"({"a":[1,-2,0.5,1e300,[],{}],"b":{"c":null,"d":[true,false]},"e":"\u00e9\n","18446744073709551615":0})";
  std::string out;
  hmn::json::Writer(out).value(parsed(text));
  CHECK(out ==
        "{\"a\":[1,-2,0.5,1e300,[],{}],\"b\":{\"c\":null,\"d\":[true,false]},"
        "\"e\":\"\u00e9\\n\",\"18446744073709551615\":0}");
}
