// SPDX-License-Identifier: MIT OR Apache-2.0
#include "procfs/status.hpp"

#include "model/scan.hpp"

namespace hmn::procfs {
namespace {

// Returns the text after "Key:" in its line.
std::string_view value_of(std::string_view key, std::string_view text) noexcept {
  while (!text.empty()) {
    std::string_view line = scan::take_line(text);
    if (scan::take_until(line, ':') == key) return line;
  }
  return {};
}

}  // namespace

status_memory parse_status(std::string_view text) noexcept {
  status_memory m;
  const wanted_amount wanted[] = {
      {"VmRSS", &m.vm_rss}, {"VmHWM", &m.vm_hwm}, {"VmSize", &m.vm_size}, {"VmSwap", &m.vm_swap}};
  parse_amounts(text, wanted);
  return m;
}

std::vector<std::uint32_t> parse_namespace_pids(std::string_view status) {
  std::vector<std::uint32_t> pids;
  std::string_view line = value_of("NSpid", status);
  for (auto word = scan::take_word(line); !word.empty(); word = scan::take_word(line)) {
    const auto pid = scan::number<std::uint32_t>(word);
    if (!pid) return {};
    pids.push_back(*pid);
  }
  return pids;
}

std::uint64_t parse_effective_capabilities(std::string_view status) noexcept {
  return scan::number(scan::trim(value_of("CapEff", status)), 16).value_or(0);
}

amount smaps_rollup::unique() const noexcept {
  if (private_clean.what != amount::is::known) return private_clean;
  if (private_dirty.what != amount::is::known) return private_dirty;
  const auto bytes = scan::sum(private_clean.bytes, private_dirty.bytes);
  return bytes ? amount{amount::is::known, *bytes} : amount{amount::is::malformed, 0};
}

smaps_rollup parse_smaps_rollup(std::string_view text) noexcept {
  smaps_rollup r;
  const wanted_amount wanted[] = {
      {"Pss", &r.pss}, {"Private_Clean", &r.private_clean}, {"Private_Dirty", &r.private_dirty}};
  parse_amounts(text, wanted);
  return r;
}

}  // namespace hmn::procfs
