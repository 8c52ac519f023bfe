// SPDX-License-Identifier: MIT OR Apache-2.0
// watch PID: the memory of a process on the host and on each GPU, five times a second until it
// exits, and the GPUs whose memory spilled to the host meanwhile.
#include <cstdlib>
#include <hypomnesis.hpp>
#include <iostream>
#include <map>
#include <thread>

using spill_map = std::map<std::uint32_t, hypomnesis::spill>;

static void observe(spill_map& spills, const hypomnesis::snapshot& snapshot,
                    const std::string& label) {
  for (std::uint32_t i = 0; i < snapshot.info().device_count; ++i) {
    const auto index = snapshot.device(i).index;
    const auto entry = spills.try_emplace(index, hypomnesis::spill::fed({}, index)).first;
    try {
      entry->second.observe(snapshot, label);
    } catch (const hypomnesis::error&) {
      // A detector without values reports that at the end.
    }
  }
}

// One line. Reads all processes, because some drivers report evicted memory per process.
static void sample(const hypomnesis::context& context, std::uint32_t pid, spill_map& spills,
                   unsigned number) {
  const auto host = context.process_memory(pid);
  const auto snapshot = context.take(hypomnesis::part::devices | hypomnesis::part::pools |
                                     hypomnesis::part::processes);
  const auto resident = host.resident_bytes;
  std::cout << "host " << (resident ? hypomnesis::format_bytes(*resident) : "not known");
  for (const auto& usage : snapshot.usages())
    if (usage.pid == pid && usage.used_bytes)
      std::cout << ", GPU " << usage.device_index << ' '
                << hypomnesis::format_bytes(*usage.used_bytes);
  std::cout << std::endl;
  observe(spills, snapshot, "sample " + std::to_string(number));
}

static void print_spills(const spill_map& spills) {
  for (const auto& [index, spill] : spills) {
    const auto info = spill.info();
    std::cout << "GPU " << index << ": ";
    if (info.first_label)
      std::cout << "spilled, first in " << *info.first_label << '\n';
    else
      std::cout << (info.observation_count > 0 ? "did not spill\n"
                                               : "not known whether it spilled\n");
  }
}

int main(int argc, char** argv) {
  const auto pid = argc == 2 ? static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 0;
  if (pid == 0) {
    std::cerr << "usage: watch PID\n";
    return 2;
  }
  spill_map spills;
  unsigned samples = 0;
  bool exited = false;
  try {
    hypomnesis::context_options options;
    options.flags = hypomnesis::context_flag::environment;
    const hypomnesis::context context(options);
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(200))) {
      sample(context, pid, spills, samples + 1);
      ++samples;
    }
  } catch (const hypomnesis::error& e) {
    exited = samples > 0 && e.status() == hypomnesis::status_code::no_process;
    if (!exited) std::cout << e.what() << '\n';
  }
  print_spills(spills);
  return exited ? 0 : 1;
}
