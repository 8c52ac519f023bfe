// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/text_format.hpp"

#include <doctest/doctest.h>

using hmn::cli::accepts_gzip;
using hmn::cli::negotiate_format;
using hmn::cli::TextFormat;

TEST_CASE("text_format: OpenMetrics is sent to clients that accept it") {
  CHECK(negotiate_format("application/openmetrics-text") == TextFormat::openmetrics);
  CHECK(negotiate_format("application/openmetrics-text;version=1.0.0,application/"
                         "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/"
                         "*;q=0.1") == TextFormat::openmetrics);
  CHECK(negotiate_format("text/html, application/openmetrics-text; version=1.0.0; charset=utf-8") ==
        TextFormat::openmetrics);
}

TEST_CASE("text_format: all other clients get the Prometheus text format") {
  for (const char* accept : {"", "*/*", "text/plain", "text/html,application/xml;q=0.9",
                             "application/openmetrics-text;version=2.0.0",
                             "application/openmetrics-text;q=0", "application/openmetrics-text;q=",
                             "application/openmetrics-text;q=x", ";;,,;q", "application/json"})
    CHECK_MESSAGE(negotiate_format(accept) == TextFormat::prometheus, accept);
}

TEST_CASE("text_format: the format with the higher q value is selected") {
  CHECK(negotiate_format("application/openmetrics-text;q=0.3,text/plain;q=0.5") ==
        TextFormat::prometheus);
  CHECK(negotiate_format("text/plain;q=0.3,application/openmetrics-text;q=0.5") ==
        TextFormat::openmetrics);
  CHECK(negotiate_format("text/plain;q=0.123,application/openmetrics-text;q=0.124") ==
        TextFormat::openmetrics);
}

TEST_CASE("text_format: a range includes plain text, and a specific type takes precedence") {
  CHECK(negotiate_format("application/openmetrics-text;q=0.3,*/*;q=0.5") == TextFormat::prometheus);
  CHECK(negotiate_format("application/openmetrics-text;q=0.3,text/*") == TextFormat::prometheus);
  CHECK(negotiate_format("application/openmetrics-text;q=0.3,text/plain;q=0.2,*/*") ==
        TextFormat::openmetrics);
  CHECK(negotiate_format("*/*,application/openmetrics-text") == TextFormat::openmetrics);
}

TEST_CASE("text_format: media types and parameter names are case-insensitive") {
  CHECK(negotiate_format("Application/OpenMetrics-Text; Version=1.0.0") == TextFormat::openmetrics);
  CHECK(negotiate_format("application/openmetrics-text; Q=0.3, TEXT/PLAIN; Q=0.5") ==
        TextFormat::prometheus);
}

TEST_CASE("text_format: gzip is used for clients that accept it") {
  for (const auto* const accept :
       {"gzip", "deflate, GZIP", "*", "gzip;q=0.1, *;q=0", "br;q=1, gzip"})
    CHECK_MESSAGE(accepts_gzip(accept), accept);
  for (const auto* const accept :
       {"", "identity", "deflate", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "gzip2", "gzip;q=x"})
    CHECK_MESSAGE(!accepts_gzip(accept), accept);
}
