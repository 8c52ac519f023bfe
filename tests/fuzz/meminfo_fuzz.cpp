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
  const Meminfo m = parse_meminfo(input);
  const auto none_kept = m.estimate_available(0);
  const auto some_kept = m.estimate_available(low);
  if (!none_kept) return;
  promise(some_kept && *some_kept <= *none_kept);
  const std::uint64_t slab = m.reclaimable_slab.value().value_or(0);
  promise(*none_kept == *m.free.value() + *m.active_file.value() + *m.inactive_file.value() + slab);
}
