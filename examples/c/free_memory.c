/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* `free_memory SIZE`: the GPU that has SIZE free, for instance 8GiB. Exit status 0 if any has. */
#include <hypomnesis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTHING_FOUND = 1, WRONG_USAGE = 2 };

/* Bytes, or a whole number of KiB, MiB, GiB or TiB; 0 for anything else. */
static uint64_t parse_size(const char* text) {
  static const char* const units[] = {"", "KiB", "MiB", "GiB", "TiB"};
  char* end;
  const uint64_t number = strtoull(text, &end, 10);
  for (unsigned i = 0; i < sizeof units / sizeof *units; ++i)
    if (strcmp(end, units[i]) == 0 && number <= UINT64_MAX >> (10 * i)) return number << (10 * i);
  return 0;
}

/* Reads the bytes that can be allocated on the device now; returns whether they are known. */
static int read_free_memory(hmn_context* context, uint32_t index, uint64_t* bytes) {
  hmn_pool pool = HMN_INIT(hmn_pool);
  if (hmn_pool_read(context, index, HMN_POOL_MAIN, 0, 0, &pool, NULL) != HMN_OK) return 0;
  *bytes = pool.usable_bytes;
  return (pool.present & HMN_POOL_HAS_USABLE) != 0;
}

static void print_device(hmn_context* context, uint32_t index) {
  hmn_device device = HMN_INIT(hmn_device);
  hmn_device_read(context, index, 0, &device, NULL);
  printf("GPU %u", index);
  if (device.present & HMN_DEVICE_HAS_NAME) printf(" [%s]", device.name);
}

/* Index of the device with the most free memory, or `count` when none has enough. */
static uint32_t find_device(hmn_context* context, uint32_t count, uint64_t size) {
  uint32_t best = count;
  uint64_t most = 0;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t bytes;
    char text[32];
    print_device(context, i);
    if (!read_free_memory(context, i, &bytes)) {
      puts(": free memory is not known");
      continue;
    }
    hmn_format_bytes(bytes, text, sizeof text, NULL, NULL);
    printf(": %s free, %s\n", text, bytes >= size ? "fits" : "does not fit");
    if (bytes >= size && (best == count || bytes > most)) {
      best = i;
      most = bytes;
    }
  }
  return best;
}

int main(int argc, char** argv) {
  hmn_context* context = NULL;
  hmn_context_options options = HMN_INIT(hmn_context_options);
  hmn_error error = HMN_INIT(hmn_error);
  const uint64_t size = argc == 2 ? parse_size(argv[1]) : 0;
  uint32_t count, best;
  char text[32];

  options.flags = HMN_CONTEXT_ENVIRONMENT;
  if (size == 0) {
    fputs("usage: free_memory SIZE, for instance 8GiB\n", stderr);
    return WRONG_USAGE;
  }
  if (hmn_context_create(&options, &context, &error) != HMN_OK ||
      hmn_device_scan(context, &count, NULL, &error) != HMN_OK) {
    fprintf(stderr, "%s\n", error.message);
    hmn_context_destroy(context);
    return NOTHING_FOUND;
  }
  best = find_device(context, count, size);
  hmn_context_destroy(context);
  if (best < count) {
    printf("GPU %u has most\n", best);
    return 0;
  }
  hmn_format_bytes(size, text, sizeof text, NULL, NULL);
  printf("no GPU has %s free\n", text);
  return NOTHING_FOUND;
}
