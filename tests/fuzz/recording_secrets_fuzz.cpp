// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A machine with secrets in all that its sources read, and anything around them: none is in the
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

// Texts of a driver, such as the name of a model, keep their words: secrets in the shape of
// addresses, paths and ids are still found there.
constexpr std::string_view words[] = {"hunter2", "s3cretword", "quillfeather", "hf_Zq8xKv3Lw0Ty"};
constexpr std::string_view places[] = {
    "10.81.92.73",          "fe80::1ff:fe23:4567:890a",
    "0a:1b:2c:3d:4e:5f",    "/srv/people/quillfeather/thesis",
    "quillfeather@tallbox", "5f6d2b1e-0a3c-4d5e-8f90-a1b2c3d4e5f6"};

constexpr std::size_t most_around = 512;  // it is written and read some fifty times
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

bool holds(std::string_view text, std::string_view secret) {
  return text.find(secret) != std::string_view::npos;
}

void promise_without(std::string_view recording, std::string_view secret) {
  const std::size_t at = recording.find(secret);
  const bool has_it = at != recording.npos;
  if (has_it) {
    const std::size_t line = recording.rfind('\n', at) + 1;
    std::fprintf(stderr, "%.*s\n", static_cast<int>(at + secret.size() - line), &recording[line]);
  }
  promise(!has_it);
}

void make_folders_of(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != path.npos; at = path.find('/', at + 1)) {
    ::mkdir(path.substr(0, at).c_str(), 0700);
  }
}

class Tree {
 public:
  Tree() {
    promise(::mkdtemp(folder_.data()) != nullptr);
    for (const auto& [link, target] : links) {
      make_folders_of(at(link));
      promise(::symlink(target, at(link).c_str()) == 0);
    }
    for (const std::string_view file : files_with_words) make_folders_of(at(file));
    for (const std::string_view file : files_with_texts) make_folders_of(at(file));
    for (const std::string_view pid : {"8", "9", "10", "11", "12", "13", "14"}) {
      make_folders_of(at("/proc/" + std::string(pid) + "/"));
    }
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree() {
    const auto remove = [](const char* path, const struct stat*, int, FTW*) {
      return std::remove(path);
    };
    ::nftw(folder_.c_str(), remove, 8, FTW_DEPTH | FTW_PHYS);
  }
  [[nodiscard]] std::string at(std::string_view path) const { return folder_ + std::string(path); }
  [[nodiscard]] Settings roots() const {
    Settings s;
    s.proc_root = at("/proc");
    s.sys_root = at("/sys");
    s.dev_root = at("/dev");
    s.cgroup_root = at("/cgroup");
    return s;
  }
  void read(std::string_view path, std::string_view text) const {
    std::ofstream(at(path), std::ios::binary) << text;
    std::string whole;
    promise(platform::read_whole(at(path).c_str(), whole, 1 << 20).error == 0);
    const std::string folder = at(path.substr(0, path.rfind('/')));
    const auto all = [](std::string_view) { return true; };
    promise(platform::for_each_entry(folder.c_str(), all) == 0);
    promise(platform::for_each_entry(folder.substr(0, folder.rfind('/')).c_str(), all) == 0);
    (void)platform::status_of(at(path).c_str());
  }
  void read_links() const {
    char target[256];
    for (const auto& link : links)
      promise(platform::read_link(at(link[0]).c_str(), target).error == 0);
  }

 private:
  std::string folder_ = "/tmp/quillfeather-XXXXXX";
};

std::string printed;

platform::Outcome print(const platform::Command& /*unused*/) {
  platform::Outcome o;
  o.what = platform::Outcome::Kind::finished;
  o.exit_known = true;
  o.output = printed;
  return o;
}

void run(Recorder& r, const std::string& program, std::string_view option, std::string text) {
  platform::Command c;
  c.path = program;
  c.arguments = {std::string(option)};
  printed = std::move(text);
  (void)r.answers()->run(c, print);
}

// Bytes of the input may not make up the secret, nor belong to its word.
std::string around(std::string_view input, std::initializer_list<std::string_view> secrets) {
  std::string text(input.substr(0, input.size() / 2));
  for (const std::string_view secret : secrets) text += " " + std::string(secret);
  return text + " " + std::string(input.substr(input.size() / 2));
}

void print_all(Recorder& r, const Tree& t, const std::string& anything, const std::string& text) {
  run(r, "/usr/bin/nvidia-smi", "--help", anything);
  run(r, "/srv/people/quillfeather/thesis/nvidia-smi", "--query", anything);
  run(r, t.at("/bin/hunter2"), "--version", anything);
  std::string table = "uuid, pid, process_name\n";
  for (const std::string& title : {"run " + anything, anything, std::string("hunter2"),
                                   std::string("/opt/s3cretword"), std::string("hunter2=1")}) {
    table += "GPU-" + std::string(places[5]) + ", 7, " + title + "\n";
  }
  run(r, "/usr/bin/nvidia-smi", "--format=csv,noheader", table);
  run(r, "/usr/bin/nvidia-smi", "--format=csv", "uuid, name\nGPU-1, " + text);
  run(r, "/usr/bin/nvidia-smi", "--format=csv", "uuid, vbios_version\n" + anything);
  std::string in_json;
  for (const char c : anything) in_json += c == '"' || c == '\\' || c == '\0' ? ' ' : c;
  run(r, "/opt/rocm/bin/amd-smi", "--json",
      R"({"note": ")" + in_json + R"(", "name": "run )" + in_json + R"(", "serial": ")" + in_json +
          R"(", "name": "hunter2", "PID7": "s3cretword, 1, 2, 3, 4)" + R"(", "market_name": ")" +
          std::string(places[0]) + R"("})" + in_json);
}

