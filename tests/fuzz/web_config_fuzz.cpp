// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/web_config.hpp"

#include "cli/exporter/text_format.hpp"
#include "fuzz.hpp"

using namespace hmn::cli;

void fuzz(std::string_view input) {
  negotiate_format(input);
  accepts_gzip(input);
  const auto parsed = parse_web_config(std::string(input), "/etc");
  if (!parsed) {
    promise(!parsed.error().message.empty());
    return;
  }
  for (const auto& [name, hash] : parsed->users) {
    promise(!name.empty() && name.find(':') == std::string::npos);
    promise(hash.size() == 60);
  }
  for (const auto& [name, value] : parsed->headers)
    promise(value.find('\n') == std::string::npos && value.find('\r') == std::string::npos);
  if (!parsed->tls) return;
  promise(!parsed->tls->certificate_file.empty() && !parsed->tls->key_file.empty());
  promise(parsed->tls->min_version <= parsed->tls->max_version);
  promise((parsed->tls->clients == ClientCertificate::none) ==
          parsed->tls->client_authority_file.empty());
}
