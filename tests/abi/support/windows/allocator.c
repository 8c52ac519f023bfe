/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Replaces the C runtime's functions in the library's import table. Allocations of the runtime
 * itself are not seen.
 */
#include "../allocator.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <windows.h>

static void* counted_malloc(size_t size) {
  return allocator_refuses() ? NULL : allocator_count(malloc(size));
}

static void* counted_calloc(size_t count, size_t size) {
  return allocator_refuses() ? NULL : allocator_count(calloc(count, size));
}

static void counted_free(void* block) {
  allocator_forget(block);
  free(block);
}

static void* counted_realloc(void* block, size_t size) {
  if (block == NULL) return counted_malloc(size);
  if (size == 0) {
    counted_free(block);
    return NULL;
  }
  if (allocator_refuses()) return NULL;
  allocator_count_move();
  return realloc(block, size);
}

static void* counted_aligned_malloc(size_t size, size_t alignment) {
  return allocator_refuses() ? NULL : allocator_count(_aligned_malloc(size, alignment));
}

static void counted_aligned_free(void* block) {
  allocator_forget(block);
  _aligned_free(block);
}

static const struct {
  const char* name;
  uintptr_t function;
} replacements[] = {{"malloc", (uintptr_t)counted_malloc},
                    {"calloc", (uintptr_t)counted_calloc},
                    {"realloc", (uintptr_t)counted_realloc},
                    {"free", (uintptr_t)counted_free},
                    {"_aligned_malloc", (uintptr_t)counted_aligned_malloc},
                    {"_aligned_free", (uintptr_t)counted_aligned_free}};

static void replace(const char* name, uintptr_t* slot) {
  for (size_t i = 0; i < sizeof replacements / sizeof replacements[0]; ++i) {
    DWORD before = 0;
    if (strcmp(name, replacements[i].name) != 0) continue;
    VirtualProtect(slot, sizeof *slot, PAGE_READWRITE, &before);
    *slot = replacements[i].function;
    VirtualProtect(slot, sizeof *slot, before, &before);
  }
}

static const void* resolve(const char* image, DWORD offset) {
  return image + offset;
}

static void replace_imports(char* image) {
  const IMAGE_DOS_HEADER* dos = resolve(image, 0);
  const IMAGE_NT_HEADERS* header = resolve(image, (DWORD)dos->e_lfanew);
  const DWORD imports =
      header->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_IMPORT].VirtualAddress;
  for (const IMAGE_IMPORT_DESCRIPTOR* descriptor = resolve(image, imports); descriptor->Name != 0;
       ++descriptor) {
    const IMAGE_THUNK_DATA* names = resolve(image, descriptor->OriginalFirstThunk);
    uintptr_t* slots = (uintptr_t*)(void*)(image + descriptor->FirstThunk);
    for (size_t i = 0; names[i].u1.AddressOfData != 0; ++i) {
      if (IMAGE_SNAP_BY_ORDINAL(names[i].u1.Ordinal)) continue;
      const IMAGE_IMPORT_BY_NAME* import = resolve(image, (DWORD)names[i].u1.AddressOfData);
      replace((const char*)import->Name, &slots[i]);
    }
  }
}

/* Runs before the first call of the library that the test counts. */
void allocator_begin(void) {
  static atomic_int is_started;
  if (atomic_exchange(&is_started, 1) == 0) replace_imports((char*)GetModuleHandleA(HMN_TEST_DLL));
}
