// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A dxgi.dll of the toolchain's own DXGI headers, which the library does not use. HMN_FAKE_DXGI:
//   luid;vendor;device;subsystem;flags;dedicated;shared;budget;used;host budget;host
//   used;name;trouble
// trouble: "undescribed", "no memory interface", "no memory answer" or nothing. Every call knows
// the lies 0x… and "untouched"; GetDesc1 "unterminated", EnumAdapters1 "endless", IsCurrent
// "never". HMN_FAKE_DXGI_FACTORY: the HRESULT that no factory is made for. HMN_FAKE_DXGI_HANG: it
// never ends.
#include <dxgi1_4.h>
#include <initguid.h>
#include <windows.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "rows.hpp"

namespace {

constexpr HRESULT not_found = static_cast<HRESULT>(0x887A0002);
constexpr HRESULT removed = static_cast<HRESULT>(0x887A0005);

// Returns the result of a call that lies and writes nothing.
std::optional<HRESULT> check_lie(const char* call) {
  if (fake::lies(call, "untouched")) return S_OK;
  const unsigned long error = fake::refusal(call);
  return error != 0 ? std::optional(static_cast<HRESULT>(error)) : std::nullopt;
}

template <class Interface>
class RefCounted : public Interface {
 public:
  virtual ~RefCounted() = default;
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateData(REFGUID, UINT, const void*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE SetPrivateDataInterface(REFGUID, const IUnknown*) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE GetPrivateData(REFGUID, UINT*, void*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetParent(REFIID, void**) override { return E_NOTIMPL; }

 private:
  std::atomic<ULONG> references_{1};
};

class Adapter final : public RefCounted<IDXGIAdapter3> {
 public:
  explicit Adapter(fake::Cells row) : row_(std::move(row)) { row_.resize(13); }

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID id, void** out) override {
    if (const auto result = check_lie("QueryInterface")) return *result;
    *out = nullptr;
    const bool is_old = IsEqualGUID(id, __uuidof(IUnknown)) ||
                        IsEqualGUID(id, __uuidof(IDXGIAdapter)) ||
                        IsEqualGUID(id, __uuidof(IDXGIAdapter1));
    const bool is_new =
        IsEqualGUID(id, __uuidof(IDXGIAdapter3)) && !has_trouble("no memory interface");
    if (!is_old && !is_new) return E_NOINTERFACE;
    AddRef();
    *out = this;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE EnumOutputs(UINT, IDXGIOutput**) override { return not_found; }
  HRESULT STDMETHODCALLTYPE GetDesc(DXGI_ADAPTER_DESC*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CheckInterfaceSupport(REFGUID id, LARGE_INTEGER* version) override {
    if (const auto result = check_lie("CheckInterfaceSupport")) return *result;
    if (!IsEqualGUID(id, __uuidof(IDXGIDevice))) return E_NOINTERFACE;
    version->QuadPart = (31LL << 48) | (0LL << 32) | (15LL << 16) | 3623;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetDesc1(DXGI_ADAPTER_DESC1* out) override {
    if (has_trouble("undescribed")) return removed;
    if (const auto result = check_lie("GetDesc1")) return *result;
    *out = {};
    const std::wstring name = fake::wide(row_[11]);
    std::copy_n(name.begin(), std::min<size_t>(name.size(), 127), out->Description);
    if (fake::lies("GetDesc1", "unterminated")) std::fill_n(out->Description, 128, L'A');
    out->AdapterLuid.LowPart = static_cast<DWORD>(fake::number(row_, 0));
    out->AdapterLuid.HighPart = static_cast<LONG>(fake::number(row_, 0) >> 32);
    out->VendorId = static_cast<UINT>(fake::number(row_, 1));
    out->DeviceId = static_cast<UINT>(fake::number(row_, 2));
    out->SubSysId = static_cast<UINT>(fake::number(row_, 3));
    out->Flags = static_cast<UINT>(fake::number(row_, 4));
    out->DedicatedVideoMemory = fake::number(row_, 5);
    out->SharedSystemMemory = fake::number(row_, 6);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetDesc2(DXGI_ADAPTER_DESC2*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE RegisterHardwareContentProtectionTeardownStatusEvent(HANDLE,
                                                                                 DWORD*) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE UnregisterHardwareContentProtectionTeardownStatus(DWORD) override {}
  HRESULT STDMETHODCALLTYPE QueryVideoMemoryInfo(UINT, DXGI_MEMORY_SEGMENT_GROUP group,
                                                 DXGI_QUERY_VIDEO_MEMORY_INFO* out) override {
    if (has_trouble("no memory answer")) return removed;
    if (const auto result = check_lie("QueryVideoMemoryInfo")) return *result;
    const bool is_local = group == DXGI_MEMORY_SEGMENT_GROUP_LOCAL;
    *out = {};
    out->Budget = fake::number(row_, is_local ? 7 : 9);
    out->CurrentUsage = fake::number(row_, is_local ? 8 : 10);
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE SetVideoMemoryReservation(UINT, DXGI_MEMORY_SEGMENT_GROUP,
                                                      UINT64) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE RegisterVideoMemoryBudgetChangeNotificationEvent(HANDLE,
                                                                             DWORD*) override {
    return E_NOTIMPL;
  }
  void STDMETHODCALLTYPE UnregisterVideoMemoryBudgetChangeNotification(DWORD) override {}

 private:
  bool has_trouble(const char* trouble) const { return row_[12] == trouble; }

  fake::Cells row_;
};

class Factory final : public RefCounted<IDXGIFactory1> {
 public:
  Factory() : rows_(fake::read_rows("HMN_FAKE_DXGI")) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID, void** out) override {
    *out = nullptr;
    return E_NOINTERFACE;
  }
  HRESULT STDMETHODCALLTYPE EnumAdapters(UINT, IDXGIAdapter**) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE MakeWindowAssociation(HWND, UINT) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE GetWindowAssociation(HWND*) override { return E_NOTIMPL; }
  HRESULT STDMETHODCALLTYPE CreateSwapChain(IUnknown*, DXGI_SWAP_CHAIN_DESC*,
                                            IDXGISwapChain**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE CreateSoftwareAdapter(HMODULE, IDXGIAdapter**) override {
    return E_NOTIMPL;
  }
  HRESULT STDMETHODCALLTYPE EnumAdapters1(UINT number, IDXGIAdapter1** out) override {
    if (const auto result = check_lie("EnumAdapters1")) return *result;
    *out = nullptr;
    const bool is_endless = fake::lies("EnumAdapters1", "endless");
    if (number >= rows_.size() && !is_endless) return not_found;
    *out = new Adapter(rows_[is_endless ? 0 : number]);
    return S_OK;
  }
  BOOL STDMETHODCALLTYPE IsCurrent() override {
    if (fake::lies("IsCurrent", "never")) return FALSE;
    return rows_ == fake::read_rows("HMN_FAKE_DXGI") ? TRUE : FALSE;
  }

 private:
  std::vector<fake::Cells> rows_;
};

}  // namespace

extern "C" __declspec(dllexport) HRESULT WINAPI CreateDXGIFactory1(REFIID id, void** out) {
  if (fake::setting("HMN_FAKE_DXGI_HANG") != 0) Sleep(INFINITE);
  if (const auto result = check_lie("CreateDXGIFactory1")) return *result;
  *out = nullptr;
  const auto error = static_cast<HRESULT>(fake::setting("HMN_FAKE_DXGI_FACTORY"));
  if (error != 0) return error;
  if (!IsEqualGUID(id, __uuidof(IDXGIFactory1))) return E_NOINTERFACE;
  *out = new Factory;
  return S_OK;
}
