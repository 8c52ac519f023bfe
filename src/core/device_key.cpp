// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_key.hpp"

#include <algorithm>

#include "model/compose.hpp"
#include "model/device.hpp"
#include "model/scan.hpp"
#include "model/text.hpp"
#include "model/words.hpp"

namespace hmn {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

failure bad_key(std::string_view text, std::string_view expected) {
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  return failed(status::argument, {"device key \"", shown, "\": ", expected});
}

// Parses a PCI address whose domain is optional.
std::optional<pci_address> parse_pci(std::string_view text) {
  const bool has_domain = text.find(':') != text.rfind(':');
  return has_domain ? parse_pci_address(text) : parse_pci_address(compose({"0:", text}));
}

std::optional<std::uint64_t> parse_luid(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return scan::number(text, 16);
}

}  // namespace

result<device_key> parse_device_key(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view kind = text.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  device_key key;
  if (kind == "uuid" && !value.empty()) {
    key.uuid = value;
    return key;
  }
  if (kind == "pci") {
    const auto address = parse_pci(value);
    if (!address) return bad_key(text, "expected a PCI address such as pci:0000:01:00.0");
    key.what = device_key::kind::pci;
    key.pci = *address;
    return key;
  }
  std::optional<std::uint64_t> number;
  if (kind == "luid") {
    key.what = device_key::kind::luid;
    number = parse_luid(value);
  } else if (kind == "render") {
    key.what = device_key::kind::render;
    number = scan::number<std::uint32_t>(value);
  } else if (kind == "driver") {
    const std::size_t end = value.find(':');
    const auto named = number_of(words::vendors(), value.substr(0, end));
    if (!named || *named == static_cast<std::int32_t>(vendor::unknown) ||
        end == std::string_view::npos) {
      return bad_key(text, "expected the vendor and its index, such as driver:nvidia:0");
    }
    key.what = device_key::kind::driver;
    key.vendor = static_cast<std::uint32_t>(*named);
    number = scan::number<std::uint32_t>(value.substr(end + 1));
  } else {
    return bad_key(text, "expected uuid:, pci:, luid:, render: or driver: and a value");
  }
  if (!number) return bad_key(text, "expected a number after the colon");
  key.number = *number;
  return key;
}

bool equal_uuid(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace hmn
