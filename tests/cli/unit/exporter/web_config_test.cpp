// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/web_config.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace hmn::cli;

namespace {

const std::string bcrypt_hash = "$2y$10$" + std::string(53, 'a');

std::string web_config_error(const std::string& text) {
  const auto config = parse_web_config(text, "/etc/x");
  REQUIRE_MESSAGE(!config, text);
  CHECK(config.error().code == ExitCode::usage);
  return config.error().message;
}

bool has_words(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("web_config: an empty file configures nothing") {
  for (const char* text : {"", "# nothing\n", "{}", "tls_server_config:\n"}) {
    const auto config = parse_web_config(text, "/etc/x");
    REQUIRE_MESSAGE(config, text);
    CHECK(!config->tls);
    CHECK(config->users.empty());
    CHECK(config->headers.empty());
  }
}

TEST_CASE("web_config: every supported setting is read") {
  const auto config = parse_web_config(
      "tls_server_config:\n"
      "  cert_file: a.crt\n"
      "  key_file: /keys/a.key\n"
      "  client_ca_file: ca.crt\n"
      "  client_auth_type: RequireAndVerifyClientCert\n"
      "  min_version: TLS11\n"
      "  max_version: TLS12\n"
      "http_server_config:\n"
      "  http2: false\n"
      "  headers:\n"
      "    X-Frame-Options: deny\n"
      "    Strict-Transport-Security: max-age=3600\n"
      "basic_auth_users:\n"
      "  alice: " +
          bcrypt_hash + "\n",
      "/etc/x");
  REQUIRE(config);
  REQUIRE(config->tls);
  CHECK(config->tls->certificate_file == "/etc/x/a.crt");
  CHECK(config->tls->key_file == "/keys/a.key");
  CHECK(config->tls->client_authority_file == "/etc/x/ca.crt");
  CHECK(config->tls->clients == ClientCertificate::required);
  CHECK(config->tls->min_version == 11);
  CHECK(config->tls->max_version == 12);
  CHECK(config->headers.size() == 2);
  CHECK(config->users.at("alice") == bcrypt_hash);
}

TEST_CASE("web_config: the minimum TLS version defaults to 1.2") {
  const auto config = parse_web_config("tls_server_config: {cert_file: c, key_file: k}", ".");
  REQUIRE(config);
  CHECK(config->tls->min_version == 12);
  CHECK(config->tls->max_version == 13);
  CHECK(config->tls->clients == ClientCertificate::none);
}

TEST_CASE("web_config: an unsupported setting is refused by name") {
  const std::string tls = "tls_server_config: {cert_file: c, key_file: k, ";
  for (const char* setting : {"cipher_suites", "curve_preferences", "prefer_server_cipher_suites",
                              "client_allowed_sans", "cert", "key", "client_ca", "typo"})
    CHECK(has_words(web_config_error(tls + setting + ": []}"),
                    std::string("tls_server_config.") + setting));
  CHECK(has_words(web_config_error("rate_limit: {}"), "rate_limit"));
  CHECK(has_words(web_config_error("http_server_config: {compression: true}"),
                  "http_server_config.compression"));
  CHECK(has_words(web_config_error("http_server_config: {http2: true}"), "http2"));
  CHECK(has_words(web_config_error("http_server_config: {headers: {X-Mine: 1}}"), "X-Mine"));
  CHECK(has_words(web_config_error(tls + "client_auth_type: RequireAnyClientCert}"),
                  "RequireAnyClientCert"));
}

TEST_CASE("web_config: malformed values are refused with the expected form") {
  const std::string tls = "tls_server_config: {cert_file: c, key_file: k, ";
  CHECK(has_words(web_config_error("tls_server_config: {key_file: k}"), "cert_file: is required"));
  CHECK(has_words(web_config_error("tls_server_config: {cert_file: c}"), "key_file: is required"));
  CHECK(has_words(web_config_error(tls + "min_version: TLS14}"), "\"TLS14\": expected TLS10"));
  CHECK(has_words(web_config_error(tls + "min_version: TLS13, max_version: TLS12}"), "is above"));
  CHECK(has_words(web_config_error(tls + "client_auth_type: RequireAndVerifyClientCert}"),
                  "client_ca_file"));
  CHECK(has_words(web_config_error(tls + "client_ca_file: ca}"), "client_auth_type"));
  CHECK(has_words(web_config_error("tls_server_config: 7"), "tls_server_config: expected keys"));
  CHECK(has_words(web_config_error("basic_auth_users: {alice: secret}"),
                  "basic_auth_users.alice: expected a bcrypt"));
  CHECK(has_words(web_config_error("basic_auth_users: {\"a:b\": " + bcrypt_hash + "}"), "a:b"));
  CHECK(has_words(web_config_error("http_server_config: {headers: {X-Frame-Options: \"a\\nb\"}}"),
                  "control"));
  CHECK(has_words(web_config_error("[1, 2]"), "expected keys"));
  CHECK(has_words(web_config_error(tls + "cert_file: d}"),
                  "tls_server_config.cert_file: is there twice"));
  CHECK(has_words(
      web_config_error("basic_auth_users: {bob: " + bcrypt_hash + ", bob: " + bcrypt_hash + "}"),
      "basic_auth_users.bob: is there twice"));
  CHECK(has_words(web_config_error("http_server_config: {headers: {X-Frame-Options: deny, "
                                   "X-Frame-Options: sameorigin}}"),
                  "X-Frame-Options: is there twice"));
  CHECK(has_words(web_config_error("a: [1"), "line "));
}
