// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvml/system.hpp"

#include "platform/library.hpp"
#include "platform/windows/library.hpp"

namespace hmn::nvml {
namespace {

constexpr unsigned model_wddm = 0;  // NVML_DRIVER_WDDM; the others are TCC and MCDM

using platform::SystemPath;

const SystemPath older_path(SystemPath::Base::system_drive,
                            "Program Files\\NVIDIA Corporation\\NVSMI\\nvml.dll");
const char* const candidates[] = {"nvml.dll", older_path.c_str()};

}  // namespace

// Names are searched for in the system folder only; drivers before 2018 had a folder of their own.
std::span<const char* const> library_candidates() noexcept {
  return std::span(candidates).first(older_path.view().empty() ? 1 : 2);
}

// With this display driver model Windows manages device memory itself, and NVML lists processes
// without values.
bool is_counted_by_system(const platform::Library& nvml, Handle handle) noexcept {
  using DriverModel = int (*)(Handle, unsigned* current, unsigned* pending);
  const auto get_driver_model =
      reinterpret_cast<DriverModel>(nvml.symbol("nvmlDeviceGetDriverModel"));
  unsigned current = 0;
  unsigned pending = 0;
  return get_driver_model != nullptr && get_driver_model(handle, &current, &pending) == success &&
         current == model_wddm;
}

// Loads the library, which the driver installs. Loading it touches no device.
bool has_evidence(const Settings& settings) {
  if (!settings.nvml_path.empty()) return true;
  for (const char* candidate : library_candidates()) {
    const auto library = platform::Library::open(candidate);
    if (library || !library.is_missing) return true;
  }
  return false;
}

bool may_list_unattached(const Settings&) {
  return true;
}

bool is_paravirtual() noexcept {
  return false;
}

std::string format_advice(const Settings&) {
  return "it comes with NVIDIA's driver";
}

}  // namespace hmn::nvml
