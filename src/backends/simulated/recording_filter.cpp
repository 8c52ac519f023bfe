// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/recording_filter.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "model/character.hpp"
#include "model/message_text.hpp"
#include "model/scan.hpp"

namespace hmn::simulated {
namespace {

// Words of kernels, drivers and tools that a reading may depend on, by first letter, in lower case,
// without digits at their ends.
constexpr std::array<std::string_view, 26> words_by_letter = {
    " able acc accel access accounting accumulated act active activity add addressing after "
    "again aggregate amd amdgpu amdsmi amdxcp amdxdna amount anon answer answers any app "
    "applicable apps arguments asahi asic ast at atombios ats auto autosuspend aux available "
    "average avg awake ",
    " back banks base bcs bdf been besteffort bin bios bits blkio blocked board bochs boot "
    "bound bridge btime build burstable bursts bus busy by bytes ",
    " cache cap capacity capeff caps card cards caught ccs ce cgroup check choice ci cirrus "
    "class clean client clients clk clock clocks cls cma cmdline code column com combination "
    "commitlimit committed communicate compat compatible compute concise conf config conmon "
    "connected container containerd control controllers copy core cores corrected corrupted "
    "could couldn count counter counts cpu cpuacct cpuset cri crio crit critical csd csv ctrl "
    "cu cuda cur curfreq curr current cut cv cycles ",
    " daemon data dbus debian debug debugfs dec decoder deep default defunct delay denied "
    "deprecated descriptor detect determine dev devfreq device devices devicetree devid "
    "devname devtype direct dirty dis disabled disconnected display dma dmem dmesg docker "
    "domain dpm draw dri driver drm dxg dynamic ",
    " ecc edge efi emergency enable enabled enc encoder end energy enforced engine engines "
    "ermission err error errors etnaviv event events evict evicted exception excluded exe "
    "expected ext external ",
    " failed fan fastvmode faux fclk fd fdinfo field file find firmware first fixed flags "
    "folders footprint for found free freezer freq frequency fs full fullname function "
    "functional functionality ",
    " ga10b gart gb gb10b gcc gen generation gfx ghz gid given gk20a gm20b gnu gone gp10b gpu "
    "gpucurrent gpuid gpus gr graphic graphics group groups gt gtt guaranteed guid gv11b ",
    " handle has hbm hdmi heap here hidepid hierarchical hierarchy high hive hmm host hotspot "
    "hugetlb hvf hwmon hwmonx hybrid hyperv hypervisor hz ",
    " iccmax id idle ids igpu imx in ina inactive index info inforom init initialize "
    "initialized ino input install installation insufficient integrated intel interface "
    "internal into invalid invisible io ioctl iovmm irq is isa it its ",
    " job jpeg json junction ",
    " kb kbytes kernel key kfd khz kib known kubepods kubernetes ",
    " label left level levels lib libdrm libexec libnvidia libpod library libs lima limit line "
    "lines link linux list load loaded local location log lost low lower lxc ",
    " machine major management manual mapped market max maxfreq mb mcdm mclk mem memavailable "
    "member memfree meminfo memory memtotal metric metrics mgag mgmt mhz mib mig min minor misc "
    "mismatch missing ml mm mmio mnt modalias mode model modeset modprobe module modules more "
    "mount mounted mountinfo ms msi msm mv mw ",
    " name namespace net nice no noaccess node nodes none not nounits nouveau npu ns nspawn "
    "nspid null numa number numbers nvgpu nvhost nvidia nvidiactl nvmap nvml nvrm nvswitch ",
    " occupancy of off old omap on open operating opt option or orin os ",
    " package page pages panfrost panthor parent part partition pasid path payload pci pcie "
    "pcieport pdev peak pending percent perf perfmon permission permissions persistence pid "
    "pids pkg pl platform pod podman pom pos power powered pp ppt pressure prime prio private "
    "proc process processes procfs prochot procs product profiling program properity "
    "properties pss pstate psys ptrace ptraceable pts purgeable pwm python ",
    " qemu query queues qxl ",
    " radeon rail random ranges ras rated ratl raw rdma read reading ready reason reasons "
    "reboot recognized recover referenced region regions rejected release reload remapped "
    "render renderd report requested required requires reserved reset resetting resident "
    "resuming retired returned rev revision rights ro rockchip rocm rollup root rows rpm rps "
    "rsmi rss run running runs runtime rw ",
    " same sclk scope self sensor sensors serial series service session share shared shm "
    "showbus showclocks showdriverversion showenergycounter showfan showid showmaxpower "
    "showmeminfo showmemuse showpids showpower showproductname showtemp showuniqueid showuse "
    "showvoltage shutdown simd simpledrm size sku slice slot slots slowdown slurm slurmstepd sm "
    "smaps smi smp "
    "soc socclk socket soft space speed sriov start stat state static statm status step sub subsys "
    "subsystem subtree sudo support supported suspend suspended suspending sustained sw swap "
    "swapfree swaptotal switch switched sys sysfs system systemd ",
    " table target task tasks tcc tdc tegra telemetry temp temperature tfu the thermal thor "
    "thread threads throttle throttled throttles through tile time timeout tmpfs to tool "
    "topology total tree try type ",
    " udev udl ue uevent uj umc unable unavailable unbound uncorrected unified unique unit "
    "unix unknown unload unrecognized unspec unsupported unthrottled update usage usb use "
    "used user users usr utilization uuid uvm uw ",
    " v3d valid value values var vbios vboxvideo vc vclk vcn vcs vdd vddboard vddgfx vddnb "
    "vecs vendor version vfio vga vgem video virt virtio vis visible vkms vmhwm vmrss vmsize "
    "vmswap vmwgfx volatile voltage vpe vpu vram vramw vsock ",
    " wait warning was wddm width with wl wow writeback ",
    " xavier xcp xe xid ",
    "  ",
    " zero zombie ",
};

constexpr std::size_t longest_word = 24;

}  // namespace

bool is_known_word(std::string_view word) {
  if (word.size() < 2) return true;
  if (word.size() > longest_word) return false;
  const std::string pattern = " " + lower_case(word) + " ";
  const auto letter = static_cast<unsigned char>(pattern[1] - 'a');
  return letter < words_by_letter.size() &&
         words_by_letter[letter].find(pattern) != std::string_view::npos;
}

namespace {

enum class ContentKind : std::uint8_t {
  known,    // numbers and known words
  plain,    // a text with free words
  all,      // bytes of a driver, public tables
  id,       // one id
  command,  // the program
  process,  // numbers, and the program in parentheses
  mounts,   // those of control groups and proc
};

struct FileRule {
  std::string_view name;  // last part of the path; "_label" is the end of one
  ContentKind content;
};

// Any other file: known.
constexpr FileRule file_rules[] = {
    {"cmdline", ContentKind::command},  {"stat", ContentKind::process},
    {"mountinfo", ContentKind::mounts}, {"unique_id", ContentKind::id},
    {"serial_number", ContentKind::id}, {"uuid", ContentKind::id},
    {"gpu_metrics", ContentKind::all},  {"amdgpu.ids", ContentKind::all},
    {"name", ContentKind::plain},       {"_label", ContentKind::plain},
    {"type", ContentKind::plain},       {"product_name", ContentKind::plain},
    {"compatible", ContentKind::plain}, {"information", ContentKind::plain},
    {"version", ContentKind::plain},
};

ContentKind find_content_kind(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  for (const FileRule& rule : file_rules) {
    if (rule.name.starts_with('_') ? file.ends_with(rule.name) : file == rule.name)
      return rule.content;
  }
  return ContentKind::known;
}

std::string filter_process_stat(Anonymizer& anonymizer, std::string_view stat) {
  const std::string_view comm = find_comm(stat);
  if (comm.empty()) return anonymizer.anonymize_words(stat);
  const auto start = static_cast<std::size_t>(comm.data() - stat.data());
  return compose({anonymizer.anonymize_words(stat.substr(0, start)),
                  anonymizer.anonymize_program(comm, comm),
                  anonymizer.anonymize_words(stat.substr(start + comm.size()))});
}

std::string filter_command_line(Anonymizer& anonymizer, std::string_view cmdline,
                                std::string_view stat) {
  std::string out = anonymizer.anonymize_program(cmdline, find_comm(stat));
  if (cmdline.find('\0') != std::string_view::npos) out += '\0';
  return out;
}

std::string filter_mounts(Anonymizer& anonymizer, std::string_view mountinfo) {
  std::string out;
  while (!mountinfo.empty()) {
    const std::string_view line = scan::take_line(mountinfo);
    const std::size_t type = line.find(" - ");
    if (type == std::string_view::npos) continue;
    const std::string_view rest = line.substr(type + 3);
    if (!rest.starts_with("cgroup") && !rest.starts_with("proc ")) continue;
    out += anonymizer.anonymize_words(line);
    out += '\n';
  }
  return out;
}

// The ids in KFD's properties are decimal.
std::string filter_lines(Anonymizer& anonymizer, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const bool is_id = line.starts_with("unique_id ") || line.starts_with("hive_id ");
    const std::size_t start = is_id ? line.find(' ') + 1 : line.size();
    out += anonymizer.anonymize_words(line.substr(0, start));
    if (is_id) out += anonymizer.anonymize_id(line.substr(start), 10);
  }
  return out;
}

// Keys of a tool's JSON whose values have free words; in lower case.
constexpr std::string_view model_keys[] = {"card series", "device name", "market_name",
                                           "product_name", "card model"};
constexpr std::string_view id_keys[] = {"serial", "unique id", "unique_id"};

// "PID123": "name, cards, memory, SDMA, occupancy" of rocm-smi.
std::string filter_process_row(Anonymizer& anonymizer, std::string_view row) {
  std::size_t end = row.size();
  for (int commas = 0; commas < 4 && end != row.npos; ++commas) {
    end = end == 0 ? row.npos : row.rfind(',', end - 1);
  }
  if (end == row.npos) return anonymizer.anonymize_words(row);
  return compose({anonymizer.anonymize_program(row.substr(0, end), {}),
                  anonymizer.anonymize_words(row.substr(end))});
}

std::string filter_json_value(Anonymizer& anonymizer, std::string_view key,
                              std::string_view value) {
  const auto key_contains = [&](std::string_view word) { return key.find(word) != key.npos; };
  if (std::ranges::find(model_keys, key) != std::end(model_keys))
    return anonymizer.anonymize_free_text(value);
  if (std::ranges::any_of(id_keys, key_contains)) return anonymizer.anonymize_id(value, 16);
  if (key.starts_with("pid") && key.size() > 3) return filter_process_row(anonymizer, value);
  if (key != "name" || value == "N/A") return anonymizer.anonymize_words(value);
  return anonymizer.anonymize_program(value, {});
}

// JSON may be incomplete, or have other lines around it.
std::string filter_json(Anonymizer& anonymizer, std::string_view text) {
  std::string out;
  std::string key;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('"'), text.size());
    out += anonymizer.anonymize_words(text.substr(0, open));
    text.remove_prefix(open);
    if (text.empty()) break;
    std::size_t close = 1;
    while (close < text.size() && text[close] != '"') close += text[close] == '\\' ? 2 : 1;
    if (close >= text.size()) return out + anonymizer.anonymize_words(text);
    const std::string_view word = text.substr(1, close - 1);
    text.remove_prefix(close + 1);
    const std::size_t next = text.find_first_not_of(" \t\r\n");
    const bool is_key = next != text.npos && text[next] == ':';
    if (is_key) key = lower_case(word);
    out += compose(
        {"\"", is_key ? anonymizer.anonymize_words(word) : filter_json_value(anonymizer, key, word),
         "\""});
  }
  return out;
}

