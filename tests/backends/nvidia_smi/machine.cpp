// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "platform/clock.hpp"

namespace smi_test {

PlainReading::PlainReading(std::uint64_t deadline_ms, bool trace)
    : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms),
      trace_(trace) {}

int PlainReading::count(hmn::Status code) const {
  return static_cast<int>(
      std::count_if(diagnostics.begin(), diagnostics.end(),
                    [&](const auto& diagnostic) { return diagnostic.failure.code == code; }));
}

const hmn::Diagnostic* PlainReading::find(hmn::Status code) const {
  for (const hmn::Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.failure.code == code) return &diagnostic;
  }
  return nullptr;
}

Machine::Machine(const json& scenario, bool wake) : source_(make_settings(wake)) {
  tree_.directory("tool");
  std::filesystem::copy_file(HMN_FAKE_NVIDIA_SMI, path());
  hmn_fake::set_host_namespace(tree_);
  tree_.directory("proc/self/fd");
  change(scenario);
}

hmn::Settings Machine::make_settings(bool wake) const {
  hmn::Settings settings;
  settings.proc_root = tree_.proc();
  settings.sys_root = tree_.sys();
  settings.nvidia_smi_path = path();
  settings.wake_devices = wake;
  return settings;
}

void Machine::change(const json& scenario) const {
  tree_.write("tool/nvidia-smi.json", scenario.dump());
}

std::vector<json> Machine::starts() const {
  std::vector<json> all;
  std::ifstream log(tree_.path("tool/nvidia-smi.log"));
  for (std::string line; std::getline(log, line);) all.push_back(json::parse(line));
  return all;
}

hmn::Result<std::vector<hmn::Device>> Machine::devices(PlainReading& reading) {
  const auto ready = source_.prepare(reading);
  if (!ready && ready.failure().code != hmn::Status::asleep) return ready.failure();
  std::vector<hmn::Device> all;
  const auto result = source_.devices(all, reading);
  if (!result) return result.failure();
  return all;
}

json gpu(int number, const json& more, const std::vector<json>& apps) {
  json fields = {
      {"name", "NVIDIA L40S"},
      {"uuid", "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(number)},
      {"pci.bus_id", "00000000:0" + std::to_string(number + 1) + ":00.0"},
      {"pci.device_id", "0x26B910DE"},
      {"pci.sub_device_id", "0x185110DE"},
      {"driver_version", "595.80"},
      {"mig.mode.current", "[N/A]"},
      {"addressing_mode", "HMM"},
      {"memory.total", 46068},
      {"memory.used", 9123},
      {"memory.free", 36346},
      {"memory.reserved", 599},
      {"utilization.gpu", 64},
      {"utilization.memory", 12},
      {"utilization.encoder", 3},
      {"utilization.decoder", 4},
      {"temperature.gpu", 45},
      {"temperature.memory", "N/A"},
      {"power.draw", 58.98},
      {"enforced.power.limit", 300.0},
      {"clocks.current.graphics", 2520},
      {"clocks.current.memory", 9001},
      {"fan.speed", 30},
      {"pcie.link.gen.current", 4},
      {"pcie.link.width.current", 16},
      {"pstate", "P0"},
      {"clocks_event_reasons.active", "0x0000000000000004"},
  };
  if (!more.is_null()) fields.update(more);
  json object;
  object["fields"] = fields;
  object["compute_apps"] = apps;
  return object;
}

json scenario(const std::vector<json>& gpus) {
  return {{"gpus", gpus}};
}

json make_app_scenario(const std::vector<json>& gpus, const std::string& answer) {
  json object = scenario(gpus);
  object["raw_query_compute_apps"] = answer;
  return object;
}

json app(std::uint32_t pid, const json& used, const std::string& name) {
  return {{"pid", pid}, {"used_gpu_memory", used}, {"process_name", name}};
}

}  // namespace smi_test
