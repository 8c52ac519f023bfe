// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A gdi32.dll with only the graphics kernel's calls, for programs that draw nothing.
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

std::vector<fake::Cells> read_adapters() {
  std::vector<fake::Cells> rows = fake::read_rows("HMN_FAKE_GDI32");
  for (fake::Cells& row : rows) row.resize(8);
  return rows;
}

// From d3dkmthk.h, which the toolchain lacks.
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
const fake::Cells* find_adapter(const std::vector<fake::Cells>& rows, UINT adapter) {
  return adapter >= 1 && adapter <= rows.size() ? &rows[adapter - 1] : nullptr;
}

LONG answer_query(const QueryInfo& request, const UINT* values, UINT bytes) {
  if (request.size != bytes) return invalid_parameter;
  CopyMemory(request.data, values, bytes);
  return success;
}

}  // namespace

#define D3DKMT extern "C" __declspec(dllexport) LONG APIENTRY

D3DKMT D3DKMTOpenAdapterFromLuid(OpenFromLuid* request) {
  if (const auto error = fake::refusal("D3DKMTOpenAdapterFromLuid"))
    return static_cast<LONG>(error);
  const auto rows = read_adapters();
  const auto luid = static_cast<UINT64>(request->luid.HighPart) << 32U |
                    static_cast<UINT64>(request->luid.LowPart);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (fake::number(rows[i], 0) != luid) continue;
    request->adapter = static_cast<UINT>(i + 1);
    return success;
  }
  return invalid_parameter;
}

D3DKMT D3DKMTCloseAdapter(const CloseAdapter* request) {
  return find_adapter(read_adapters(), request->adapter) != nullptr ? success : invalid_parameter;
}

D3DKMT D3DKMTQueryAdapterInfo(const QueryInfo* request) {
  if (const auto error = fake::refusal("D3DKMTQueryAdapterInfo")) return static_cast<LONG>(error);
  const auto rows = read_adapters();
  const fake::Cells* const row = find_adapter(rows, request->adapter);
  if (row == nullptr) return invalid_parameter;
  if ((*row)[7] == "untouched") return success;
  UINT values[3];
  for (std::size_t i = 0; i < 3; ++i) values[i] = static_cast<UINT>(fake::number(*row, 1 + i));
  if (request->type == adapter_address) return answer_query(*request, values, sizeof values);
  values[0] = static_cast<UINT>(fake::number(*row, 4));
  if (request->type == adapter_type) return answer_query(*request, values, sizeof values[0]);
  return invalid_parameter;
}

D3DKMT D3DKMTQueryVideoMemoryInfo(QueryMemory* request) {
  if (const auto error = fake::refusal("D3DKMTQueryVideoMemoryInfo"))
    return static_cast<LONG>(error);
  const auto rows = read_adapters();
  const fake::Cells* const row = find_adapter(rows, request->adapter);
  const DWORD pid = request->process != nullptr ? GetProcessId(request->process) : 0;
  if (row == nullptr || pid == 0 || pid == GetCurrentProcessId()) return invalid_parameter;
  if ((*row)[7] == "untouched") return success;
  request->used = fake::number(*row, request->segment == 0 ? 5 : 6);
  return success;
}
