// SPDX-License-Identifier: MIT OR Apache-2.0
#include "machine.hpp"

#include <fstream>

#include "platform/clock.hpp"

namespace amd_test {

PlainReading::PlainReading(std::uint64_t deadline_ms, bool trace)
    : deadline_(hmn::platform::monotonic_ns() + deadline_ms * hmn::platform::ns_per_ms),
      trace_(trace) {}

const hmn::Diagnostic* PlainReading::find(std::string_view words) const {
  for (const hmn::Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.failure.message.view().find(words) != std::string::npos) return &diagnostic;
  }
  return nullptr;
}

Machine::Machine(const std::string& name, bool wake, bool has_card) : name_(name) {
  hmn_fake::set_host_namespace(tree_);
  tree_.directory("sys/bus/pci/devices");
  if (has_card) hmn_fake::add_pci_device(tree_, hmn_fake::amd_card(card_address));
  script(name == "rocm-smi" ? "exec cat \"$0.out\"" : "exec cat \"$0.$1.out\"");
  hmn::Settings settings;
  settings.proc_root = tree_.proc();
  settings.sys_root = tree_.sys();
  settings.wake_devices = wake;
  settings.rocm_smi_path = settings.amd_smi_path = path();
  source_ = name == "rocm-smi" ? hmn::make_rocm_smi(settings) : hmn::make_amd_smi(settings);
}

void Machine::print(const std::string& question, std::string_view text) const {
  tree_.write("tool/" + name_ + (question.empty() ? "" : "." + question) + ".out", text);
}

void Machine::script(const std::string& body) const {
  const std::string file = "tool/" + name_;
  tree_.script(file, "echo \"$*\" >>\"$0.log\"\n" + body);
}

std::vector<std::string> Machine::starts() const {
  std::vector<std::string> all;
  std::ifstream log(path() + ".log");
  for (std::string line; std::getline(log, line);) all.push_back(line);
  return all;
}

hmn::Result<std::vector<hmn::Device>> Machine::devices(PlainReading& reading) {
  const auto ready = source_->prepare(reading);
  if (!ready && ready.failure().code != hmn::Status::asleep) return ready.failure();
  std::vector<hmn::Device> all;
  const auto result = source_->devices(all, reading);
  if (!result) return result.failure();
  return all;
}

std::string rocm_card(const std::string& members) {
  return R"j({"card0": {"Card series": "Navi 23", "PCI Bus": "0000:0B:00.0", )j" + members + "}}";
}

}  // namespace amd_test
