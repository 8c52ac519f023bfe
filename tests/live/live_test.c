/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * live_test here|namespace|without-nvml: compares what libhypomnesis reports with nvidia-smi, and
 * with 1 GiB that it allocates on GPU 0 through libcuda.so.1.
 * live_test hold MIB SECONDS: holds memory for that time.
 * live_test overcommit: allocates more than the GPU has, where the driver permits it.
 * live_test events: lets another process fail on the GPU, which the driver reports as an event.
 * live_test crash: that process.
 * live_test cost: prints how long readings take, and the driver's own call for the memory.
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

static int fail_count;
static int pass_count;

static void check(int is_good, const char* name, double actual, double expected) {
  printf("%s: %s: %.6g, wanted %.6g\n", is_good ? "ok" : "FAILED", name, actual, expected);
  if (is_good) {
    ++pass_count;
  } else {
    ++fail_count;
  }
}

static void check_near(const char* name, double actual, double expected, double tolerance) {
  check(fabs(actual - expected) <= tolerance, name, actual, expected);
}

static void check_text(const char* name, const char* actual, const char* expected) {
  const int is_good = strcmp(actual, expected) == 0;
  printf("%s: %s: \"%s\", wanted \"%s\"\n", is_good ? "ok" : "FAILED", name, actual, expected);
  if (is_good) {
    ++pass_count;
  } else {
    ++fail_count;
  }
}

