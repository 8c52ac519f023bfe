// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/tls.hpp"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>

#include <memory>
#include <utility>

namespace hmn::cli {
namespace {

gnutls_datum_t datum_of(std::string& text) {
  return {reinterpret_cast<unsigned char*>(text.data()), static_cast<unsigned>(text.size())};
}

std::string priorities_of(const TlsSettings& from) {
  std::string out = "NORMAL:-VERS-ALL";
  for (int each = from.min_version; each <= from.max_version; ++each)
    out += std::string(":+VERS-TLS1.") + static_cast<char>('0' + each - 10);
  return out;
}

std::optional<Failure> check_material(const TlsSettings& from, TlsMaterial& of) {
  gnutls_certificate_credentials_t made = nullptr;
  if (gnutls_certificate_allocate_credentials(&made) != GNUTLS_E_SUCCESS)
    return failed("TLS: out of memory");
  const std::unique_ptr<std::remove_pointer_t<gnutls_certificate_credentials_t>,
                        decltype(&gnutls_certificate_free_credentials)>
      held(made, &gnutls_certificate_free_credentials);
  const auto certificate = datum_of(of.certificate);
  const auto key = datum_of(of.key);
  const int status =
      gnutls_certificate_set_x509_key_mem(made, &certificate, &key, GNUTLS_X509_FMT_PEM);
  if (status < 0)
    return failed("\"" + from.certificate_file + "\" with key \"" + from.key_file +
                  "\": " + gnutls_strerror(status));
  if (of.client_authority.empty()) return std::nullopt;
  const auto authority = datum_of(of.client_authority);
  const int count = gnutls_certificate_set_x509_trust_mem(made, &authority, GNUTLS_X509_FMT_PEM);
  if (count > 0) return std::nullopt;
  return failed_at(from.client_authority_file,
                   count < 0 ? gnutls_strerror(count) : "has no certificate");
}

}  // namespace

Expected<TlsMaterial> load_tls(const TlsSettings& from) {
  TlsMaterial out;
  out.priorities = priorities_of(from);
  struct {
    const std::string& path;
    std::string& to;
  } const files[] = {{from.certificate_file, out.certificate},
                     {from.key_file, out.key},
                     {from.client_authority_file, out.client_authority}};
  for (const auto& each : files) {
    if (each.path.empty()) continue;
    auto text = read_named(each.path);
    if (!text) return text.why();
    each.to = *std::move(text);
  }
  if (auto wrong = check_material(from, out)) return *std::move(wrong);
  return out;
}

bool is_client_allowed(MHD_Connection* connection, ClientCertificate wanted) {
  if (wanted == ClientCertificate::none) return true;
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  if (info == nullptr) return false;
  auto* session = static_cast<gnutls_session_t>(info->tls_session);
  unsigned count = 0;
  if (gnutls_certificate_get_peers(session, &count) == nullptr || count == 0)
    return wanted == ClientCertificate::verified_if_given;
  unsigned problems = 0;
  gnutls_typed_vdata_st purpose{};
  purpose.type = GNUTLS_DT_KEY_PURPOSE_OID;
  static unsigned char client[] = GNUTLS_KP_TLS_WWW_CLIENT;
  purpose.data = client;
  return gnutls_certificate_verify_peers(session, &purpose, 1, &problems) == GNUTLS_E_SUCCESS &&
         problems == 0;
}

}  // namespace hmn::cli
