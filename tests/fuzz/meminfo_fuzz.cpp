// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/meminfo.hpp"

#include "fuzz.hpp"
#include "model/scan.hpp"

using namespace hmn::procfs;

namespace {

void check_stall(std::string_view input) {
  const auto share = parse_stall(input);
  if (!share) return;
  promise(*share >= 0 && *share <= 100);
  // Only that line counts.
  const std::string line(input.substr(0, input.find('\n')));
  promise(parse_stall(line + "\nfull avg10=0.00\n") == share);
}

void check_zfs_cache(std::string_view input) {
  const auto beyond = parse_zfs_cache(input);
  if (!beyond) return;
  const std::string text = std::string(input) + "\n";
  promise(parse_zfs_cache(text + "hits 4 18446744073709551615\n") == beyond);
  promise(parse_zfs_cache(text + "c_min 4 18446744073709551615\n") == 0);
}

}  // namespace

void fuzz(std::string_view input) {
  check_stall(input);
  check_zfs_cache(input);
  const std::uint64_t low = std::uint64_t{take_byte(input)} << 20;
  const Meminfo meminfo = parse_meminfo(input);
  const auto without_reserve = meminfo.estimate_available(0);
  const auto with_reserve = meminfo.estimate_available(low);
  if (!without_reserve) return;
  promise(with_reserve && *with_reserve <= *without_reserve);
  const std::uint64_t slab = meminfo.reclaimable_slab.value().value_or(0);
  promise(*without_reserve == *meminfo.free.value() + *meminfo.active_file.value() +
                                  *meminfo.inactive_file.value() + slab);
}
