// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the server needs where it is inside hmn, which is then one file.
#include <sys/random.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "cli/exporter/server/tls.hpp"

namespace hmn::cli {

expected<tls_material> load_tls(const tls_settings&) {
  return failed(
      "tls_server_config: this hmn is one file, whose server has no TLS; use the packages, or a "
      "proxy");
}

bool is_client_allowed(MHD_Connection*, client_certificate wanted) {
  return wanted == client_certificate::none;
}

}  // namespace hmn::cli

#ifdef __GLIBC__
// The archive of libcrypt asks for it, and the C library has it from 2.36 on: with this hmn runs on
// 2.34 as well.
extern "C" void arc4random_buf(void* to, std::size_t bytes) noexcept {
  for (auto* at = static_cast<char*>(to); bytes > 0;) {
    const auto got = getrandom(at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();  // as the C library's own does
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
}
#endif
