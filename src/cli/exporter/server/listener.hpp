// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <cstdint>
#include <string>

#include "cli/expected.hpp"

namespace hmn::cli {

// A listening socket, and the address that it has.
struct listener {
  int socket = -1;
  std::string address;  // "127.0.0.1:10077", "[::1]:10077"
};

// `address` is numeric; "": every address, of IPv6 and IPv4. Port 0 is any free port. The caller
// closes the socket.
expected<listener> listen_at(const std::string& address, std::uint16_t port);

}  // namespace hmn::cli
