// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pci/bus.hpp"

#include <array>
#include <string_view>
#include <utility>

#include "model/compose.hpp"
#include "model/device.hpp"
#include "model/scan.hpp"
#include "platform/file.hpp"

namespace hmn::pci {
namespace {

class folder {
 public:
  explicit folder(std::string path) : path_(std::move(path)) {}

  std::string_view line(std::string_view name) {
    const auto got = platform::read_small(compose({path_, "/", name}).c_str(), buffer_);
    std::string_view text(buffer_.data(), got ? got.value : 0);
    return scan::take_line(text);
  }
  // Parses "0x10de".
  std::uint32_t number(std::string_view name) {
    const std::string_view text = line(name);
    if (!text.starts_with("0x")) return 0;
    return scan::number<std::uint32_t>(text.substr(2), 16).value_or(0);
  }
  text<32> driver() {
    const auto got = platform::read_link(compose({path_, "/driver"}).c_str(), buffer_);
    const std::string_view target(buffer_.data(), got ? got.value : 0);
    return text<32>(target.substr(target.rfind('/') + 1));
  }

 private:
  std::string path_;
  std::array<char, 256> buffer_{};
};

bool is_gpu(std::uint32_t class_code, std::uint32_t vendor) {
  constexpr std::uint32_t display = 0x03;
  constexpr std::uint32_t accelerator = 0x12;
  const std::uint32_t base = class_code >> 16;
  return base == display || (base == accelerator && vendor == vendor::amd);
}

void insert(std::vector<gpu>& all, const gpu& found) {
  all.push_back(found);
  for (std::size_t i = all.size() - 1; i > 0 && all[i].address < all[i - 1].address; --i) {
    std::swap(all[i], all[i - 1]);
  }
}

}  // namespace

std::vector<gpu> gpus_on_bus(const std::string& sys_root, std::uint32_t vendor) {
  const std::string devices = sys_root + "/bus/pci/devices";
  std::vector<gpu> all;
  (void)platform::for_each_entry(devices.c_str(), [&](std::string_view name) {
    const auto address = parse_pci_address(name);
    folder in(compose({devices, "/", name}));
    if (!address || in.number("vendor") != vendor || !is_gpu(in.number("class"), vendor)) {
      return true;
    }
    const std::uint32_t subsystem = in.number("subsystem_device") << 16;
    insert(all, {*address, in.number("device"), subsystem | in.number("subsystem_vendor"),
                 in.driver(), in.line("power/runtime_status").starts_with("suspend")});
    return true;
  });
  return all;
}

}  // namespace hmn::pci
