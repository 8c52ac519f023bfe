/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * libcuda.so.1 of one GPU, for tests of the live tests. Its allocations, and whether a program
 * failed, are written into the scenario of the fake NVML (FAKE_NVML_SCENARIO) from the template
 * FAKE_CUDA_NVML, and into that of the fake nvidia-smi (FAKE_CUDA_SMI_SCENARIO) from FAKE_CUDA_SMI:
 * @OWN@ is the memory of the process, @MIB@ the same in MiB, @PID@ its pid, @USED@ and @FREE@ the
 * memory of the GPU, @XIDS@ the events. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The names are those of CUDA, whose header is not needed. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum { OUT_OF_MEMORY = 2, FAILED = 700, ALLOCATIONS = 8192 };

static const unsigned long long mib = 1ULL << 20;
static const unsigned long long total = 45469; /* MiB, without reserved memory */
static const unsigned long long others = 9123;
static unsigned long long sizes[ALLOCATIONS];
static unsigned long long own_mib;
static int count;
static int has_failed;

static int put_word(const char* word, size_t length, FILE* file) {
  static const char* const names[] = {"@OWN@", "@MIB@", "@PID@", "@USED@", "@FREE@", "@XIDS@"};
  const unsigned long long values[] = {own_mib * mib, own_mib, (unsigned long long)getpid(),
                                       (others + own_mib) * mib, (total - others - own_mib) * mib};
  for (int i = 0; i < 6; ++i) {
    if (strlen(names[i]) != length || strncmp(word, names[i], length) != 0) continue;
    return i < 5 ? fprintf(file, "%llu", values[i]) : fprintf(file, "%s", has_failed ? "31" : "");
  }
  return -1;
}

static void fill_template(const char* source, const char* target) {
  static char text[16384];
  char path[4096];
  FILE* file = source != NULL ? fopen(source, "r") : NULL;
  if (file == NULL || target == NULL) abort();
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  snprintf(path, sizeof path, "%s.%d", target, (int)getpid());
  file = fopen(path, "w");
  if (file == NULL) abort();
  for (const char* position = text; *position != '\0';) {
    const char* const end = *position == '@' ? strchr(position + 1, '@') : NULL;
    if (end != NULL && put_word(position, (size_t)(end - position) + 1, file) >= 0) {
      position = end + 1;
    } else {
      fputc(*position++, file);
    }
  }
  fclose(file);
  if (rename(path, target) != 0) abort();
}

static void write_scenario(void) {
  fill_template(getenv("FAKE_CUDA_NVML"), getenv("FAKE_NVML_SCENARIO"));
  fill_template(getenv("FAKE_CUDA_SMI"), getenv("FAKE_CUDA_SMI_SCENARIO"));
}

#pragma GCC visibility push(default)

int cuInit(unsigned flags) {
  return (int)flags;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  snprintf(text, (size_t)size, "0000:01:00.%d", device);
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = &sizes[device];
  return 0;
}
int cuCtxSetCurrent(void* context) {
  return context == NULL;
}
int cuMemAlloc_v2(unsigned long long* address, size_t bytes) {
  if (count == ALLOCATIONS || others + own_mib + bytes / mib > total) return OUT_OF_MEMORY;
  sizes[count] = bytes / mib;
  own_mib += sizes[count++];
  *address = (unsigned long long)count;
  write_scenario();
  return 0;
}
int cuMemFree_v2(unsigned long long address) {
  own_mib -= sizes[address - 1];
  sizes[address - 1] = 0;
  write_scenario();
  return 0;
}
int cuMemsetD8_v2(unsigned long long address, unsigned char value, size_t bytes) {
  return address == 0 || value == 0 || bytes == 0;
}
int cuModuleLoadData(void** module, const void* image) {
  *module = sizes;
  return image == NULL;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return name[0] == '\0';
}
int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void* stream, void** arguments, void** extra) {
  has_failed = function != NULL && grid_x * grid_y * grid_z * block_x * block_y * block_z == 1 &&
               shared == 0 && stream == NULL && arguments == NULL && extra == NULL;
  write_scenario();
  return 0;
}
int cuCtxSynchronize(void) {
  return has_failed ? FAILED : 0;
}

#pragma GCC visibility pop
