// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/tls.hpp"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

#include <memory>
#include <utility>

namespace hmn::cli {
namespace {

gnutls_datum_t make_datum(std::string& text) {
  return {reinterpret_cast<unsigned char*>(text.data()), static_cast<unsigned>(text.size())};
}

std::string format_priorities(const TlsSettings& settings) {
  std::string out = "NORMAL:-VERS-ALL";
  for (int version = settings.min_version; version <= settings.max_version; ++version)
    out += std::string(":+VERS-TLS1.") + static_cast<char>('0' + version - 10);
  return out;
}

std::optional<Failure> check_material(const TlsSettings& settings, TlsMaterial& material) {
  gnutls_certificate_credentials_t credentials = nullptr;
  if (gnutls_certificate_allocate_credentials(&credentials) != GNUTLS_E_SUCCESS)
    return make_failure("TLS: out of memory");
  const std::unique_ptr<std::remove_pointer_t<gnutls_certificate_credentials_t>,
                        decltype(&gnutls_certificate_free_credentials)>
      owner(credentials, &gnutls_certificate_free_credentials);
  const auto certificate = make_datum(material.certificate);
  const auto key = make_datum(material.key);
  const int status =
      gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
  if (status < 0)
    return make_failure("\"" + settings.certificate_file + "\" with key \"" + settings.key_file +
                        "\": " + gnutls_strerror(status));
  if (material.client_authority.empty()) return std::nullopt;
  const auto authority = make_datum(material.client_authority);
  const int count =
      gnutls_certificate_set_x509_trust_mem(credentials, &authority, GNUTLS_X509_FMT_PEM);
  if (count > 0) return std::nullopt;
  return make_file_failure(settings.client_authority_file,
                           count < 0 ? gnutls_strerror(count) : "has no certificate");
}

}  // namespace

Expected<TlsMaterial> load_tls(const TlsSettings& settings) {
  TlsMaterial material;
  material.priorities = format_priorities(settings);
  struct {
    const std::string& path;
    std::string& content;
  } const files[] = {{settings.certificate_file, material.certificate},
                     {settings.key_file, material.key},
                     {settings.client_authority_file, material.client_authority}};
  for (const auto& file : files) {
    if (file.path.empty()) continue;
    auto text = read_config_file(file.path);
    if (!text) return text.error();
    file.content = *std::move(text);
  }
  if (auto failure = check_material(settings, material)) return *std::move(failure);
  return material;
}

bool is_client_allowed(MHD_Connection* connection, ClientCertificate policy) {
  if (policy == ClientCertificate::none) return true;
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  if (info == nullptr) return false;
  auto* session = static_cast<gnutls_session_t>(info->tls_session);
  unsigned count = 0;
  if (gnutls_certificate_get_peers(session, &count) == nullptr || count == 0)
    return policy == ClientCertificate::verified_if_given;
  unsigned problems = 0;
  gnutls_typed_vdata_st purpose{};
  purpose.type = GNUTLS_DT_KEY_PURPOSE_OID;
  static unsigned char client[] = GNUTLS_KP_TLS_WWW_CLIENT;
  purpose.data = client;
  return gnutls_certificate_verify_peers(session, &purpose, 1, &problems) == GNUTLS_E_SUCCESS &&
         problems == 0;
}

}  // namespace hmn::cli
