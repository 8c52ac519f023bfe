// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hmn::tegra {

struct nvmap_client {
  std::uint32_t pid = 0;
  std::uint64_t bytes = 0;
};

// Pure. Clients in <debugfs>/nvmap/iovmm/clients, as printed by L4T's driver:
//   CLIENT  PROCESS  PID  SIZE
//   user    Xorg     1234  12345K
//   total                 123456K
struct nvmap_clients {
  std::vector<nvmap_client> all;
  std::optional<std::uint64_t> total;
  bool is_odd = false;  // a line has another form
};

nvmap_clients parse_nvmap(std::string_view text);

}  // namespace hmn::tegra
