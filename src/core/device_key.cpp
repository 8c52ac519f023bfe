// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/device_key.hpp"

#include <algorithm>
#include <charconv>

#include "model/compose.hpp"
#include "model/text.hpp"

namespace hmn {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text, int base) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> parse_hex(std::string_view text, std::size_t longest) {
  return text.size() <= longest ? parse_number<std::uint32_t>(text, 16) : std::nullopt;
}

// Cuts off and returns what stands behind the last `mark`; everything when there is none.
std::string_view cut_last(std::string_view& text, char mark) {
  const std::size_t at = text.rfind(mark);
  const std::string_view tail = at == std::string_view::npos ? text : text.substr(at + 1);
  text = at == std::string_view::npos ? std::string_view() : text.substr(0, at);
  return tail;
}

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

failure bad_key(std::string_view text, std::string_view expected) {
  std::string shown;
  append_utf8(shown, text.substr(0, 120));
  return {status::argument, source::none, {}, compose({"device key \"", shown, "\": ", expected})};
}

std::optional<std::uint64_t> parse_luid(std::string_view text) {
  if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") text.remove_prefix(2);
  return parse_number<std::uint64_t>(text, 16);
}

}  // namespace

std::optional<pci_address> parse_pci_address(std::string_view text) {
  if (text.find('.') == std::string_view::npos) return std::nullopt;
  const auto function = parse_hex(cut_last(text, '.'), 1);
  if (text.find(':') == std::string_view::npos) return std::nullopt;
  const auto device = parse_hex(cut_last(text, ':'), 2);
  const bool has_domain = text.find(':') != std::string_view::npos;
  const auto bus = parse_hex(cut_last(text, ':'), 2);
  const auto domain = has_domain ? parse_hex(text, 8) : std::optional<std::uint32_t>(0);
  if (!function || *function > 7 || !device || *device > 31 || !bus || !domain) return std::nullopt;
  return pci_address{*domain, *bus, *device, *function};
}

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
    const auto address = parse_pci_address(value);
    if (!address) return bad_key(text, "expected a PCI address such as pci:0000:01:00.0");
    key.what = device_key::kind::pci;
    key.pci = *address;
    return key;
  }
  std::optional<std::uint64_t> number;
  if (kind == "luid") {
    key.what = device_key::kind::luid;
    number = parse_luid(value);
  } else if (kind == "render" || kind == "driver") {
    key.what = kind == "render" ? device_key::kind::render : device_key::kind::driver;
    number = parse_number<std::uint32_t>(value, 10);
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
