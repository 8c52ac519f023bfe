// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver.hpp"

namespace fake_nvml {
namespace {

// How many rows the driver knows of now: a list may grow each time that it is asked for.
unsigned present_rows(const ProcessList& list) {
  const auto all = static_cast<unsigned>(list.rows.size());
  if (list.late_rows == 0) return all;
  const auto asked = list.asked.fetch_add(1);
  const auto arrived = std::min<unsigned long long>(1ULL * asked * list.grow_by, list.late_rows);
  return all - list.late_rows + static_cast<unsigned>(arrived);
}

// The three layouts are prefixes of one another.
template <unsigned Layout>
void write_prefixes(const ProcessList& list, unsigned count, void* to) {
  auto* bytes = static_cast<unsigned char*>(to);
  for (unsigned i = 0; i < count; ++i, bytes += Layout) std::memcpy(bytes, &list.rows[i], Layout);
}

void write_rows(const ProcessList& list, unsigned count, unsigned layout, void* to) {
  if (layout == sizeof(ProcessV1)) return write_prefixes<sizeof(ProcessV1)>(list, count, to);
  if (layout == sizeof(ProcessV2)) return write_prefixes<sizeof(ProcessV2)>(list, count, to);
  write_prefixes<sizeof(ProcessDetail)>(list, count, to);
}

Status answer_list(const ProcessList& list, unsigned layout, unsigned* count, void* rows) {
  if (!count) return error_invalid_argument;
  if (list.result != success) return list.result;
  const auto present = present_rows(list);
  const auto claimed = list.claim.value_or(present);
  const auto capacity = *count;
  if (list.always_insufficient || claimed > capacity) {
    put(count, list.always_insufficient && claimed <= capacity ? capacity + 1 : claimed);
    if (list.fill_when_insufficient && rows)
      write_rows(list, std::min(present, capacity), layout, rows);
    return error_insufficient_size;
  }
  if (claimed > 0 && !rows) return error_invalid_argument;
  write_rows(list, std::min(present, claimed), layout, rows);
  if (present_lie.how == Lie::all_bits) distort(rows, std::min(present, claimed) * layout);
  *count = claimed;
  if (present_lie.how != Lie::all_bits) put(count, claimed);
  return success;
}

Status running(Call which, DeviceHandle handle, ListKind kind, unsigned generation, unsigned* count,
               void* rows) {
  return on_device(which, handle, [&](const Device& target, Visit& v) {
    const auto& list = target.lists[kind];
    if (!list) return error_not_supported;
    return answer_list(*list, v.scene().layout[generation], count, rows);
  });
}

unsigned long long time_of(const UtilizationSample& sample) {
  using namespace std::chrono;
  if (sample.time_us) return *sample.time_us;
  const auto now = system_clock::now().time_since_epoch() - milliseconds(sample.age_ms);
  return static_cast<unsigned long long>(duration_cast<microseconds>(now).count());
}

// Both utilisation calls: NOT_FOUND when nothing is newer than the caller's last sample.
template <class Write>
Status newer_samples(const Device& target, unsigned long long last_seen_us, unsigned* count,
                     bool is_capacity_given, Write write) {
  if (target.samples.result != success) return target.samples.result;
  unsigned newer = 0;
  for (const auto& sample : target.samples.value) newer += time_of(sample) > last_seen_us;
  if (newer == 0) {
    *count = 0;
    return error_not_found;
  }
  if (!is_capacity_given || *count < newer) {
    *count = newer;
    return error_insufficient_size;
  }
  *count = 0;
  unsigned written = 0;
  for (const auto& sample : target.samples.value)
    if (time_of(sample) > last_seen_us && written < newer) write(written++, sample);
  put(count, written);
  return success;
}

// As the kernel's module does: among those that have ended first, one for each pid, then among
// those that run.
const Account* account_of(const Device& of, unsigned pid) {
  for (const bool is_running : {false, true}) {
    for (const Account& one : of.accounts)
      if (one.pid == pid && one.is_running == is_running) return &one;
  }
  return nullptr;
}

unsigned long long now_us() {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  return static_cast<unsigned long long>(duration_cast<microseconds>(now).count());
}

}  // namespace
}  // namespace fake_nvml

