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

Value parse_valid(std::string_view text) {
  auto result = hmn::json::parse(text);
  const auto* error = std::get_if<SyntaxError>(&result);
  INFO(text);
  INFO((error != nullptr ? error->message : std::string()));
  REQUIRE(error == nullptr);
  return std::move(*std::get_if<Value>(&result));
}

SyntaxError parse_error(std::string_view text) {
  auto result = hmn::json::parse(text);
  INFO(text);
  REQUIRE(std::holds_alternative<SyntaxError>(result));
  return *std::get_if<SyntaxError>(&result);
}

std::string parse_text(std::string_view json) {
  return *parse_valid(json).get_if<std::string>();
}

// Another parser's opinion of the same text.
bool is_json(std::string_view text) {
  return nlohmann::json::accept(text.begin(), text.end());
}

bool is_same(const Value& actual, const nlohmann::json& expected) {
  if (const auto* members = actual.get_if<hmn::json::Object>()) {
    if (!expected.is_object() || expected.size() != members->keys.size()) return false;
    for (std::size_t i = 0; i < members->keys.size(); ++i) {
      const auto it = expected.find(members->keys[i]);
      if (it == expected.end() || !is_same(members->values[i], *it)) return false;
    }
    return true;
  }
  if (const auto* list = actual.get_if<hmn::json::Array>()) {
    if (!expected.is_array() || expected.size() != list->items.size()) return false;
    for (std::size_t i = 0; i < list->items.size(); ++i) {
      if (!is_same(list->items[i], expected[i])) return false;
    }
    return true;
  }
  if (const auto* text = actual.get_if<std::string>()) return expected == *text;
  if (const auto* truth = actual.get_if<bool>()) return expected.is_boolean() && expected == *truth;
  if (const auto* whole = actual.get_if<std::uint64_t>())
    return expected.is_number_unsigned() && expected == *whole;
  if (const auto* number = actual.get_if<hmn::json::Number>()) {
    return expected.is_number() && expected.get<double>() == number->nearest;
  }
  return expected.is_null();
}

}  // namespace