std::vector<std::string_view> parse_header(std::string_view line) {
  std::vector<std::string_view> columns;
  if (line.find("uuid") == line.npos || line.find(',') == line.npos) return columns;
  while (!line.empty()) {
    std::string_view cell = scan::take_until(line, ',');
    columns.push_back(scan::take_word(cell));
  }
  return columns;
}

std::string filter_cell(Anonymizer& anonymizer, std::string_view column, bool is_process_table,
                        std::string_view cell) {
  if (!column.ends_with("name")) return anonymizer.anonymize_words(cell);
  const std::string_view name = scan::trim_front(cell);
  if (!is_process_table) return anonymizer.anonymize_free_text(cell);
  if (name.starts_with('[') || name == "N/A" || name == "-")
    return anonymizer.anonymize_words(cell);
  return compose(
      {cell.substr(0, cell.size() - name.size()), anonymizer.anonymize_program(name, {})});
}

// nvidia-smi's table; the last column takes what is left of a line.
std::string filter_table(Anonymizer& anonymizer, std::string_view text) {
  std::string out;
  std::vector<std::string_view> columns;
  bool is_process_table = false;
  while (!text.empty()) {
    const bool has_newline = text.find('\n') != text.npos;
    std::string_view line = scan::take_until(text, '\n');
    if (columns.empty() || std::ranges::count(line, ',') + 1 < std::ssize(columns)) {
      if (columns.empty()) columns = parse_header(line);
      is_process_table = std::ranges::find(columns, "pid") != columns.end();
      out += anonymizer.anonymize_words(line);
    } else {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool is_last = i + 1 == columns.size();
        const std::string_view cell = is_last ? line : scan::take_until(line, ',');
        out += compose(
            {i == 0 ? "" : ",", filter_cell(anonymizer, columns[i], is_process_table, cell)});
      }
    }
    if (has_newline) out += '\n';
  }
  return out;
}

}  // namespace

