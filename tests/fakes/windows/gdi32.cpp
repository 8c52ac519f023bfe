// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A gdi32.dll with the graphics kernel's calls alone, for programs that draw nothing.
// HMN_FAKE_GDI32:
//   luid;bus;device;function;kind;local;non local;trouble
// kind: the bits of D3DKMT_ADAPTERTYPE. trouble: "untouched" for successes that fill nothing in, or
// nothing. The values are those of every process but the caller's. Every call that opens or asks
// knows the lie 0x….
#include <windows.h>

#include "rows.hpp"

namespace {

constexpr LONG success = 0;
constexpr LONG invalid_parameter = static_cast<LONG>(0xC000000D);

std::vector<fake::Cells> adapters() {
  std::vector<fake::Cells> all = fake::rows_of("HMN_FAKE_GDI32");
  for (fake::Cells& row : all) row.resize(8);
  return all;
}

// d3dkmthk.h, which the toolchain has not.
struct OpenFromLuid {
  LUID luid;
  UINT adapter;
};
struct CloseAdapter {
  UINT adapter;
};
struct QueryInfo {
  UINT adapter;
  int type;
  void* data;
  UINT size;
};
struct QueryMemory {
  HANDLE process;
  UINT adapter;
  int segment;
  UINT64 budget, used, reserved, available;
  UINT physical;
};
constexpr int adapter_address = 6;
constexpr int adapter_type = 15;

// A handle is the number of a row, from 1 on.
const fake::Cells* opened(const std::vector<fake::Cells>& all, UINT adapter) {
  return adapter >= 1 && adapter <= all.size() ? &all[adapter - 1] : nullptr;
}

LONG answer_query(const QueryInfo& of, const UINT* values, UINT bytes) {
  if (of.size != bytes) return invalid_parameter;
  CopyMemory(of.data, values, bytes);
  return success;
}

}  // namespace

#define D3DKMT extern "C" __declspec(dllexport) LONG APIENTRY

D3DKMT D3DKMTOpenAdapterFromLuid(OpenFromLuid* of) {
  if (const auto refused = fake::refusal("D3DKMTOpenAdapterFromLuid"))
    return static_cast<LONG>(refused);
  const auto all = adapters();
  const auto wanted =
      static_cast<UINT64>(of->luid.HighPart) << 32U | static_cast<UINT64>(of->luid.LowPart);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (fake::number(all[i], 0) != wanted) continue;
    of->adapter = static_cast<UINT>(i + 1);
    return success;
  }
  return invalid_parameter;
}

D3DKMT D3DKMTCloseAdapter(const CloseAdapter* of) {
  return opened(adapters(), of->adapter) != nullptr ? success : invalid_parameter;
}

D3DKMT D3DKMTQueryAdapterInfo(const QueryInfo* of) {
  if (const auto refused = fake::refusal("D3DKMTQueryAdapterInfo"))
    return static_cast<LONG>(refused);
  const auto all = adapters();
  const fake::Cells* const row = opened(all, of->adapter);
  if (row == nullptr) return invalid_parameter;
  if ((*row)[7] == "untouched") return success;
  UINT values[3];
  for (std::size_t i = 0; i < 3; ++i) values[i] = static_cast<UINT>(fake::number(*row, 1 + i));
  if (of->type == adapter_address) return answer_query(*of, values, sizeof values);
  values[0] = static_cast<UINT>(fake::number(*row, 4));
  if (of->type == adapter_type) return answer_query(*of, values, sizeof values[0]);
  return invalid_parameter;
}

D3DKMT D3DKMTQueryVideoMemoryInfo(QueryMemory* of) {
  if (const auto refused = fake::refusal("D3DKMTQueryVideoMemoryInfo"))
    return static_cast<LONG>(refused);
  const auto all = adapters();
  const fake::Cells* const row = opened(all, of->adapter);
  const DWORD pid = of->process != nullptr ? GetProcessId(of->process) : 0;
  if (row == nullptr || pid == 0 || pid == GetCurrentProcessId()) return invalid_parameter;
  if ((*row)[7] == "untouched") return success;
  of->used = fake::number(*row, of->segment == 0 ? 5 : 6);
  return success;
}
