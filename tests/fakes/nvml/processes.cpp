// SPDX-License-Identifier: MIT OR Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>

#include "driver.hpp"

namespace fake_nvml {
namespace {

// Returns the current number of rows: a list may grow with each request.
unsigned count_rows(const ProcessList& list) {
  const auto total = static_cast<unsigned>(list.rows.size());
  if (list.late_rows == 0) return total;
  const auto request = list.request_count.fetch_add(1);
  const auto arrived = std::min<unsigned long long>(1ULL * request * list.grow_by, list.late_rows);
  return total - list.late_rows + static_cast<unsigned>(arrived);
}

// The three layouts are prefixes of one another.
template <unsigned Layout>
void write_prefixes(const ProcessList& list, unsigned count, void* target) {
  auto* bytes = static_cast<unsigned char*>(target);
  for (unsigned i = 0; i < count; ++i, bytes += Layout) std::memcpy(bytes, &list.rows[i], Layout);
}

void write_rows(const ProcessList& list, unsigned count, unsigned layout, void* target) {
  if (layout == sizeof(ProcessV1)) return write_prefixes<sizeof(ProcessV1)>(list, count, target);
  if (layout == sizeof(ProcessV2)) return write_prefixes<sizeof(ProcessV2)>(list, count, target);
  write_prefixes<sizeof(ProcessDetail)>(list, count, target);
}

Status answer_list(const ProcessList& list, unsigned layout, unsigned* count, void* rows) {
  if (!count) return error_invalid_argument;
  if (list.result != success) return list.result;
  const auto present = count_rows(list);
  const auto claimed = list.claim.value_or(present);
  const auto capacity = *count;
  if (list.always_insufficient || claimed > capacity) {
    write_value(count, list.always_insufficient && claimed <= capacity ? capacity + 1 : claimed);
    if (list.fill_when_insufficient && rows)
      write_rows(list, std::min(present, capacity), layout, rows);
    return error_insufficient_size;
  }
  if (claimed > 0 && !rows) return error_invalid_argument;
  write_rows(list, std::min(present, claimed), layout, rows);
  if (current_lie.lie == Lie::all_bits) distort(rows, std::min(present, claimed) * layout);
  *count = claimed;
  if (current_lie.lie != Lie::all_bits) write_value(count, claimed);
  return success;
}

Status list_processes(Call function, DeviceHandle handle, ListKind kind, unsigned generation,
                      unsigned* count, void* rows) {
  return with_device(function, handle, [&](const Device& target, Visit& visit) {
    const auto& list = target.lists[kind];
    if (!list) return error_not_supported;
    return answer_list(*list, visit.scene().layout[generation], count, rows);
  });
}

unsigned long long sample_time(const UtilizationSample& sample) {
  using namespace std::chrono;
  if (sample.time_us) return *sample.time_us;
  const auto now = system_clock::now().time_since_epoch() - milliseconds(sample.age_ms);
  return static_cast<unsigned long long>(duration_cast<microseconds>(now).count());
}

// Both utilisation calls: NOT_FOUND when nothing is newer than the caller's last sample.
template <class Write>
Status newer_samples(const Device& target, unsigned long long last_seen_us, unsigned* count,
                     bool has_capacity, Write write) {
  if (target.samples.result != success) return target.samples.result;
  unsigned newer = 0;
  for (const auto& sample : target.samples.value) newer += sample_time(sample) > last_seen_us;
  if (newer == 0) {
    *count = 0;
    return error_not_found;
  }
  if (!has_capacity || *count < newer) {
    *count = newer;
    return error_insufficient_size;
  }
  *count = 0;
  unsigned written_count = 0;
  for (const auto& sample : target.samples.value)
    if (sample_time(sample) > last_seen_us && written_count < newer) write(written_count++, sample);
  write_value(count, written_count);
  return success;
}

// Like the kernel module, searches ended processes first, one per PID, then the running
// ones.
const Account* find_account(const Device& device, unsigned pid) {
  for (const bool is_running : {false, true}) {
    for (const Account& account : device.accounts)
      if (account.pid == pid && account.is_running == is_running) return &account;
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

#define FAKE_NVML_LIST(name, kind, generation)                                     \
  FAKE_NVML_EXPORT Status name(DeviceHandle handle, unsigned* count, void* rows) { \
    return list_processes(Call::name, handle, kind, generation, count, rows);      \
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

FAKE_NVML_EXPORT Status nvmlDeviceGetRunningProcessDetailList(DeviceHandle handle,
                                                              ProcessDetailList* list) {
  return with_device(
      Call::nvmlDeviceGetRunningProcessDetailList, handle, [&](const Device& target, Visit&) {
        if (!list) return error_invalid_argument;
        if (list->version != process_detail_list_version) return error_argument_version_mismatch;
        if (list->mode > mps_list) return error_invalid_argument;
        const auto& processes = target.lists[list->mode];
        if (!processes) return error_not_supported;
        return answer_list(*processes, sizeof(ProcessDetail), &list->count, list->rows);
      });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAccountingMode(DeviceHandle handle, unsigned* mode) {
  return read_member(Call::nvmlDeviceGetAccountingMode, handle, mode, &Device::accounting_mode);
}

FAKE_NVML_EXPORT Status nvmlDeviceGetAccountingStats(DeviceHandle handle, unsigned pid,
                                                     AccountingStats* stats) {
  return with_device(Call::nvmlDeviceGetAccountingStats, handle, [&](const Device& target, Visit&) {
    if (!stats) return error_invalid_argument;
    if (target.accounting_mode.result != success) return target.accounting_mode.result;
    if (target.accounting_mode.value == 0) return error_not_supported;
    const Account* const account = find_account(target, pid);
    if (!account) return error_not_found;
    *stats = {};
    stats->gpu = stats->memory = 12;
    stats->most_memory = account->most_memory;
    stats->start_us = account->start_us.value_or(now_us());
    stats->time_ms = account->is_running ? 0 : 1;
    stats->is_running = account->is_running;
    distort(stats, sizeof *stats);
    return success;
  });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetProcessUtilization(DeviceHandle handle, ProcessSample* rows,
                                                        unsigned* count,
                                                        unsigned long long last_seen_us) {
  return with_device(Call::nvmlDeviceGetProcessUtilization, handle,
                     [&](const Device& target, Visit&) {
                       if (!count) return error_invalid_argument;
                       return newer_samples(
                           target, last_seen_us, count, rows != nullptr,
                           [&](unsigned i, const UtilizationSample& sample) {
                             write_value(&rows[i], {sample.pid, sample_time(sample), sample.sm,
                                                    sample.memory, sample.encoder, sample.decoder});
                           });
                     });
}

FAKE_NVML_EXPORT Status nvmlDeviceGetProcessesUtilizationInfo(DeviceHandle handle,
                                                              ProcessSampleList* list) {
  return with_device(
      Call::nvmlDeviceGetProcessesUtilizationInfo, handle, [&](const Device& target, Visit&) {
        if (!list) return error_invalid_argument;
        if (list->version != process_sample_list_version) return error_argument_version_mismatch;
        return newer_samples(target, list->last_seen_us, &list->count, list->rows != nullptr,
                             [&](unsigned i, const UtilizationSample& sample) {
                               list->rows[i] = {sample_time(sample), sample.pid,     sample.sm,
                                                sample.memory,       sample.encoder, sample.decoder,
                                                sample.jpeg,         sample.ofa};
                             });
      });
}