using namespace fake_nvml;

#define FAKE_NVML_LIST(name, kind, generation)                                \
  FAKE_NVML_EXPORT Status name(DeviceHandle h, unsigned* count, void* rows) { \
    return running(Call::name, h, kind, generation, count, rows);             \
  }
FAKE_NVML_LIST(nvmlDeviceGetComputeRunningProcesses, compute_list, 0)
FAKE_NVML_LIST(nvmlDeviceGetComputeRunningProcesses_v2, compute_list, 1)
FAKE_NVML_LIST(nvmlDeviceGetComputeRunningProcesses_v3, compute_list, 2)
FAKE_NVML_LIST(nvmlDeviceGetGraphicsRunningProcesses, graphics_list, 0)
FAKE_NVML_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, graphics_list, 1)
FAKE_NVML_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, graphics_list, 2)
FAKE_NVML_LIST(nvmlDeviceGetMPSComputeRunningProcesses, mps_list, 0)
FAKE_NVML_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, mps_list, 1)
FAKE_NVML_LIST(nvmlDeviceGetMPSComputeRunningProcesses_v3, mps_list, 2)
#undef FAKE_NVML_LIST

FAKE_NVML_EXPORT Status nvmlDeviceGetRunningProcessDetailList(DeviceHandle h,
                                                              ProcessDetailList* list) {
  return on_device(Call::nvmlDeviceGetRunningProcessDetailList, h,
                   [&](const Device& target, Visit&) {
                     if (!list) return error_invalid_argument;
                     if (list->version != process_detail_list_version)
                       return error_argument_version_mismatch;
                     if (list->mode > mps_list) return error_invalid_argument;
                     const auto& from = target.lists[list->mode];
                     if (!from) return error_not_supported;
                     return answer_list(*from, sizeof(ProcessDetail), &list->count, list->rows);
                   });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAccountingMode(DeviceHandle h, unsigned* mode) {
  return read(Call::nvmlDeviceGetAccountingMode, h, mode, &Device::accounting_mode);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAccountingStats(DeviceHandle h, unsigned pid,
                                                     AccountingStats* to) {
  return on_device(Call::nvmlDeviceGetAccountingStats, h, [&](const Device& target, Visit&) {
    if (!to) return error_invalid_argument;
    if (target.accounting_mode.result != success) return target.accounting_mode.result;
    if (target.accounting_mode.value == 0) return error_not_supported;
    const Account* const found = account_of(target, pid);
    if (!found) return error_not_found;
    *to = {};
    to->gpu = to->memory = 12;
    to->most_memory = found->most_memory;
    to->start_us = found->start_us.value_or(now_us());
    to->time_ms = found->is_running ? 0 : 1;
    to->is_running = found->is_running;
    distort(to, sizeof *to);
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetProcessUtilization(DeviceHandle h, ProcessSample* rows,
                                                        unsigned* count,
                                                        unsigned long long last_seen_us) {
  return on_device(Call::nvmlDeviceGetProcessUtilization, h, [&](const Device& target, Visit&) {
    if (!count) return error_invalid_argument;
    return newer_samples(target, last_seen_us, count, rows != nullptr,
                         [&](unsigned i, const UtilizationSample& s) {
                           put(&rows[i], {s.pid, time_of(s), s.sm, s.memory, s.encoder, s.decoder});
                         });
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetProcessesUtilizationInfo(DeviceHandle h,
                                                              ProcessSampleList* list) {
  return on_device(
      Call::nvmlDeviceGetProcessesUtilizationInfo, h, [&](const Device& target, Visit&) {
        if (!list) return error_invalid_argument;
        if (list->version != process_sample_list_version) return error_argument_version_mismatch;
        return newer_samples(target, list->last_seen_us, &list->count, list->rows != nullptr,
                             [&](unsigned i, const UtilizationSample& s) {
                               list->rows[i] = {time_of(s), s.pid,     s.sm,   s.memory,
                                                s.encoder,  s.decoder, s.jpeg, s.ofa};
                             });
      });
}
