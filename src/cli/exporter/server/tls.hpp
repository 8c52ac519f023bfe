// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <string>

#include "cli/exporter/server/web_config.hpp"

struct MHD_Connection;

namespace hmn::cli {

// Contents of the files of TLS, which the server needs for as long as it runs.
struct TlsMaterial {
  std::string certificate;
  std::string key;
  std::string client_authority;
  std::string priorities;  // of GnuTLS: which versions
};

// Fails where a file cannot be read, or key and certificate do not belong together.
Expected<TlsMaterial> load_tls(const TlsSettings& settings);

// Returns whether the client's certificate satisfies the policy.
bool is_client_allowed(MHD_Connection* connection, ClientCertificate policy);

}  // namespace hmn::cli
