// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include "fuzz.hpp"

using namespace hmn::tegra;

void fuzz(std::string_view input) {
  const NvmapClients clients = parse_nvmap(input);
  promise(clients.all.size() <= input.size());
  for (const NvmapClient& client : clients.all) {
    promise(client.pid != 0);
    promise(client.bytes % 1024 == 0);
  }
  promise(!clients.total || *clients.total % 1024 == 0);
  promise(!has_text_with_prefix(input, input) || input.find('\0') == std::string_view::npos);
  (void)classify_rail(input);
}
