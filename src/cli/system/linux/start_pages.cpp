// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/system/start_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <span>

namespace hmn::cli {
namespace {

// Returns whether the loader wrote into the code: it would be lost.
bool is_relocated(const dl_phdr_info& object, const ElfW(Phdr) & dynamic) {
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + dynamic.p_vaddr);
  for (; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_TEXTREL ||
        (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
      return true;
  return false;
}

void release(const dl_phdr_info& object, const ElfW(Phdr) & segment, std::uintptr_t page) {
  const std::uintptr_t begin = (object.dlpi_addr + segment.p_vaddr) & ~(page - 1);
  const std::uintptr_t end = object.dlpi_addr + segment.p_vaddr + segment.p_memsz;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

int release_object(dl_phdr_info* object, std::size_t, void* page) {
  const std::span segments(object->dlpi_phdr, object->dlpi_phnum);
  for (const auto& each : segments)
    if (each.p_type == PT_DYNAMIC && is_relocated(*object, each)) return 0;
  for (const auto& each : segments)
    if (each.p_type == PT_LOAD && (each.p_flags & PF_W) == 0)
      release(*object, each, *static_cast<std::uintptr_t*>(page));
  return 0;
}

}  // namespace

void release_start_pages() {
  auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  dl_iterate_phdr(&release_object, &page);
}

}  // namespace hmn::cli
