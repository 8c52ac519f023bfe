// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Secrets in all files and outputs that sources read, surrounded by any bytes, never appear in the
// recording.
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "backends/simulated/recorder.hpp"
#include "fuzz.hpp"
#include "platform/system_override.hpp"

using namespace hmn;
using simulated::Recorder;

namespace {

// Texts of a driver, such as the name of a model, keep their words; only secrets that look like
// addresses, paths or ids are removed there.
constexpr std::string_view words[] = {"hunter2", "s3cretword", "quillfeather", "hf_Zq8xKv3Lw0Ty"};
constexpr std::string_view places[] = {
    "10.81.92.73",          "fe80::1ff:fe23:4567:890a",
    "0a:1b:2c:3d:4e:5f",    "/srv/people/quillfeather/thesis",
    "quillfeather@tallbox", "5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6"};

constexpr std::size_t max_input_size = 512;  // it is written and read some fifty times
constexpr std::string_view files_with_words[] = {
    "/proc/meminfo",
    "/proc/stat",
    "/proc/7/cgroup",
    "/proc/7/environ",
    "/proc/7/fdinfo/5",
    "/proc/7/maps",
    "/proc/7/mountinfo",
    "/proc/7/smaps_rollup",
    "/proc/7/status",
    "/proc/modules",
    "/sys/class/drm/card0/device/mem_info_vram_total",
    "/sys/class/drm/card0/device/uevent",
    "/sys/class/kfd/kfd/topology/nodes/1/properties",
    "/sys/kernel/debug/nvmap/iovmm/clients",
    "/cgroup/quillfeather.slice/hunter2/cgroup.subtree_control",
    "/cgroup/quillfeather.slice/hunter2/dmem.current",
    "/cgroup/quillfeather.slice/hunter2/memory.stat",
    "/etc/passwd"};
constexpr std::string_view files_with_texts[] = {
    "/proc/driver/nvidia/gpus/0000:01:00.0/information",
    "/proc/driver/nvidia/version",
    "/sys/class/drm/card0/device/hwmon/hwmon4/fan1_label",
    "/sys/class/drm/card0/device/hwmon/hwmon4/name",
    "/sys/class/drm/card0/device/product_name",
    "/sys/class/drm/card0/device/serial_number",
    "/sys/class/thermal/thermal_zone0/type",
    "/sys/firmware/devicetree/base/compatible"};
constexpr const char* links[][2] = {{"/proc/7/fd/6", "/media/quillfeather/s3cretword"},
                                    {"/proc/7/fd/7", "socket:[fe80::1ff:fe23:4567:890a]"},
                                    {"/proc/7/exe", "/srv/people/quillfeather/thesis/run"},
                                    {"/dev/dri/by-path", "/srv/people/quillfeather/thesis"}};

bool contains(std::string_view text, std::string_view secret) {
  return text.find(secret) != std::string_view::npos;
}

void promise_without(std::string_view recording, std::string_view secret) {
  const std::size_t position = recording.find(secret);
  const bool is_leaked = position != recording.npos;
  if (is_leaked) {
    const std::size_t line = recording.rfind('\n', position) + 1;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(position + secret.size() - line),
                 &recording[line]);
  }
  promise(!is_leaked);
}

void make_parent_folders(const std::string& path) {
  for (std::size_t position = path.find('/', 1); position != path.npos;
       position = path.find('/', position + 1)) {
    ::mkdir(path.substr(0, position).c_str(), 0700);
  }
}

class SecretTree {
 public:
  SecretTree() {
    promise(::mkdtemp(folder_.data()) != nullptr);
    for (const auto& [link, target] : links) {
      make_parent_folders(full_path(link));
      promise(::symlink(target, full_path(link).c_str()) == 0);
    }
    for (const std::string_view file : files_with_words) make_parent_folders(full_path(file));
    for (const std::string_view file : files_with_texts) make_parent_folders(full_path(file));
    for (const std::string_view pid : {"8", "9", "10", "11", "12", "13", "14"}) {
      make_parent_folders(full_path("/proc/" + std::string(pid) + "/"));
    }
  }
  SecretTree(const SecretTree&) = delete;
  SecretTree& operator=(const SecretTree&) = delete;
  ~SecretTree() {
    const auto remove = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    ::nftw(folder_.c_str(), remove, 8, FTW_DEPTH | FTW_PHYS);
  }
  [[nodiscard]] std::string full_path(std::string_view path) const {
    return folder_ + std::string(path);
  }
  [[nodiscard]] Settings roots() const {
    Settings settings;
    settings.proc_root = full_path("/proc");
    settings.sys_root = full_path("/sys");
    settings.dev_root = full_path("/dev");
    settings.cgroup_root = full_path("/cgroup");
    return settings;
  }
  void read(std::string_view path, std::string_view text) const {
    std::ofstream(full_path(path), std::ios::binary) << text;
    std::string content;
    promise(platform::read_whole(full_path(path).c_str(), content, 1 << 20).error == 0);
    const std::string folder = full_path(path.substr(0, path.rfind('/')));
    const auto all = [](std::string_view) { return true; };
    promise(platform::for_each_entry(folder.c_str(), all) == 0);
    promise(platform::for_each_entry(folder.substr(0, folder.rfind('/')).c_str(), all) == 0);
    (void)platform::read_status(full_path(path).c_str());
  }
  void read_links() const {
    char target[256];
    for (const auto& link : links)
      promise(platform::read_link(full_path(link[0]).c_str(), target).error == 0);
  }

 private:
  std::string folder_ = "/tmp/quillfeather-XXXXXX";
};

std::string program_output;

platform::Outcome print_output(const platform::Command& /*unused*/) {
  platform::Outcome outcome;
  outcome.kind = platform::Outcome::Kind::finished;
  outcome.has_exit_status = true;
  outcome.output = program_output;
  return outcome;
}

