// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <doctest/doctest.h>

using hmn::cli::format_json_array;
using hmn::cli::JsonObject;

TEST_CASE("a document is one line without spaces") {
  CHECK(format_json_array({}) == "[]\n");
  JsonObject first;
  first.add("pid", 12345u).add("name", "py\"x").add("used", std::optional<std::uint64_t>{});
  JsonObject second;
  second.add("on", true).add_null("off");
  CHECK(format_json_array({first, second}) ==
        "[{\"pid\":12345,\"name\":\"py\\\"x\",\"used\":null},{\"on\":true,\"off\":null}]\n");
}

TEST_CASE("numbers are exact up to 64 bits") {
  JsonObject object;
  object.add("n", std::uint64_t{18446744073709551615u}).add("z", std::optional<std::uint32_t>(0));
  CHECK(object.text() == "{\"n\":18446744073709551615,\"z\":0}");
}

TEST_CASE("lists and empty objects are written") {
  JsonObject object;
  object.add("none", std::vector<std::string_view>{})
      .add("some", std::vector<std::string_view>{"a", "b\n"});
  CHECK(object.text() == "{\"none\":[],\"some\":[\"a\",\"b\\n\"]}");
  CHECK(JsonObject().text() == "{}");
}

TEST_CASE("texts are escaped") {
  JsonObject object;
  object.add("a", "é\"\\/\n\x7f\u202e\xff");
  CHECK(object.text() == R"({"a":"é\"\\/\n\u007f\u202e�"})");
}