TEST_CASE("whole numbers up to 2^64 - 1 are exact") {
  CHECK(*parse_valid("0").get_if<std::uint64_t>() == 0);
  CHECK(*parse_valid("9007199254740993").get_if<std::uint64_t>() == 9'007'199'254'740'993U);
  CHECK(*parse_valid("18446744073709551615").get_if<std::uint64_t>() == UINT64_MAX);
}

TEST_CASE("other numbers keep their text and the nearest double") {
  for (const char* text : {"18446744073709551616", "-1", "-0", "1.0", "1e3", "-1.25E-2", "1e308"}) {
    CAPTURE(text);
    const Value number = parse_valid(text);
    REQUIRE(number.get_if<hmn::json::Number>() != nullptr);
    CHECK(number.get_if<hmn::json::Number>()->text == text);
    CHECK(number.get_if<hmn::json::Number>()->nearest == std::stod(text));
  }
  CHECK(std::signbit(parse_valid("-0").get_if<hmn::json::Number>()->nearest));
}

TEST_CASE("escapes in texts are decoded") {
  CHECK(parse_text(R"("a\"b\\c\/d\b\f\n\r\t")") == "a\"b\\c/d\b\f\n\r\t");
  CHECK(parse_text(R"("\u0041\u00e9\u20AC\ud83D\uDE00")") == "Aé€😀");
  CHECK(parse_text(R"("\u0000")") == std::string(1, '\0'));
  CHECK(parse_text("\"é€😀\x7f\"") == "é€😀\x7f");
}

TEST_CASE("documents are read as another parser reads them") {
  for (const char* text :
       {"{}", "[]", " [ 1 , 2.5 , [ ] , { } , \"\" ] ", "{\"a\":{\"b\":[null,true,false]},\"\":0}",
        "\xEF\xBB\xBF{\"a\":1}", "[-0.0,1e-7,123456789012345678901234567890]", "\"x\"", "null"}) {
    CAPTURE(text);
    CHECK(is_same(parse_valid(text), nlohmann::json::parse(text)));
  }
}

TEST_CASE("a document is refused exactly if another parser refuses it") {
  const std::string good = R"({"a": [1, -2.5e+3, "x\u00e9\n", true, false, null], "b": {"c": {}}})";
  CHECK(is_json(good));
  const std::string_view bytes = "\"\\{}[],:0-e.\x01 t\xC3";
  for (std::size_t i = 0; i <= good.size(); ++i) {
    for (const char byte : bytes) {
      std::string changed = good;
      changed.insert(i, 1, byte);
      const bool accepted = std::holds_alternative<Value>(hmn::json::parse(changed));
      CAPTURE(changed);
      CHECK(accepted == is_json(changed));
    }
    const std::string cut = good.substr(0, i);
    CAPTURE(cut);
    CHECK(std::holds_alternative<Value>(hmn::json::parse(cut)) == is_json(cut));
  }
}

TEST_CASE("a syntax error has a line, a column and a reason") {
  const SyntaxError error = parse_error("{\n  \"a\": 1,\n  \"b\" 2\n}");
  CHECK(error.line == 3);
  CHECK(error.column == 7);
  CHECK(error.message == "expected ':' after a key");
  CHECK(parse_error("").message == "not a JSON value");
  CHECK(parse_error("").column == 1);
  CHECK(parse_error("nul").message == "not a JSON value");
  CHECK(parse_error("{} x").message == "nothing may follow the document");
  CHECK(parse_error("{} x").column == 4);
  CHECK(parse_error("[1 2]").message == "expected ',' or ']' in a list");
  CHECK(parse_error("{\"a\":1 2}").message == "expected ',' or '}' in an object");
  CHECK(parse_error("{a:1}").message == "expected a key in double quotes");
  CHECK(parse_error("[1,]").message == "not a JSON value");
  CHECK(parse_error("\"abc").message == "a text that does not end");
  CHECK(parse_error("\"a\nb\"").message == "a control character in a text; write it as \\u00XX");
  CHECK(parse_error("\"\\x\"").message == "no such escape in a text");
  CHECK(parse_error("\"\\u12\"").message == "\\u needs four hexadecimal digits");
  CHECK(parse_error("\"\\u12g4\"").message == "\\u needs four hexadecimal digits");
  CHECK(parse_error("\"\\ud800\"").message == "half of a surrogate pair");
  CHECK(parse_error("\"\\ud800\\u0041\"").message == "half of a surrogate pair");
  CHECK(parse_error("\"\\udc00\"").message == "half of a surrogate pair");
  CHECK(parse_error("1e999").message == "a number that no double can hold");
  CHECK(parse_error("[\"\xC3\x28\"]").message == "a byte that is not UTF-8");
  CHECK(parse_error("[\"\xC3\x28\"]").column == 3);
  CHECK(parse_error(std::string_view("{}\0", 3)).message == "a byte that is not UTF-8");
}

TEST_CASE("a duplicate key is refused by name, however it is spelled") {
  CHECK(parse_error(R"({"a":1,"b":2,"a":3})").message ==
        "the key \"a\" appears twice in this object");
  CHECK(parse_error(R"([{"x":{"k":1,"\u006b":2}}])").message ==
        "the key \"k\" appears twice in this object");
  CHECK(parse_error(R"([{"x":{"k":1,"\u006b":2}}])").column == 7);
  parse_valid(R"({"a":{"a":{"a":1}}})");
}

TEST_CASE("nesting depth and number of values are limited") {
  const auto nest_lists = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  parse_valid(nest_lists(hmn::json::ParseOptions().max_depth));
  CHECK(parse_error(nest_lists(hmn::json::ParseOptions().max_depth + 1)).message ==
        "nested deeper than 64 levels");
  CHECK(parse_error(std::string(1'000'000, '[')).message == "nested deeper than 64 levels");
  std::string many = "[0";
  for (std::size_t i = 2; i < hmn::json::ParseOptions().max_values; ++i) many += ",0";
  parse_valid(many + "]");
  CHECK(parse_error(many + ",0]").message == "more than 1000000 values");
}

TEST_CASE("the front of a text is parsed up to its end, even with NaN and duplicate keys") {
  const auto parse_front = [](std::string_view text, std::size_t& length) {
    return hmn::json::parse_front(text, length);
  };
  std::size_t length = 0;
  auto result = parse_front("{\"a\": [1, 2]} and more }", length);
  REQUIRE(std::holds_alternative<Value>(result));
  CHECK(length == 13);

  result = parse_front(R"({"a": NaN, "b": -Infinity, "c": 1e999, "a": 2})", length);
  REQUIRE(std::holds_alternative<Value>(result));
  const auto* members = std::get<Value>(result).get_if<hmn::json::Object>();
  REQUIRE(members != nullptr);
  CHECK(members->keys == std::vector<std::string>{"a", "b", "c", "a"});
  for (int i = 0; i < 3; ++i) {
    const auto* number = members->values[static_cast<std::size_t>(i)].get_if<hmn::json::Number>();
    REQUIRE(number != nullptr);
    CHECK(std::isnan(number->nearest));
  }
  CHECK(*members->values[3].get_if<std::uint64_t>() == 2);

  result = parse_front("{\"card0\": {\"VRAM Total Memory (B)\": \"12", length);
  REQUIRE(std::holds_alternative<SyntaxError>(result));
  CHECK(length == 0);
  CHECK(std::get<SyntaxError>(result).key == "VRAM Total Memory (B)");
  CHECK(parse_error("{\"a\": NaN}").message == "not a JSON value");
}

TEST_CASE("a document is written as it was read") {
  constexpr std::string_view text =
      R"({"a":[1,-2,0.5,1e300,[],{}],"b":{"c":null,"d":[true,false]},"e":"\u00e9\n","18446744073709551615":0})";
  std::string out;
  hmn::json::Writer(out).value(parse_valid(text));
  CHECK(out ==
        "{\"a\":[1,-2,0.5,1e300,[],{}],\"b\":{\"c\":null,\"d\":[true,false]},"
        "\"e\":\"\u00e9\\n\",\"18446744073709551615\":0}");
}
