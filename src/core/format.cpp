// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/format.hpp"

#include <array>
#include <cmath>
#include <string_view>

#include "model/decimal.hpp"
#include "model/message_text.hpp"

namespace hmn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

struct LabelledField {
  std::string_view word;
  std::optional<std::uint64_t> Pool::*member;
};

std::optional<LabelledField> select_field(DeviceFormat format) {
  switch (format) {
    case DeviceFormat::free:
      return LabelledField{"free", &Pool::free};
    case DeviceFormat::total:
      return LabelledField{"total", &Pool::total};
    case DeviceFormat::used:
      return LabelledField{"used", &Pool::used};
  }
  return {};
}

}  // namespace

void append_rounded(std::string& out, double value, int decimals, Sign sign) {
  // Holds the longest double, with 309 digits before its point.
  std::array<char, 384> text;
  char* const end = write_fixed(text.data(), text.data() + text.size(), value, decimals);
  if (sign == Sign::always && !std::signbit(value)) out += '+';
  out.append(text.data(), end);
}

double to_mebibytes(std::uint64_t bytes) noexcept {
  return static_cast<double>(bytes) / static_cast<double>(mib);
}

void append_mebibytes(std::string& out, std::uint64_t bytes, std::string_view unit) {
  append_rounded(out, to_mebibytes(bytes), 0);
  out += ' ';
  out += unit;
}

void append_bytes(std::string& out, std::uint64_t bytes) {
  if (bytes < gib) {
    out += compose({bytes / mib, " MiB"});
    return;
  }
  append_rounded(out, static_cast<double>(bytes) / static_cast<double>(gib), 1);
  out += " GiB";
}

Result<void> append_device(std::string& out, const Snapshot& snapshot, std::uint32_t index,
                           DeviceFormat format, std::string_view unit) {
  const std::optional<LabelledField> field = select_field(format);
  if (!field) return make_failure(Status::range, "no such format of a device");
  const SnapshotDevice* const device = snapshot.find_device(index);
  if (device == nullptr) return Snapshot::make_device_failure(index);
  const Device& identity = *device->identity;
  const Pool* main = snapshot.main_pool(identity.index);
  const bool needs_total = format == DeviceFormat::free;
  if (main == nullptr || !(main->*field->member) || (needs_total && !main->total)) {
    return make_failure(Status::empty, "a value of the device's memory is not known");
  }
  out += compose({"  GPU ", identity.index, ": ", field->word, " "});
  append_mebibytes(out, *(main->*field->member), unit);
  if (needs_total) {
    out += " / ";
    append_mebibytes(out, *main->total, unit);
  }
  if (!identity.name.empty()) {
    out += " [";
    out += identity.name.view();
    out += ']';
  }
  out += '\n';
  return {};
}

}  // namespace hmn
