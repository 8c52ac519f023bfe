// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

enum class client_certificate { none, verified_if_given, required };

struct tls_settings {
  std::string certificate_file;
  std::string key_file;
  std::string client_authority_file;  // "": none
  client_certificate clients = client_certificate::none;
  int min_version = 12;  // 10 to 13: TLS 1.0 to 1.3
  int max_version = 13;
};

// Prometheus' web configuration file:
// https://prometheus.io/docs/prometheus/latest/configuration/https/
struct web_config {
  std::optional<tls_settings> tls;
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, std::string> users;  // name -> bcrypt hash
};

// Paths in the file are relative to `folder`. A setting that is unknown or not supported is refused
// by name.
expected<web_config> parse_web_config(const std::string& text, const std::string& folder);
expected<web_config> read_web_config(const std::string& path);
// Reads a file that is the configuration, or that it names.
expected<std::string> read_named(const std::string& path);

}  // namespace hmn::cli
