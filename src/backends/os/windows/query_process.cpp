// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/os/windows/query_process.hpp"

namespace hmn::os {
namespace {

using function = LONG(WINAPI*)(HANDLE, ULONG, void*, ULONG, ULONG*);

function find() noexcept {
  const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
  const auto found =
      ntdll != nullptr ? GetProcAddress(ntdll, "NtQueryInformationProcess") : nullptr;
  return reinterpret_cast<function>(reinterpret_cast<void*>(found));
}

}  // namespace

bool query_process(HANDLE process, ULONG what, void* room, ULONG size, ULONG* needed) noexcept {
  static const function query = find();
  return query != nullptr && query(process, what, room, size, needed) >= 0;
}

}  // namespace hmn::os
