// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/kept_words.hpp"

#include <array>
#include <string>

namespace hmn::simulated {
namespace {

// Words of kernels, drivers and tools that a reading may depend on, in lower case, without digits
// at their ends; by the first letter.
constexpr std::array<std::string_view, 26> by_letter = {
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
    " jpeg json junction ",
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
    "showvoltage shutdown simd simpledrm size sku slice slot slots slowdown sm smaps smi smp "
    "soc socclk socket soft space speed sriov start stat state static statm status sub subsys "
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

constexpr std::size_t longest = 24;

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return out;
}

bool is_kept_word(std::string_view word) {
  if (word.size() < 2) return true;
  if (word.size() > longest) return false;
  const std::string sought = " " + lower(word) + " ";
  const auto letter = static_cast<unsigned char>(sought[1] - 'a');
  return letter < by_letter.size() && by_letter[letter].find(sought) != std::string_view::npos;
}

}  // namespace hmn::simulated
