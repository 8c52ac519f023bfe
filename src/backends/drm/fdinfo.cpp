// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/fdinfo.hpp"

#include "model/scan.hpp"

namespace hmn::drm {
namespace {

struct known_unit {
  std::string_view name;
  std::uint32_t factor;
};
constexpr known_unit units_of_time[] = {{"ns", 1}};
constexpr known_unit units_of_memory[] = {
    {"", 1}, {"KiB", 1 << 10}, {"kB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}};

std::optional<std::uint64_t> with_unit(std::string_view value,
                                       std::span<const known_unit> units) noexcept {
  const auto count = scan::decimal(scan::take_word(value));
  const std::string_view name = scan::trim(value);
  for (const known_unit& u : units) {
    if (count && name == u.name) return scan::product(*count, u.factor);
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_count(std::string_view value) noexcept {
  return scan::decimal(scan::trim(value));
}

template <class T, std::size_t N>
T* entry_of(std::array<T, N>& all, std::size_t& count, std::string_view name,
            bool& is_full) noexcept {
  for (T& e : std::span(all).first(count)) {
    if (e.name == name) return &e;
  }
  if (count == N) {
    is_full = true;
    return nullptr;
  }
  all[count].name = name;
  return &all[count++];
}

// Uses only the first line of a key.
void set(std::optional<std::uint64_t>& to, std::optional<std::uint64_t> value) noexcept {
  if (!to) to = value;
}

struct region_key {
  std::string_view prefix;
  std::optional<std::uint64_t> region::*member;
};
constexpr region_key region_keys[] = {
    {"drm-total-", &region::total},         {"drm-shared-", &region::shared},
    {"drm-resident-", &region::resident},   {"drm-memory-", &region::memory},
    {"drm-purgeable-", &region::purgeable},
};

struct engine_key {
  std::string_view prefix;
  std::optional<std::uint64_t> engine::*member;
  bool is_time;
};
// Match before the regions' keys: "drm-total-cycles-" is no memory.
constexpr engine_key engine_keys[] = {
    {"drm-engine-", &engine::busy_ns, true},
    {"drm-cycles-", &engine::cycles, false},
    {"drm-total-cycles-", &engine::total_cycles, false},
};

bool take_capacity(std::string_view key, std::string_view value, fdinfo& out) noexcept {
  constexpr std::string_view prefix = "drm-engine-capacity-";
  if (!key.starts_with(prefix)) return false;
  const auto count = parse_count(value);
  engine* const e = out.engine_of(key.substr(prefix.size()));
  if (e != nullptr && count && *count != 0) e->capacity = *count;
  return true;
}

bool take_engine(std::string_view key, std::string_view value, fdinfo& out) noexcept {
  if (take_capacity(key, value, out)) return true;
  for (const engine_key& k : engine_keys) {
    if (!key.starts_with(k.prefix)) continue;
    if (engine* const e = out.engine_of(key.substr(k.prefix.size()))) {
      set(e->*k.member, k.is_time ? with_unit(value, units_of_time) : parse_count(value));
    }
    return true;
  }
  return false;
}

bool take_region(std::string_view key, std::string_view value, fdinfo& out) noexcept {
  for (const region_key& k : region_keys) {
    if (!key.starts_with(k.prefix)) continue;
    if (region* const r = out.region_of(key.substr(k.prefix.size()))) {
      const auto amount = parse_amount(value);
      out.is_garbled = out.is_garbled || !amount;
      set(r->*k.member, amount);
    }
    return true;
  }
  return false;
}

bool take_identity(std::string_view key, std::string_view value, fdinfo& out) noexcept {
  if (key == "drm-driver") {
    out.driver = value;
  } else if (key == "drm-pdev") {
    out.pci_address = value;
  } else if (key == "drm-client-id") {
    set(out.client_id, parse_count(value));
  } else if (key == "drm-client-name") {
    out.client_name = value;
  } else if (key == "pasid") {
    set(out.pasid, parse_count(value));
  } else {
    return false;
  }
  return true;
}

// Parses text of amdgpu in Linux 5.14 to 5.18: "pdev:", "vram mem:\t12 kB", "gfx0:\t1.23%".
void take_old_key(std::string_view key, std::string_view value, fdinfo& out) noexcept {
  constexpr std::string_view suffix = " mem";
  if (key == "pdev" && out.pci_address.empty()) out.pci_address = value;
  if (!key.ends_with(suffix)) return;
  const std::string_view name = key.substr(0, key.size() - suffix.size());
  if (name != "vram" && name != "gtt" && name != "cpu") return;
  if (region* const r = out.region_of(name)) set(r->memory, parse_amount(value));
  if (out.driver.empty() && !out.pci_address.empty()) out.driver = "amdgpu";
}

void take_line(std::string_view line, fdinfo& out) noexcept {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string_view key = line.substr(0, colon);
  const std::string_view value = scan::trim(line.substr(colon + 1));
  if (take_identity(key, value, out)) return;
  if (!key.starts_with("drm-")) return take_old_key(key, value, out);
  if (!take_engine(key, value, out)) take_region(key, value, out);
}

// Drops an unterminated last line.
std::string_view whole_lines(std::string_view text) noexcept {
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end + 1);
}

}  // namespace

region* fdinfo::region_of(std::string_view name) noexcept {
  return entry_of(regions_, region_count_, name, is_partial);
}

engine* fdinfo::engine_of(std::string_view name) noexcept {
  return entry_of(engines_, engine_count_, name, is_partial);
}

std::optional<std::uint64_t> parse_amount(std::string_view value) noexcept {
  return with_unit(value, units_of_memory);
}

std::optional<fdinfo> parse_fdinfo(std::string_view text) noexcept {
  std::optional<fdinfo> out(std::in_place);
  out->text = whole_lines(text);
  out->is_partial = is_cut(text);
  for (std::string_view rest = out->text; !rest.empty();) take_line(scan::take_line(rest), *out);
  if (out->driver.empty()) out.reset();
  return out;
}

std::optional<std::uint64_t> amount_of(std::string_view text, std::string_view key) noexcept {
  for (std::string_view rest = whole_lines(text); !rest.empty();) {
    const std::string_view line = scan::take_line(rest);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':') {
      return parse_amount(line.substr(key.size() + 1));
    }
  }
  return std::nullopt;
}

}  // namespace hmn::drm