void run(Recorder& recorder, const std::string& program, std::string_view option,
         std::string text) {
  platform::Command command;
  command.path = program;
  command.arguments = {std::string(option)};
  program_output = std::move(text);
  (void)recorder.recording()->run(command, print_output);
}

// Separates the secrets from the input, so that its bytes do not join their words.
std::string surround(std::string_view input, std::initializer_list<std::string_view> secrets) {
  std::string text(input.substr(0, input.size() / 2));
  for (const std::string_view secret : secrets) text += " " + std::string(secret);
  return text + " " + std::string(input.substr(input.size() / 2));
}

void print_all(Recorder& recorder, const SecretTree& tree, const std::string& secret_text,
               const std::string& text) {
  run(recorder, "/usr/bin/nvidia-smi", "--help", secret_text);
  run(recorder, "/srv/people/quillfeather/thesis/nvidia-smi", "--query", secret_text);
  run(recorder, tree.full_path("/bin/hunter2"), "--version", secret_text);
  std::string table = "uuid, pid, process_name\n";
  for (const std::string& title : {"run " + secret_text, secret_text, std::string("hunter2"),
                                   std::string("/opt/s3cretword"), std::string("hunter2=1")}) {
    table += "GPU-" + std::string(places[5]) + ", 7, " + title + "\n";
  }
  run(recorder, "/usr/bin/nvidia-smi", "--format=csv,noheader", table);
  run(recorder, "/usr/bin/nvidia-smi", "--format=csv", "uuid, name\nGPU-1, " + text);
  run(recorder, "/usr/bin/nvidia-smi", "--format=csv", "uuid, vbios_version\n" + secret_text);
  std::string json_text;
  for (const char c : secret_text) json_text += c == '"' || c == '\\' || c == '\0' ? ' ' : c;
  run(recorder, "/opt/rocm/bin/amd-smi", "--json",
      R"({"note": ")" + json_text + R"(", "name": "run )" + json_text + R"(", "serial": ")" +
          json_text + R"(", "name": "hunter2", "PID7": "s3cretword, 1, 2, 3, 4)" +
          R"(", "market_name": ")" + std::string(places[0]) + R"("})" + json_text);
}

// Records the reports of a source that reads no files.
void report(Recorder& recorder, const std::string& text, const std::string& secret_text) {
  Device device;
  device.name.assign(text);
  device.uuid.assign("GPU-" + std::string(places[5]));
  device.driver_version.assign(text);
  recorder.device_recording()->record_devices({device});
  recorder.device_recording()->record(device.slot, make_failure(Status::backend, text), PoolList());
  Usage row;
  row.pid = 7;
  row.name = row.command = row.container = secret_text;
  recorder.device_recording()->record(device.slot, Result<void>(), std::vector<Usage>{row});
  recorder.device_recording()->record_open_failure(make_failure(Status::no_source, text));
}

// Appends the bytes of each value that is written in hexadecimal digits.
std::string decode_bytes(std::string recording) {
  constexpr std::string_view key = R"("hex":")";
  for (std::size_t position = recording.find(key); position != recording.npos;
       position = recording.find(key, position)) {
    position += key.size();
    std::string bytes;
    for (; recording[position] != '"'; position += 2)
      bytes += static_cast<char>(std::stoi(recording.substr(position, 2), nullptr, 16));
    recording += bytes;
  }
  return recording;
}

}  // namespace

void fuzz(std::string_view input) {
  input = input.substr(0, max_input_size);
  for (const std::string_view secret : words) {
    if (contains(input, secret)) return;
  }
  for (const std::string_view secret : places) {
    if (contains(input, secret)) return;
  }
  static const SecretTree tree;
  const std::string text =
      surround(input, {places[0], places[1], places[2], places[3], places[4], places[5]});
  const std::string secret_text = surround(text, {words[0], words[1], words[2], words[3]});
  const std::string title = "run: " + secret_text;
  Recorder recorder(tree.roots());
  {
    const platform::OverrideScope scope(recorder.recording().get());
    for (const std::string_view file : files_with_words) tree.read(file, secret_text);
    for (const std::string_view file : files_with_texts) tree.read(file, text);
    tree.read("/proc/7/cmdline", title);
    tree.read("/proc/7/stat", "7 (" + title + ") S 1 7");
    tree.read("/proc/8/cmdline", "/usr/bin/run " + secret_text);
    tree.read("/proc/8/stat", "8 (run) S 1 8");
    tree.read("/proc/9/cmdline", std::string("run") + '\0' + secret_text);
    tree.read("/proc/10/cmdline", "quillfeather's run");
    tree.read("/proc/10/stat", "10 (run) S 1 10");
    tree.read("/proc/11/cmdline", std::string("quillfeather@tallbox: run") + '\0' + '\0');
    tree.read("/proc/11/stat", "11 (run) S 1 11");
    // Titles without the name of the program, as setproctitle writes them.
    for (const std::string_view pid : {"12", "13", "14"}) {
      tree.read("/proc/" + std::string(pid) + "/stat", std::string(pid) + " (python3) S 1 7");
    }
    tree.read("/proc/12/cmdline", secret_text);
    tree.read("/proc/13/cmdline", "s3cretword");
    tree.read("/proc/14/cmdline", std::string("/opt/firm/quillfeather.hunter2\0", 31));
    tree.read_links();
    print_all(recorder, tree, secret_text, text);
  }
  report(recorder, text, secret_text);
  std::string out;
  promise(static_cast<bool>(recorder.write_machine_file(out)));
  out = decode_bytes(std::move(out));
  for (const std::string_view secret : words) promise_without(out, secret);
  for (const std::string_view secret : places) promise_without(out, secret);
}
