// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/json.hpp"

#include <doctest/doctest.h>

using hmn::cli::json_document;
using hmn::cli::JsonObject;

TEST_CASE("a document is one line without blanks") {
  CHECK(json_document({}) == "[]\n");
  JsonObject first;
  first.add("pid", 12345u).add("name", "py\"x").add("used", std::optional<std::uint64_t>{});
  JsonObject second;
  second.add("on", true).add_null("off");
  CHECK(json_document({first, second}) ==
        "[{\"pid\":12345,\"name\":\"py\\\"x\",\"used\":null},{\"on\":true,\"off\":null}]\n");
}

TEST_CASE("numbers are exact up to 64 bits") {
  JsonObject out;
  out.add("n", std::uint64_t{18446744073709551615u}).add("z", std::optional<std::uint32_t>(0));
  CHECK(out.text() == "{\"n\":18446744073709551615,\"z\":0}");
}

TEST_CASE("lists and empty objects") {
  JsonObject out;
  out.add("none", std::vector<std::string_view>{})
      .add("some", std::vector<std::string_view>{"a", "b\n"});
  CHECK(out.text() == "{\"none\":[],\"some\":[\"a\",\"b\\n\"]}");
  CHECK(JsonObject().text() == "{}");
}

TEST_CASE("texts are escaped") {
  JsonObject out;
  out.add("a", "é\"\\/\n\x7f\u202e\xff");
  CHECK(out.text() == R"({"a":"é\"\\/\n\u007f\u202e�"})");
}
