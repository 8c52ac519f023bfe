/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live_test here|namespace|without-nvml: allocates 1 GiB on GPU 0 through libcuda.so.1 and holds
 * what libhypomnesis reports with that and with nvidia-smi.
 */
#define _DEFAULT_SOURCE
#include <dlfcn.h>
#include <hypomnesis.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GIB (1024.0 * 1024.0 * 1024.0)
#define MIB (1024.0 * 1024.0)

static int failed;
static int passed;

static void check(int good, const char* what, double got, double wanted) {
  printf("%s: %s: %.6g, wanted %.6g\n", good ? "ok" : "FAILED", what, got, wanted);
  if (good) {
    ++passed;
  } else {
    ++failed;
  }
}

static void check_near(const char* what, double got, double wanted, double within) {
  check(fabs(got - wanted) <= within, what, got, wanted);
}

static void check_text(const char* what, const char* got, const char* wanted) {
  const int good = strcmp(got, wanted) == 0;
  printf("%s: %s: \"%s\", wanted \"%s\"\n", good ? "ok" : "FAILED", what, got, wanted);
  if (good) {
    ++passed;
  } else {
    ++failed;
  }
}

static void give_up(const char* what) {
  printf("skipped: live: %s\n", what);
  exit(77);
}

/* ---- the driver's own interface, declared as it is documented ---- */

typedef int cuda_init_fn(unsigned flags);
typedef int cuda_device_get_fn(int* device, int ordinal);
typedef int cuda_retain_fn(void** context, int device);
typedef int cuda_set_current_fn(void* context);
typedef int cuda_alloc_fn(unsigned long long* address, size_t bytes);
typedef int cuda_free_fn(unsigned long long address);
typedef int cuda_set_fn(unsigned long long address, unsigned char value, size_t count);
typedef int cuda_bus_id_fn(char* text, int size, int device);

static void* cuda;

static void* cuda_symbol(const char* name) {
  void* found = dlsym(cuda, name);
  if (found == NULL) give_up("libcuda.so.1 lacks a function");
  return found;
}

#define CUDA(type, name) (*(type**)&(void*){cuda_symbol(name)})

static int cuda_device;

static void open_cuda(char* bus_id, int size) {
  cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (cuda == NULL) give_up("libcuda.so.1 is not on this machine");
  void* context = NULL;
  if (CUDA(cuda_init_fn, "cuInit")(0) != 0) give_up("cuInit failed");
  if (CUDA(cuda_device_get_fn, "cuDeviceGet")(&cuda_device, 0) != 0)
    give_up("there is no CUDA device");
  if (CUDA(cuda_bus_id_fn, "cuDeviceGetPCIBusId")(bus_id, size, cuda_device) != 0)
    give_up("no PCI address");
  if (CUDA(cuda_retain_fn, "cuDevicePrimaryCtxRetain")(&context, cuda_device) != 0)
    give_up("no CUDA context");
  if (CUDA(cuda_set_current_fn, "cuCtxSetCurrent")(context) != 0) give_up("no current context");
}

/* ---- nvidia-smi, one field at a time ---- */

static int ask_tool(const char* uuid, const char* field, char* answer, size_t size) {
  char command[512];
  snprintf(command, sizeof command,
           "nvidia-smi --query-gpu=%s --format=csv,noheader,nounits --id=%s 2>/dev/null", field,
           uuid);
  FILE* tool = popen(command, "r");
  if (tool == NULL) return 0;
  answer[0] = '\0';
  if (fgets(answer, (int)size, tool) == NULL) answer[0] = '\0';
  pclose(tool);
  answer[strcspn(answer, "\n")] = '\0';
  return answer[0] != '\0' && strchr(answer, '[') == NULL && strcmp(answer, "N/A") != 0;
}

static void hold_number(const char* uuid, const char* field, int has, double got, double unit,
                        double within) {
  char answer[256];
  if (!ask_tool(uuid, field, answer, sizeof answer)) {
    printf("not told by nvidia-smi: %s (here: %s %.6g)\n", field, has ? "known," : "unknown",
           got / unit);
    return;
  }
  if (!has) {
    check(0, field, NAN, atof(answer));
    return;
  }
  check_near(field, got / unit, atof(answer), within);
}

/* ---- the library ---- */

static hmn_status own_use(hmn_context* context, uint32_t device, double* bytes) {
  hmn_usage usage = {.struct_size = sizeof usage};
  hmn_error error = {.struct_size = sizeof error};
  const hmn_status said = hmn_usage_read_self(context, device, 0, &usage, &error);
  *bytes = (double)usage.used_bytes;
  if (said != HMN_OK) printf("own use: %s: %s\n", hmn_status_name(said), error.message);
  if (said == HMN_OK && (usage.present & HMN_USAGE_HAS_USED) == 0) return HMN_E_EMPTY;
  return said;
}

