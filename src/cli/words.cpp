// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/words.hpp"

#include <span>

namespace hmn::cli {
namespace {

struct entry {
  std::uint32_t number;
  std::string_view name;
};

word look_up(std::span<const entry> entries, std::uint32_t number) noexcept {
  for (const auto& each : entries)
    if (each.number == number) return each.name;
  return std::nullopt;
}

std::vector<std::string_view> names_of_bits(std::span<const entry> entries, hmn_flags bits) {
  std::vector<std::string_view> names;
  for (const auto& each : entries)
    if ((bits & each.number) != 0) names.push_back(each.name);
  return names;
}

constexpr entry device_kinds[] = {{HMN_KIND_DISCRETE, "discrete"},
                                  {HMN_KIND_INTEGRATED, "integrated"},
                                  {HMN_KIND_PARTITION, "partition"},
                                  {HMN_KIND_VIRTUAL, "virtual"}};
constexpr entry memory_kinds[] = {{HMN_MEMORY_KIND_DEDICATED, "dedicated"},
                                  {HMN_MEMORY_KIND_UNIFIED, "unified"},
                                  {HMN_MEMORY_KIND_COHERENT, "coherent"}};
constexpr entry states[] = {{HMN_STATE_READY, "ready"}, {HMN_STATE_ASLEEP, "asleep"},
                            {HMN_STATE_LOST, "lost"},   {HMN_STATE_UNREADABLE, "unreadable"},
                            {HMN_STATE_HUNG, "hung"},   {HMN_STATE_ABSENT, "absent"},
                            {HMN_STATE_OFF, "off"}};
constexpr entry pools[] = {{HMN_POOL_VRAM, "vram"},
                           {HMN_POOL_VRAM_VISIBLE, "vram_visible"},
                           {HMN_POOL_HOST, "host"},
                           {HMN_POOL_UNIFIED, "unified"},
                           {HMN_POOL_STOLEN, "stolen"}};
constexpr entry accountings[] = {{HMN_ACCOUNT_RESIDENT, "resident"},
                                 {HMN_ACCOUNT_COMMITTED, "committed"},
                                 {HMN_ACCOUNT_ALLOCATED, "allocated"}};
constexpr entry name_states[] = {{HMN_NAME_RESOLVED, "resolved"},
                                 {HMN_NAME_EXITED, "exited"},
                                 {HMN_NAME_PROTECTED, "protected"},
                                 {HMN_NAME_KERNEL, "kernel"}};
constexpr entry vendors[] = {{HMN_VENDOR_AMD, "amd"},
                             {HMN_VENDOR_APPLE, "apple"},
                             {HMN_VENDOR_NVIDIA, "nvidia"},
                             {HMN_VENDOR_QUALCOMM, "qualcomm"},
                             {HMN_VENDOR_INTEL, "intel"}};
constexpr entry vendor_names[] = {{HMN_VENDOR_AMD, "AMD"},
                                  {HMN_VENDOR_APPLE, "Apple"},
                                  {HMN_VENDOR_NVIDIA, "NVIDIA"},
                                  {HMN_VENDOR_QUALCOMM, "Qualcomm"},
                                  {HMN_VENDOR_INTEL, "Intel"}};
constexpr entry usage_kinds[] = {
    {HMN_USAGE_COMPUTE, "compute"}, {HMN_USAGE_GRAPHICS, "graphics"}, {HMN_USAGE_MEDIA, "media"}};
constexpr entry notes[] = {{HMN_NOTE_STALE, "stale"},         {HMN_NOTE_LOWER_BOUND, "lower_bound"},
                           {HMN_NOTE_ESTIMATED, "estimated"}, {HMN_NOTE_TRUNCATED, "truncated"},
                           {HMN_NOTE_MIXED, "mixed"},         {HMN_NOTE_FOREIGN_PID, "foreign_pid"},
                           {HMN_NOTE_PARTIAL, "partial"},     {HMN_NOTE_TRACE, "trace"}};

}  // namespace

word kind_word(std::uint32_t kind) noexcept {
  return look_up(device_kinds, kind);
}
word memory_kind_word(std::uint32_t kind) noexcept {
  return look_up(memory_kinds, kind);
}
word state_word(std::uint32_t state) noexcept {
  return look_up(states, state);
}
word pool_word(std::uint32_t pool) noexcept {
  return look_up(pools, pool);
}
word accounting_word(std::uint32_t accounting) noexcept {
  return look_up(accountings, accounting);
}
word name_state_word(std::uint32_t state) noexcept {
  return look_up(name_states, state);
}
word vendor_word(std::uint32_t vendor) noexcept {
  return look_up(vendors, vendor);
}
word vendor_name(std::uint32_t vendor) noexcept {
  return look_up(vendor_names, vendor);
}

word source_word(std::uint32_t backend) noexcept {
  if (backend == HMN_BACKEND_NONE) return std::nullopt;
  return hmn_backend_name(backend);
}

std::vector<std::string_view> usage_kind_words(hmn_flags bits) {
  return names_of_bits(usage_kinds, bits);
}

std::vector<std::string_view> note_words(hmn_flags bits) {
  return names_of_bits(notes, bits);
}

}  // namespace hmn::cli