std::string_view find_comm(std::string_view stat) {
  const std::size_t open = stat.find('(');
  const std::size_t close = stat.rfind(')');
  if (open == stat.npos || close == stat.npos || close < open) return {};
  return stat.substr(open + 1, close - open - 1);
}

std::string filter_text(Anonymizer& anonymizer, std::string_view path, std::string_view text,
                        std::string_view stat) {
  switch (find_content_kind(path)) {
    case ContentKind::plain:
      return anonymizer.anonymize_free_text(text);
    case ContentKind::all:
      return std::string(text);
    case ContentKind::id:
      return anonymizer.anonymize_id(text, 16);
    case ContentKind::command:
      return filter_command_line(anonymizer, text, stat);
    case ContentKind::process:
      return filter_process_stat(anonymizer, text);
    case ContentKind::mounts:
      return filter_mounts(anonymizer, text);
    case ContentKind::known:
      break;
  }
  return filter_lines(anonymizer, text);
}

std::string filter_output(Anonymizer& anonymizer, const platform::RecordedRun& run) {
  const auto has = [&](std::string_view option) {
    return std::ranges::any_of(run.arguments,
                               [&](const std::string& a) { return a.starts_with(option); });
  };
  const std::string& text = run.outcome.output;
  if (has("--format=csv")) return filter_table(anonymizer, text);
  return has("--json") ? filter_json(anonymizer, text) : anonymizer.anonymize_words(text);
}

}  // namespace hmn::simulated