static void hold_own_use(hmn_context* context, uint32_t device, int must_know) {
  unsigned long long address = 0;
  double before = 0;
  double during = 0;
  double after = 0;
  const hmn_status first = own_use(context, device, &before);
  if (CUDA(cuda_alloc_fn, "cuMemAlloc_v2")(&address, (size_t)GIB) != 0)
    give_up("1 GiB cannot be had");
  CUDA(cuda_set_fn, "cuMemsetD8_v2")(address, 1, (size_t)GIB);
  const hmn_status second = own_use(context, device, &during);
  CUDA(cuda_free_fn, "cuMemFree_v2")(address);
  const hmn_status third = own_use(context, device, &after);
  const int known = first == HMN_OK && second == HMN_OK && third == HMN_OK;
  if (must_know || known) {
    check(known, "own use is known", known, 1);
    check_near("own use rises by (MiB)", (during - before) / MIB, 1024, 64);
    check_near("own use falls by (MiB)", (during - after) / MIB, 1024, 64);
  } else {
    check(second != HMN_OK, "own use is absent, not 0", (double)second, (double)first);
  }
}

static void hold_device(hmn_context* context, uint32_t index, int with_nvml) {
  hmn_device device = {.struct_size = sizeof device};
  hmn_pool pool = {.struct_size = sizeof pool};
  hmn_telemetry telemetry = {.struct_size = sizeof telemetry};
  hmn_error error = {.struct_size = sizeof error};
  char answer[256];
  if (hmn_device_read(context, index, 0, &device, &error) != HMN_OK) {
    printf("FAILED: %s\n", error.message);
    ++failed;
    return;
  }
  printf("device %u: %s, %s, driver %s, backend %s\n", index, device.name, device.uuid,
         device.driver_version, hmn_backend_name(device.backend));
  check(device.backend == (with_nvml ? HMN_BACKEND_NVML : HMN_BACKEND_NVIDIA_SMI), "backend",
        device.backend, with_nvml ? HMN_BACKEND_NVML : HMN_BACKEND_NVIDIA_SMI);
  if (ask_tool(device.uuid, "name", answer, sizeof answer)) check_text("name", device.name, answer);
  if (ask_tool(device.uuid, "uuid", answer, sizeof answer)) check_text("uuid", device.uuid, answer);
  if (ask_tool(device.uuid, "driver_version", answer, sizeof answer))
    check_text("driver", device.driver_version, answer);
  uint32_t found = UINT32_MAX;
  if (ask_tool(device.uuid, "pci.bus_id", answer, sizeof answer)) {
    char key[300];
    snprintf(key, sizeof key, "pci:%s", answer);
    check(hmn_device_find(context, key, &found, NULL) == HMN_OK && found == index, key, found,
          index);
  }
  const hmn_status memory = hmn_pool_read(context, index, HMN_POOL_MAIN, 0, &pool, &error);
  check(memory == HMN_OK, "pool is read", memory, HMN_OK);
  /* nvidia-smi rounds to whole MiB; used and free move between the two questions. */
  hold_number(device.uuid, "memory.total", pool.present & HMN_POOL_HAS_TOTAL,
              (double)pool.total_bytes, MIB, 1);
  hold_number(device.uuid, "memory.used", pool.present & HMN_POOL_HAS_USED, (double)pool.used_bytes,
              MIB, 16);
  hold_number(device.uuid, "memory.free", pool.present & HMN_POOL_HAS_FREE, (double)pool.free_bytes,
              MIB, 16);
  hold_number(device.uuid, "memory.reserved", pool.present & HMN_POOL_HAS_RESERVED,
              (double)pool.reserved_bytes, MIB, 1);
  hmn_telemetry_read(context, index, 0, &telemetry, &error);
  hold_number(device.uuid, "temperature.gpu", telemetry.present & HMN_TELEMETRY_HAS_TEMPERATURE,
              telemetry.temperature_celsius, 1, 3);
  hold_number(device.uuid, "power.draw", telemetry.present & HMN_TELEMETRY_HAS_POWER,
              telemetry.power_watts, 1, 40);
  hold_number(device.uuid, "enforced.power.limit",
              telemetry.present & HMN_TELEMETRY_HAS_POWER_LIMIT, telemetry.power_limit_watts, 1, 1);
  hold_number(device.uuid, "pcie.link.width.current",
              telemetry.present & HMN_TELEMETRY_HAS_PCIE_WIDTH || !with_nvml, telemetry.pcie_width,
              1, with_nvml ? 0 : 1e9);
  if (with_nvml) {
    check_near("reserved + free + used = total (bytes)",
               (double)(pool.reserved_bytes + pool.free_bytes + pool.used_bytes),
               (double)pool.total_bytes, 0);
  }
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "here";
  const int with_nvml = strcmp(mode, "without-nvml") != 0;
  char bus_id[64] = "";
  char key[80];
  open_cuda(bus_id, sizeof bus_id);

  hmn_context_options options = {
      .struct_size = sizeof options, .deadline_ms = 20000, .open_deadline_ms = 60000};
  if (!with_nvml) options.backends_off = (uint64_t)1 << HMN_BACKEND_NVML;
  hmn_context* context = NULL;
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_context_create(&options, &context, &error) != HMN_OK) {
    printf("FAILED: %s\n", error.message);
    return 1;
  }
  snprintf(key, sizeof key, "pci:%s", bus_id);
  uint32_t cuda_index = 0;
  if (hmn_device_find(context, key, &cuda_index, &error) != HMN_OK) {
    printf("FAILED: %s: %s\n", key, error.message);
    return 1;
  }
  uint32_t count = 0;
  hmn_device_count(context, &count, NULL);
  for (uint32_t i = 0; i < count; ++i) hold_device(context, i, with_nvml);
  hold_own_use(context, cuda_index, strcmp(mode, "here") == 0);
  hmn_context_destroy(context);
  printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
