// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/shared/pci/pci.hpp"
#include "fuzz.hpp"

using hmn::pci::vendors_in;

void fuzz(std::string_view input) {
  const std::string list(input);
  const std::uint64_t found = vendors_in(list);
  const std::uint64_t nvidia = vendors_in("0100\t10de2684\t0\n");
  const std::uint64_t amd = vendors_in("0100\t100273ff\t0\n");
  promise((found & ~(nvidia | amd)) == 0);
  const std::uint64_t with_one = vendors_in(list + "\n0100\t10de2684\t0\n");
  promise((with_one & (found | nvidia)) == (found | nvidia));
}
