// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/nvidia_smi/sentence.hpp"

#include "model/pci_address.hpp"
#include "model/scan.hpp"

namespace hmn::nvidia_smi {
namespace {

using about = sentence::about;

constexpr command_tool::sentence known_sentences[] = {
    {"No devices were found", about::nothing, status::no_device,
     "the driver runs and finds no GPU that it can use; see 'dmesg' for NVRM lines"},
    {"No running", about::nothing, status::empty, "no process uses the GPU"},
    {"couldn't communicate with the NVIDIA driver", about::tool, status::no_source,
     "load the driver with 'modprobe nvidia', in a container start it with GPU access, or install "
     "the driver"},
    {"couldn't find libnvidia-ml", about::tool, status::no_source,
     "install the user-space part of the NVIDIA driver, or start the container with GPU access"},
    {"version mismatch", about::tool, status::backend,
     "driver library and kernel module differ, as after an update; reload the nvidia modules or "
     "reboot"},
    {"Driver Not Loaded", about::tool, status::no_source, "load it with 'modprobe nvidia'"},
    {"blocked by the operating system", about::tool, status::permission,
     "give the container or service access to /dev/nvidia*"},
    {"ermission", about::tool, status::permission, "run it as a user who may open /dev/nvidia*"},
    {"is lost", about::device, status::device_lost,
     "see 'dmesg' for Xid lines, then reset the GPU or reboot"},
    {"requires reset", about::device, status::backend,
     "reset it with 'nvidia-smi --gpu-reset', or reboot"},
    {"Unable to determine the device handle", about::device, status::backend,
     "see 'dmesg' for NVRM lines; resetting the GPU or a reboot may help"},
    {"Failed to initialize NVML", about::tool, status::backend,
     "see 'dmesg' for NVRM lines; a container that lost its devices must be started again"},
    {"infoROM is corrupted", about::warning, status::backend, "the figures are still good"},
    {"is not recognized", about::tool, status::unsupported, "this tool is too old"},
    {"is missing its value", about::tool, status::unsupported, "this tool is too old"},
    {"Invalid combination of input arguments", about::tool, status::unsupported,
     "this tool is too old"},
    {"NVIDIA-SMI has failed", about::tool, status::backend, "see 'dmesg' for NVRM lines"},
};

// "Field "cuda_version" is not a valid field to query."
std::optional<std::string> refused_field(std::string_view line) {
  if (!line.starts_with("Field \"") || line.find("not a valid field") == std::string_view::npos) {
    return std::nullopt;
  }
  line.remove_prefix(7);
  const std::size_t end = line.find('"');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

// The first word that is a PCI address: "GPU0: 0000:81:00.0: Unknown Error".
text<32> bus_id_in(std::string_view line) {
  while (!scan::trim(line).empty()) {
    std::string_view word = scan::take_word(line);
    while (word.ends_with(':') || word.ends_with(',')) word.remove_suffix(1);
    if (const text<32> id = normal_pci_address(word); !id.empty()) return id;
  }
  return {};
}

}  // namespace

std::optional<sentence> parse_sentence(std::string_view line) {
  if (auto field = refused_field(line)) {
    return sentence{{{}, about::field, status::unsupported, "this tool is too old for it"},
                    std::move(*field),
                    {}};
  }
  const command_tool::sentence* const s = command_tool::find_sentence(known_sentences, line);
  if (s == nullptr) return std::nullopt;
  return sentence{*s, {}, bus_id_in(line)};
}

}  // namespace hmn::nvidia_smi
