// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/pci.hpp"
#include "fuzz.hpp"

using hmn::pci::parse_vendors;

void fuzz(std::string_view input) {
  const std::string list(input);
  const std::uint64_t vendors = parse_vendors(list);
  const std::uint64_t nvidia = parse_vendors("0100\t10de2684\t0\n");
  const std::uint64_t amd = parse_vendors("0100\t100273ff\t0\n");
  promise((vendors & ~(nvidia | amd)) == 0);
  const std::uint64_t extended = parse_vendors(list + "\n0100\t10de2684\t0\n");
  promise((extended & (vendors | nvidia)) == (vendors | nvidia));
}
