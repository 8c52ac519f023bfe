// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/tegra/files.hpp"

#include "fuzz.hpp"

using namespace hmn::tegra;

void fuzz(std::string_view input) {
  const NvmapClients found = parse_nvmap(input);
  promise(found.all.size() <= input.size());
  for (const NvmapClient& c : found.all) {
    promise(c.pid != 0);
    promise(c.bytes % 1024 == 0);
  }
  promise(!found.total || *found.total % 1024 == 0);
  promise(!has_text_from(input, input) || input.find('\0') == std::string_view::npos);
  (void)rail_of(input);
}
