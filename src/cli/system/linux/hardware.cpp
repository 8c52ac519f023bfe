// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/linux/hardware.hpp"

#include <fmt/format.h>
#include <hypomnesis.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/system/file.hpp"
#include "cli/system/inspect.hpp"
#include "cli/text/words.hpp"

namespace hmn::cli {
namespace {

// PCI class codes: 0x03 display controller, 0x12 processing accelerator.
constexpr std::uint32_t display_class = 0x03;
constexpr std::uint32_t accelerator_class = 0x12;

std::string first_line(std::string text) {
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

std::string line_of(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? first_line(*text) : std::string();
}

std::optional<std::uint32_t> hex_number(const std::string& path) {
  const auto text = line_of(path);
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  return parsed.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::optional<adapter> adapter_at(const std::string& folder, const std::string& address) {
  const auto code = hex_number(folder + "/class");
  if (!code) return std::nullopt;
  const auto base = *code >> 16;
  if (base != display_class && base != accelerator_class) return std::nullopt;
  adapter found;
  found.address = address;
  found.vendor = hex_number(folder + "/vendor").value_or(0);
  found.device = hex_number(folder + "/device").value_or(0);
  found.driver = driver_in(folder);
  found.runtime_status = line_of(folder + "/power/runtime_status");
  return found;
}

void append(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : "; ") + text;
}

}  // namespace

std::vector<adapter> find_adapters(const roots& in) {
  const auto bus = in.sys + "/bus/pci/devices";
  std::vector<adapter> found;
  for (const auto& address : list_folder(bus))
    if (auto one = adapter_at(bus + "/" + address, address)) found.push_back(*std::move(one));
  return found;
}

std::string describe(const adapter& of) {
  return fmt::format("{} {} [{:04x}:{:04x}]", of.address,
                     vendor_name(static_cast<hypomnesis::vendor_id>(of.vendor)).value_or("GPU"),
                     of.vendor, of.device);
}

std::optional<std::string> read_link_target(const std::string& path) {
  std::array<char, 4096> buffer;
  const auto length = readlink(path.c_str(), buffer.data(), buffer.size());
  if (length < 0) return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(length));
}

std::string driver_in(const std::string& folder) {
  return last_part(read_link_target(folder + "/driver").value_or(""));
}

std::string kernel_driver(const hypomnesis::device& of) {
  const auto sys = roots_from_environment().sys;
  std::string driver;
  if (of.render_minor)
    driver = driver_in(fmt::format("{}/class/drm/renderD{}/device", sys, *of.render_minor));
  if (driver.empty() && of.pci_bus_id)
    driver = driver_in(fmt::format("{}/bus/pci/devices/{}", sys, *of.pci_bus_id));
  return driver;
}

// Skips GPUs of NVIDIA's own driver, for which NVML reports more.
std::string unmeasured_gpus() {
  std::string list;
  for (const auto& each : find_adapters(roots_from_environment())) {
    const auto who = describe(each);
    if (each.driver == "vfio-pci")
      append(list, who + " is handed over to a virtual machine (vfio-pci)");
    else if (each.vendor != HMN_VENDOR_AMD && each.vendor != HMN_VENDOR_INTEL)
      continue;
    else if (each.driver.empty())
      append(list, who + " has no kernel driver");
    else
      append(list, fmt::format("the driver {} shows no GPU for {}", each.driver, who));
  }
  return list;
}

}  // namespace hmn::cli