static void skip(const char* reason) {
  printf("skipped: live: %s\n", reason);
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
typedef int cuda_load_fn(void** module, const void* image);
typedef int cuda_function_fn(void** function, void* module, const char* name);
typedef int cuda_launch_fn(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                           void* stream, void** arguments, void** extra);
typedef int cuda_wait_fn(void);

static void* cuda;

static void* cuda_symbol(const char* name) {
  void* symbol = dlsym(cuda, name);
  if (symbol == NULL) {
    printf("libcuda.so.1 lacks %s\n", name);
    skip("libcuda.so.1 lacks a function");
  }
  return symbol;
}

#define CUDA(type, name) (*(type**)&(void*){cuda_symbol(name)})

static int cuda_device;

static int find_cuda(void) {
  cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return cuda != NULL;
}

static void open_cuda(char* bus_id, int size) {
  if (!find_cuda()) skip("libcuda.so.1 is not on this machine");
  void* context = NULL;
  if (CUDA(cuda_init_fn, "cuInit")(0) != 0) skip("cuInit failed");
  if (CUDA(cuda_device_get_fn, "cuDeviceGet")(&cuda_device, 0) != 0)
    skip("there is no CUDA device");
  if (CUDA(cuda_bus_id_fn, "cuDeviceGetPCIBusId")(bus_id, size, cuda_device) != 0)
    skip("no PCI address");
  if (CUDA(cuda_retain_fn, "cuDevicePrimaryCtxRetain")(&context, cuda_device) != 0)
    skip("no CUDA context");
  if (CUDA(cuda_set_current_fn, "cuCtxSetCurrent")(context) != 0) skip("no current context");
}

/* ---- nvidia-smi, one field at a time ---- */

static int query_tool(const char* uuid, const char* field, char* answer, size_t size) {
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

static void check_number(const char* uuid, const char* field, int has, double actual, double unit,
                         double tolerance) {
  char answer[256];
  if (!query_tool(uuid, field, answer, sizeof answer)) {
    printf("not told by nvidia-smi: %s (here: %s %.6g)\n", field, has ? "known," : "unknown",
           actual / unit);
    return;
  }
  if (!has) {
    check(0, field, NAN, atof(answer));
    return;
  }
  check_near(field, actual / unit, atof(answer), tolerance);
}

/* ---- the library ---- */

static hmn_status read_own_usage(hmn_context* context, uint32_t device, double* bytes) {
  hmn_usage usage = {.struct_size = sizeof usage};
  hmn_error error = {.struct_size = sizeof error};
  const hmn_status status = hmn_usage_read_self(context, device, 0, &usage, &error);
  *bytes = (double)usage.used_bytes;
  if (status != HMN_OK) printf("own use: %s: %s\n", hmn_status_name(status), error.message);
  if (status == HMN_OK && (usage.present & HMN_USAGE_HAS_USED) == 0) return HMN_E_EMPTY;
  return status;
}

static void check_own_usage(hmn_context* context, uint32_t device, int must_know) {
  unsigned long long address = 0;
  double before = 0;
  double during = 0;
  double after = 0;
  const hmn_status first = read_own_usage(context, device, &before);
  if (CUDA(cuda_alloc_fn, "cuMemAlloc_v2")(&address, (size_t)GIB) != 0) skip("1 GiB cannot be had");
  CUDA(cuda_set_fn, "cuMemsetD8_v2")(address, 1, (size_t)GIB);
  const hmn_status second = read_own_usage(context, device, &during);
  CUDA(cuda_free_fn, "cuMemFree_v2")(address);
  const hmn_status third = read_own_usage(context, device, &after);
  const int is_known = first == HMN_OK && second == HMN_OK && third == HMN_OK;
  if (must_know || is_known) {
    check(is_known, "own use is known", is_known, 1);
    check_near("own use rises by (MiB)", (during - before) / MIB, 1024, 64);
    check_near("own use falls by (MiB)", (during - after) / MIB, 1024, 64);
  } else {
    check(second != HMN_OK, "own use is absent, not 0", (double)second, (double)first);
  }
}

static void check_device(hmn_context* context, uint32_t index, int with_nvml) {
  hmn_device device = {.struct_size = sizeof device};
  hmn_pool pool = {.struct_size = sizeof pool};
  hmn_telemetry telemetry = {.struct_size = sizeof telemetry};
  hmn_error error = {.struct_size = sizeof error};
  char answer[256];
  if (hmn_device_read(context, index, 0, &device, &error) != HMN_OK) {
    printf("FAILED: %s\n", error.message);
    ++fail_count;
    return;
  }
  printf("device %u: %s, %s, driver %s, backend %s\n", index, device.name, device.uuid,
         device.driver_version, hmn_backend_name(device.backend));
  check(device.backend == (with_nvml ? HMN_BACKEND_NVML : HMN_BACKEND_NVIDIA_SMI), "backend",
        device.backend, with_nvml ? HMN_BACKEND_NVML : HMN_BACKEND_NVIDIA_SMI);
  if (query_tool(device.uuid, "name", answer, sizeof answer))
    check_text("name", device.name, answer);
  if (query_tool(device.uuid, "uuid", answer, sizeof answer))
    check_text("uuid", device.uuid, answer);
  if (query_tool(device.uuid, "driver_version", answer, sizeof answer))
    check_text("driver", device.driver_version, answer);
  uint32_t match = UINT32_MAX;
  if (query_tool(device.uuid, "pci.bus_id", answer, sizeof answer)) {
    char key[300];
    snprintf(key, sizeof key, "pci:%s", answer);
    check(hmn_device_find(context, key, &match, NULL) == HMN_OK && match == index, key, match,
          index);
  }
  const hmn_status memory = hmn_pool_read(context, index, HMN_POOL_MAIN, 0, 0, &pool, &error);
  check(memory == HMN_OK, "pool is read", memory, HMN_OK);
  /* nvidia-smi rounds to whole MiB; used and free move between the two questions. */
  check_number(device.uuid, "memory.total", pool.present & HMN_POOL_HAS_TOTAL,
               (double)pool.total_bytes, MIB, 1);
  check_number(device.uuid, "memory.used", pool.present & HMN_POOL_HAS_USED,
               (double)pool.used_bytes, MIB, 16);
  check_number(device.uuid, "memory.free", pool.present & HMN_POOL_HAS_FREE,
               (double)pool.free_bytes, MIB, 16);
  check_number(device.uuid, "memory.reserved", pool.present & HMN_POOL_HAS_RESERVED,
               (double)pool.reserved_bytes, MIB, 1);
  hmn_telemetry_read(context, index, 0, &telemetry, &error);
  check_number(device.uuid, "temperature.gpu", telemetry.present & HMN_TELEMETRY_HAS_TEMPERATURE,
               telemetry.temperature_celsius, 1, 3);
  check_number(device.uuid, "power.draw", telemetry.present & HMN_TELEMETRY_HAS_POWER,
               telemetry.power_watts, 1, 40);
  check_number(device.uuid, "enforced.power.limit",
               telemetry.present & HMN_TELEMETRY_HAS_POWER_LIMIT, telemetry.power_limit_watts, 1,
               1);
  check_number(device.uuid, "pcie.link.width.current",
               telemetry.present & HMN_TELEMETRY_HAS_PCIE_WIDTH || !with_nvml, telemetry.pcie_width,
               1, with_nvml ? 0 : 1e9);
  if (with_nvml) {
    check_near("reserved + free + used = total (bytes)",
               (double)(pool.reserved_bytes + pool.free_bytes + pool.used_bytes),
               (double)pool.total_bytes, 0);
  }
}

static hmn_context* open_library(int with_nvml) {
  hmn_context_options options = {.struct_size = sizeof options,
                                 .flags = HMN_CONTEXT_ENVIRONMENT,
                                 .deadline_ns = HMN_MILLISECONDS(20000),
                                 .open_deadline_ns = HMN_MILLISECONDS(60000)};
  if (!with_nvml) options.backends_off = (uint64_t)1 << HMN_BACKEND_NVML;
  hmn_context* context = NULL;
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_context_create(&options, &context, &error) == HMN_OK) return context;
  printf("FAILED: %s\n", error.message);
  exit(1);
}

static uint32_t find_device(hmn_context* context, const char* bus_id) {
  char key[80];
  uint32_t index = 0;
  hmn_error error = {.struct_size = sizeof error};
  snprintf(key, sizeof key, "pci:%s", bus_id);
  if (hmn_device_find(context, key, &index, &error) == HMN_OK) return index;
  printf("FAILED: %s: %s\n", key, error.message);
  exit(1);
}

static int print_result(void) {
  printf("%d passed, %d failed\n", pass_count, fail_count);
  return fail_count != 0;
}

static int compare(const char* mode) {
  const int with_nvml = strcmp(mode, "without-nvml") != 0;
  char bus_id[64] = "";
  const int has_cuda = find_cuda();
  if (has_cuda) open_cuda(bus_id, sizeof bus_id);
  hmn_context* context = open_library(with_nvml);
  uint32_t count = 0;
  hmn_device_scan(context, &count, NULL, NULL);
  for (uint32_t i = 0; i < count; ++i) check_device(context, i, with_nvml);
  if (has_cuda)
    check_own_usage(context, find_device(context, bus_id), strcmp(mode, "here") == 0);
  else
    printf("not checked: own use: libcuda.so.1 is not on this machine\n");
  hmn_context_destroy(context);
  check(count > 0, "devices", count, 1);
  return print_result();
}

static int hold_memory(double mib, double seconds) {
  char bus_id[64] = "";
  unsigned long long address = 0;
  open_cuda(bus_id, sizeof bus_id);
  const size_t bytes = (size_t)(mib * MIB);
  if (CUDA(cuda_alloc_fn, "cuMemAlloc_v2")(&address, bytes) != 0) skip("the memory cannot be had");
  CUDA(cuda_set_fn, "cuMemsetD8_v2")(address, 1, bytes);
  printf("holds %.0f MiB on %s\n", mib, bus_id);
  fflush(stdout);
  usleep((useconds_t)(seconds * 1e6));
  CUDA(cuda_free_fn, "cuMemFree_v2")(address);
  return 0;
}

/* ---- more than the GPU has ---- */

enum { CHUNKS = 4096 };

static double allocate_up_to(double bytes, unsigned long long* chunks, int* count) {
  double allocated = 0;
  *count = 0;
  while (allocated < bytes && *count < CHUNKS &&
         CUDA(cuda_alloc_fn, "cuMemAlloc_v2")(&chunks[*count], (size_t)GIB) == 0) {
    CUDA(cuda_set_fn, "cuMemsetD8_v2")(chunks[(*count)++], 1, (size_t)GIB);
    allocated += GIB;
  }
  return allocated;
}

static int overcommit(void) {
  static unsigned long long chunks[CHUNKS];
  char bus_id[64] = "";
  int count = 0;
  open_cuda(bus_id, sizeof bus_id);
  hmn_context* context = open_library(1);
  const uint32_t device = find_device(context, bus_id);
  hmn_pool pool = {.struct_size = sizeof pool};
  hmn_spill_info before = {.struct_size = sizeof before};
  hmn_spill_info during = {.struct_size = sizeof during};
  hmn_spill* spill = NULL;
  hmn_error error = {.struct_size = sizeof error};
  if (hmn_pool_read(context, device, HMN_POOL_MAIN, 0, HMN_POOL_HAS_TOTAL, &pool, &error) !=
          HMN_OK ||
      hmn_spill_create(context, device, NULL, &spill, &error) != HMN_OK) {
    printf("FAILED: %s\n", error.message);
    return 1;
  }
  const double target = (double)pool.total_bytes + 2 * GIB;
  const hmn_status first = hmn_spill_observe(spill, "before", &error);
  hmn_spill_read(spill, &before, NULL);
  const double allocated = allocate_up_to(target, chunks, &count);
  hmn_spill_observe(spill, "during", NULL);
  hmn_spill_read(spill, &during, NULL);
  for (int i = 0; i < count; ++i) CUDA(cuda_free_fn, "cuMemFree_v2")(chunks[i]);
  printf("held %.1f of %.1f GiB wanted, the GPU has %.1f GiB\n", allocated / GIB, target / GIB,
         (double)pool.total_bytes / GIB);
  if (allocated < target) {
    check(first == HMN_E_UNSUPPORTED, "spill is not measurable", first, HMN_E_UNSUPPORTED);
    printf("reason: %s\n", error.message);
    if (fail_count == 0) skip("the driver refuses memory beyond the GPU's");
  } else {
    const double beyond = allocated - (double)pool.total_bytes;
    check((during.state & HMN_SPILL_STATE_NOW) != 0, "spilling", during.state, HMN_SPILL_STATE_NOW);
    check((double)during.shared_bytes - (double)before.shared_bytes >= beyond - 256 * MIB,
          "host memory rises by (MiB)",
          ((double)during.shared_bytes - (double)before.shared_bytes) / MIB, beyond / MIB);
  }
  hmn_spill_destroy(spill);
  hmn_context_destroy(context);
  return print_result();
}

/* ---- an event: Xid 13 or 31, of a program that writes to no memory ---- */

static int crash(void) {
  static const char program[] =
      ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry fail() {\n"
      ".reg .u64 %a;\nmov.u64 %a, 0;\nst.global.u64 [%a], %a;\nret;\n}\n";
  char bus_id[64] = "";
  void* module = NULL;
  void* function = NULL;
  open_cuda(bus_id, sizeof bus_id);
  if (CUDA(cuda_load_fn, "cuModuleLoadData")(&module, program) != 0 ||
      CUDA(cuda_function_fn, "cuModuleGetFunction")(&function, module, "fail") != 0)
    skip("the driver compiles no program here");
  CUDA(cuda_launch_fn, "cuLaunchKernel")(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
  printf("the program ended with %d\n", CUDA(cuda_wait_fn, "cuCtxSynchronize")());
  return 0;
}

static int events(const char* self) {
  char command[512];
  char bus_id[64] = "";
  hmn_context* context = open_library(1);
  hmn_metric fault = {.struct_size = sizeof fault};
  if (!find_cuda()) skip("libcuda.so.1 is not on this machine");
  open_cuda(bus_id, sizeof bus_id);
  const uint32_t device = find_device(context, bus_id);
  const hmn_metric_key last_fault = {.struct_size = sizeof last_fault, .id = HMN_METRIC_LAST_FAULT};
  hmn_metric_read(context, device, &last_fault, 0, &fault, NULL);
  snprintf(command, sizeof command, "'%s' crash", self);
  if (system(command) != 0) skip("no program could be made to fail");
  hmn_status status = HMN_E_UNSUPPORTED;
  hmn_error error = {.struct_size = sizeof error};
  for (int i = 0; i < 50 && status != HMN_OK; ++i) {
    usleep(100000);
    status = hmn_metric_read(context, device, &last_fault, 0, &fault, &error);
  }
  hmn_context_destroy(context);
  if (status != HMN_OK) skip(error.message);
  check(fault.count == 13 || fault.count == 31, "number of the fault", (double)fault.count, 31);
  return print_result();
}

/* ---- cost ---- */

static int ascending(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a;
  const uint64_t right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static hmn_status read_kind(hmn_context* context, uint32_t device, int kind) {
  hmn_pool pool = {.struct_size = sizeof pool};
  hmn_usage usage = {.struct_size = sizeof usage};
  hmn_telemetry telemetry = {.struct_size = sizeof telemetry};
  hmn_snapshot* snapshot = NULL;
  hmn_snapshot_options options = {.struct_size = sizeof options};
  if (kind == 0) return hmn_pool_read(context, device, HMN_POOL_MAIN, 0, 0, &pool, NULL);
  if (kind == 1) return hmn_usage_read_self(context, device, 0, &usage, NULL);
  if (kind == 2) return hmn_telemetry_read(context, device, 0, &telemetry, NULL);
  options.collect = HMN_COLLECT_POOLS | HMN_COLLECT_PROCESSES | HMN_COLLECT_TELEMETRY;
  const hmn_status status = hmn_snapshot_take(context, &options, &snapshot, NULL);
  hmn_snapshot_destroy(snapshot);
  return status;
}

enum { TIMES = 100 };

static void print_times(uint32_t device, const char* name, uint64_t* times, const char* result) {
  qsort(times, TIMES, sizeof times[0], ascending);
  printf("device %u, %s: median %.1f us, least %.1f us, most %.1f us, %s\n", device, name,
         (double)times[TIMES / 2] / 1e3, (double)times[0] / 1e3, (double)times[TIMES - 1] / 1e3,
         result);
}

/* The lower limit of a reading of the memory: one call of NVML, declared as it is documented. */
typedef struct {
  unsigned version;
  unsigned long long total, reserved, free, used;
} nvml_memory_v2;
typedef int nvml_init_fn(void);
typedef int nvml_find_fn(const char* bus_id, void** device);
typedef int nvml_memory_fn(void* device, nvml_memory_v2* memory);

static void time_nvml(uint32_t device, const char* bus_id) {
  uint64_t times[TIMES];
  void* handle = NULL;
  void* nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (nvml == NULL) return;
  nvml_init_fn* const init = *(nvml_init_fn**)&(void*){dlsym(nvml, "nvmlInit_v2")};
  nvml_find_fn* const find =
      *(nvml_find_fn**)&(void*){dlsym(nvml, "nvmlDeviceGetHandleByPciBusId_v2")};
  nvml_memory_fn* const read =
      *(nvml_memory_fn**)&(void*){dlsym(nvml, "nvmlDeviceGetMemoryInfo_v2")};
  if (!init || !find || !read || init() != 0 || find(bus_id, &handle) != 0) return;
  int result = 0;
  for (int i = 0; i < TIMES; ++i) {
    nvml_memory_v2 memory = {.version = sizeof memory | 2U << 24};
    const uint64_t start = hmn_monotonic_ns();
    result = read(handle, &memory);
    times[i] = hmn_monotonic_ns() - start;
  }
  print_times(device, "memory by NVML alone", times, result == 0 ? "OK" : "failed");
}

static int cost(void) {
  static const char* const names[] = {"memory", "own use", "telemetry", "snapshot"};
  uint64_t times[TIMES];
  hmn_context* context = open_library(1);
  uint32_t count = 0;
  hmn_device_scan(context, &count, NULL, NULL);
  check(count > 0, "devices", count, 1);
  for (uint32_t device = 0; device < count; ++device) {
    for (int kind = 0; kind < 4; ++kind) {
      hmn_status status = HMN_OK;
      for (int i = 0; i < TIMES; ++i) {
        const uint64_t start = hmn_monotonic_ns();
        status = read_kind(context, device, kind);
        times[i] = hmn_monotonic_ns() - start;
      }
      print_times(device, names[kind], times, hmn_status_name(status));
      if (kind == 0 || kind == 3) check(status == HMN_OK, names[kind], status, HMN_OK);
    }
    hmn_device info = {.struct_size = sizeof info};
    if (hmn_device_read(context, device, 0, &info, NULL) == HMN_OK)
      time_nvml(device, info.pci_bus_id);
  }
  hmn_context_destroy(context);
  return print_result();
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "here";
  if (strcmp(mode, "hold") == 0 && argc > 3) return hold_memory(atof(argv[2]), atof(argv[3]));
  if (strcmp(mode, "overcommit") == 0) return overcommit();
  if (strcmp(mode, "events") == 0) return events(argv[0]);
  if (strcmp(mode, "crash") == 0) return crash();
  if (strcmp(mode, "cost") == 0) return cost();
  return compare(mode);
}