// What a source that reads no files has reported.
void report(Recorder& r, const std::string& text, const std::string& anything) {
  Device d;
  d.name.assign(text);
  d.uuid.assign("GPU-" + std::string(places[5]));
  d.driver_version.assign(text);
  r.reported()->listed({d});
  r.reported()->reported(d.number, failed(Status::backend, text), Pools());
  Usage row;
  row.pid = 7;
  row.name = row.command = row.container = anything;
  r.reported()->reported(d.number, Result<void>(), std::vector<Usage>{row});
  r.reported()->refused(failed(Status::no_source, text));
}

// With what is written as digits, for it is no text, as it was.
std::string with_bytes(std::string out) {
  constexpr std::string_view key = R"("hex":")";
  for (std::size_t at = out.find(key); at != out.npos; at = out.find(key, at)) {
    at += key.size();
    std::string bytes;
    for (; out[at] != '"'; at += 2)
      bytes += static_cast<char>(std::stoi(out.substr(at, 2), nullptr, 16));
    out += bytes;
  }
  return out;
}

}  // namespace

void fuzz(std::string_view input) {
  input = input.substr(0, most_around);
  for (const std::string_view secret : words) {
    if (holds(input, secret)) return;
  }
  for (const std::string_view secret : places) {
    if (holds(input, secret)) return;
  }
  static const Tree there;
  const std::string text =
      around(input, {places[0], places[1], places[2], places[3], places[4], places[5]});
  const std::string anything = around(text, {words[0], words[1], words[2], words[3]});
  const std::string title = "run: " + anything;
  Recorder r(there.roots());
  {
    const platform::OverrideScope scope(r.answers().get());
    for (const std::string_view file : files_with_words) there.read(file, anything);
    for (const std::string_view file : files_with_texts) there.read(file, text);
    there.read("/proc/7/cmdline", title);
    there.read("/proc/7/stat", "7 (" + title + ") S 1 7");
    there.read("/proc/8/cmdline", "/usr/bin/run " + anything);
    there.read("/proc/8/stat", "8 (run) S 1 8");
    there.read("/proc/9/cmdline", std::string("run") + '\0' + anything);
    there.read("/proc/10/cmdline", "quillfeather's run");
    there.read("/proc/10/stat", "10 (run) S 1 10");
    there.read("/proc/11/cmdline", std::string("quillfeather@tallbox: run") + '\0' + '\0');
    there.read("/proc/11/stat", "11 (run) S 1 11");
    // Titles without the name of the program, as setproctitle writes them.
    for (const std::string_view pid : {"12", "13", "14"}) {
      there.read("/proc/" + std::string(pid) + "/stat", std::string(pid) + " (python3) S 1 7");
    }
    there.read("/proc/12/cmdline", anything);
    there.read("/proc/13/cmdline", "s3cretword");
    there.read("/proc/14/cmdline", std::string("/opt/firm/quillfeather.hunter2\0", 31));
    there.read_links();
    print_all(r, there, anything, text);
  }
  report(r, text, anything);
  std::string out;
  promise(static_cast<bool>(r.text(out)));
  out = with_bytes(std::move(out));
  for (const std::string_view secret : words) promise_without(out, secret);
  for (const std::string_view secret : places) promise_without(out, secret);
}
