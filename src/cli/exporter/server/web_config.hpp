// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/expected.hpp"

namespace hmn::cli {

enum class ClientCertificate { none, verified_if_given, required };

struct TlsSettings {
  std::string certificate_file;
  std::string key_file;
  std::string client_authority_file;  // "": none
  ClientCertificate clients = ClientCertificate::none;
  int min_version = 12;  // 10 to 13: TLS 1.0 to 1.3
  int max_version = 13;
};

// Prometheus' web configuration file:
// https://prometheus.io/docs/prometheus/latest/configuration/https/
struct WebConfig {
  std::optional<TlsSettings> tls;
  std::vector<std::pair<std::string, std::string>> headers;
  std::map<std::string, std::string> users;  // name -> bcrypt hash
};

// Paths in the file are relative to `folder`. A setting that is unknown or not supported is refused
// by name.
Expected<WebConfig> parse_web_config(const std::string& text, const std::string& folder);
Expected<WebConfig> read_web_config(const std::string& path);
// Reads a file that is the configuration, or that it names.
Expected<std::string> read_config_file(const std::string& path);

}  // namespace hmn::cli
