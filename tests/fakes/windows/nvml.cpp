// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An nvml.dll with one card of WDDM, or of TCC with HMN_FAKE_NVML_TCC. HMN_FAKE_NVML_PLANTED: a
// file that is made when it is loaded. HMN_FAKE_NVML_HANG: the function that never ends.
#include <windows.h>

#include <cstdio>
#include <cstring>

#include "rows.hpp"

namespace {

constexpr int success = 0;
constexpr int not_supported = 3;
constexpr unsigned long long gib = 1ULL << 30;
constexpr unsigned long long not_available = ~0ULL;

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char bus_id[32];
};
struct MemoryV1 {
  unsigned long long total, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

bool is_tcc() {
  return fake::setting("HMN_FAKE_NVML_TCC") != 0;
}

void hang_if_selected(const char* function) {
  const char* const function_name = std::getenv("HMN_FAKE_NVML_HANG");
  if (function_name != nullptr && std::strcmp(function_name, function) == 0) Sleep(INFINITE);
}

int write_text(char* out, unsigned capacity, const char* text) {
  std::snprintf(out, capacity, "%s", text);
  return success;
}

}  // namespace

#define NVML extern "C" __declspec(dllexport) int

NVML nvmlInit_v2() {
  hang_if_selected(__func__);
  return success;
}
NVML nvmlShutdown() {
  return success;
}
NVML nvmlSystemGetDriverVersion(char* out, unsigned capacity) {
  return write_text(out, capacity, "536.23");
}
NVML nvmlDeviceGetCount_v2(unsigned* out) {
  *out = 1;
  return success;
}
NVML nvmlDeviceGetHandleByIndex_v2(unsigned, void** out) {
  static int card;
  *out = &card;
  return success;
}
NVML nvmlDeviceGetName(void*, char* out, unsigned capacity) {
  return write_text(out, capacity, "NVIDIA GeForce RTX 4070");
}
NVML nvmlDeviceGetUUID(void*, char* out, unsigned capacity) {
  return write_text(out, capacity, "GPU-00000000-1111-2222-3333-444444444444");
}
NVML nvmlDeviceGetPciInfo_v3(void*, PciInfo* out) {
  std::memset(out, 0, sizeof *out);
  out->bus = 1;
  out->ids = 0x278610de;
  out->subsystem = 0x40fa1458;
  std::strcpy(out->legacy, "0000:01:00.0");
  std::strcpy(out->bus_id, "00000000:01:00.0");
  return success;
}
NVML nvmlDeviceGetMemoryInfo(void*, MemoryV1* out) {
  hang_if_selected(__func__);
  *out = {12 * gib, 11 * gib, gib};
  return success;
}
NVML nvmlDeviceGetTemperature(void*, unsigned, unsigned* out) {
  hang_if_selected(__func__);
  *out = 47;
  return success;
}
NVML nvmlDeviceGetDriverModel(void*, unsigned* current, unsigned* pending) {
  *current = *pending = is_tcc() ? 1 : 0;
  return success;
}
NVML nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* out) {
  const unsigned capacity = *count;
  *count = 1;
  if (capacity < 1) return 7;
  out[0] = {4321, is_tcc() ? gib / 2 : not_available, ~0U, ~0U};
  return success;
}
NVML nvmlDeviceGetGraphicsRunningProcesses_v3(void*, unsigned*, Process*) {
  return not_supported;
}

BOOL WINAPI DllMain(HINSTANCE, DWORD reason, void*) {
  const char* const path = std::getenv("HMN_FAKE_NVML_PLANTED");
  if (reason == DLL_PROCESS_ATTACH && path != nullptr) {
    if (std::FILE* file = std::fopen(path, "w")) std::fclose(file);
  }
  return TRUE;
}
