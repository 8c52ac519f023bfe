// SPDX-License-Identifier: MIT OR Apache-2.0
// Fake /proc and /sys trees in a temporary directory. The caller gives every value.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hmn_fake {

// A new directory below the system's temporary one, removed with its contents at the end.
class Tree {
 public:
  Tree();
  ~Tree();
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  const std::filesystem::path& root() const { return root_; }
  std::string proc() const { return (root_ / "proc").string(); }
  std::string sys() const { return (root_ / "sys").string(); }
  std::string path(std::string_view relative) const { return (root_ / relative).string(); }

  // Parents are made as needed; an existing file or link is replaced.
  void write(std::string_view relative, std::string_view text) const;
  void link(std::string_view relative, const std::string& target) const;
  void directory(std::string_view relative) const;
  void remove(std::string_view relative) const;
  void mode(std::string_view relative, unsigned permissions) const;
  // A program: a shell script.
  void script(std::string_view relative, std::string_view body) const;

 private:
  std::filesystem::path root_;
};

struct StatLine {
  std::string comm = "fake";
  char state = 'S';
  std::uint32_t parent = 1;
  std::uint32_t flags = 0x400000;
  std::uint64_t user_ticks = 0, system_ticks = 0;
  std::uint32_t threads = 1;
  std::uint64_t start_ticks = 0;  // since boot, in clock ticks
  std::uint64_t virtual_bytes = 0;
  std::int64_t resident_pages = 0;
};

struct StatmLine {  // all in pages
  std::uint64_t size = 0, resident = 0, shared = 0, text = 0, data = 0;
};

struct StatusText {  // sizes in KiB; one that is left out has no line
  std::string name = "fake";
  char state = 'S';
  std::uint32_t tgid = 0, ppid = 1;
  std::uint32_t uid = 1000;
  std::vector<std::uint32_t> namespace_pids;
  std::optional<std::uint64_t> peak, size, high_water, resident, anonymous, file, shared, swap,
      page_tables;
  std::uint32_t threads = 1;
};

struct SmapsRollupText {  // in KiB
  std::uint64_t rss = 0, pss = 0, pss_anon = 0, pss_file = 0, pss_shmem = 0, shared_clean = 0,
                shared_dirty = 0, private_clean = 0, private_dirty = 0, anonymous = 0, swap = 0,
                swap_pss = 0;
};

std::string format_text(std::uint32_t pid, const StatLine& values);
std::string format_text(const StatmLine& values);
std::string format_text(const StatusText& values);
std::string format_text(const SmapsRollupText& values);

// Each member that is set becomes a file of /proc/<pid>. Texts are written unchanged,
// so that a test can use a recorded or a malformed file.
struct Process {
  std::uint32_t pid = 0;
  std::optional<std::string> comm, cmdline, stat, statm, status, smaps_rollup, cgroup, environ;
  std::map<int, std::string> descriptors;      // number to target, such as "/dev/nvidia-uvm"
  std::map<int, std::string> fdinfo;           // number to text
  std::optional<std::uint64_t> pid_namespace;  // inode in ns/pid
  std::optional<std::string> executable;
};

void add_process(const Tree& tree, const Process& values);

// A plausible process from few values, in 4 KiB pages: comm, cmdline, stat, statm, status.
Process simple_process(std::uint32_t pid, const std::string& comm, std::uint64_t start_ticks,
                       std::uint64_t resident_pages);

// /proc/self, a link as in the real one.
void set_self(const Tree& tree, std::uint32_t pid);

struct Meminfo {  // in KiB; one that is left out has no line
  std::optional<std::uint64_t> total, free, available, buffers, cached, swap_total, swap_free,
      shmem, huge_page_size, huge_pages_total, huge_pages_free;
};

void set_meminfo(const Tree& tree, const Meminfo& values);
void set_boot_time(const Tree& tree, std::uint64_t unix_seconds);
void set_pid_namespace(const Tree& tree, std::uint32_t pid, std::uint64_t inode);

// One line of /proc/<pid>/mountinfo each; `pid` may be "self" where no link was made.
struct Mount {
  std::string root = "/", point, type, source, super_options = "rw";
};

// Puts the caller into the host's PID namespace.
void set_host_namespace(const Tree& tree);
void set_mountinfo(const Tree& tree, std::string_view pid, const std::vector<Mount>& mounts);

// /proc/<pid>/cgroup is the caller's text. These write the controllers' files below sys/fs/cgroup.
void set_cgroup_v2(const Tree& tree, std::string_view group,
                   const std::map<std::string, std::string>& files);
void set_cgroup_v1(const Tree& tree, std::string_view controller, std::string_view group,
                   const std::map<std::string, std::string>& files);

struct PciDevice {
  std::string address;  // 0000:01:00.0
  std::uint16_t vendor = 0x10de, device = 0;
  std::uint32_t device_class = 0x030200;
  std::optional<std::uint16_t> subsystem_vendor, subsystem_device;
  std::optional<std::string> power_control;  // on, auto
  std::optional<std::string>
      runtime_status;                      // active, suspended, suspending, resuming, unsupported
  std::optional<std::string> power_state;  // D0, D3hot, D3cold
  std::optional<std::string> driver;       // name below bus/pci/drivers
  std::optional<int> numa_node;
  std::vector<std::string> drm_nodes;        // card0, renderD128
  std::map<std::string, std::string> files;  // any other, by name
};

// An AMD card that is awake, bound to amdgpu.
PciDevice amd_card(std::string_view address);
// The real layout: sys/devices/pci…/<address>, with links from bus/pci/devices and class/drm.
void add_pci_device(const Tree& tree, const PciDevice& values);
std::string pci_folder(std::string_view address);

struct NvidiaInformation {
  std::string address, model = "NVIDIA Fake GPU", uuid, video_bios = "95.02.66.00.01",
                       bus_type = "PCIe", firmware = "550.163.01";
  unsigned minor = 0, irq = 0;
  bool excluded = false;
};

// proc/driver/nvidia/gpus/<address>/information
void add_nvidia_information(const Tree& tree, const NvidiaInformation& values);
void set_nvidia_power(const Tree& tree, std::string_view address, std::string_view text);
// proc/driver/nvidia/version
void set_nvidia_version(const Tree& tree, std::string_view version);

}  // namespace hmn_fake
