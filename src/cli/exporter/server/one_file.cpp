// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the server needs where it is inside hmn, which is then one file.
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "cli/exporter/server/tls.hpp"

namespace hmn::cli {

Expected<TlsMaterial> load_tls(const TlsSettings&) {
  return make_failure(
      "tls_server_config: this hmn is one file, whose server has no TLS; use the packages, or a "
      "proxy");
}

bool is_client_allowed(MHD_Connection*, ClientCertificate policy) {
  return policy == ClientCertificate::none;
}

}  // namespace hmn::cli

#ifdef __GLIBC__
// The archive of libcrypt asks for it, and the C library has it from 2.36 on: with this hmn runs on
// 2.34 as well.
extern "C" void arc4random_buf(void* buffer, std::size_t bytes) noexcept {
  for (auto* position = static_cast<char*>(buffer); bytes > 0;) {
    const auto length = getrandom(position, bytes, 0);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) std::abort();  // as the C library's own does
    position += length;
    bytes -= static_cast<std::size_t>(length);
  }
}
#endif
