// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A pdh.dll of the toolchain's own headers. HMN_FAKE_PDH: object;counter;instance;value;status of
// the row. A counter that no row has does not exist. HMN_FAKE_PDH_GROWS: how often each list grows
// by a row between its size and itself. HMN_FAKE_PDH_RESET: a query of before it was last changed
// goes on with the rows of then, or with HMN_FAKE_PDH_REFUSES fails. Every call knows the lies 0x…
// and "untouched"; that of the rows "uncounted", "one more", "huge count", "endless", "huge size",
// "unterminated" and "nameless" too.
#include <pdh.h>
#include <windows.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>

#include "rows.hpp"

namespace {

constexpr PDH_STATUS more_data = static_cast<PDH_STATUS>(0x800007D2);
constexpr PDH_STATUS no_object = static_cast<PDH_STATUS>(0xC0000BB8);
constexpr PDH_STATUS invalid_handle = static_cast<PDH_STATUS>(0xC0000BBC);
constexpr PDH_STATUS no_history = static_cast<PDH_STATUS>(0xC0000BC6);

struct Query {
  std::vector<fake::Cells> rows;
  unsigned collected = 0;
  unsigned long reset = fake::setting("HMN_FAKE_PDH_RESET");
};

struct Counter {
  Query* of;
  std::string object, name;
  unsigned long growths = fake::setting("HMN_FAKE_PDH_GROWS");
};

constexpr const char* rows_call = "PdhGetFormattedCounterArrayW";

std::vector<std::unique_ptr<Counter>> counters;

// What the call returns without writing anything.
std::optional<PDH_STATUS> lie_of(const char* call) {
  if (fake::lies(call, "untouched")) return ERROR_SUCCESS;
  const unsigned long refused = fake::refusal(call);
  return refused != 0 ? std::optional(static_cast<PDH_STATUS>(refused)) : std::nullopt;
}

std::vector<const fake::Cells*> rows_of(const Counter& c) {
  std::vector<const fake::Cells*> all;
  for (const fake::Cells& row : c.of->rows) {
    if (row.size() >= 4 && row[0] == c.object && row[1] == c.name) all.push_back(&row);
  }
  return all;
}

}  // namespace

extern "C" {

__declspec(dllexport) PDH_STATUS WINAPI PdhOpenQueryW(LPCWSTR, DWORD_PTR, PDH_HQUERY* out) {
  if (const auto says = lie_of("PdhOpenQueryW")) return *says;
  *out = new Query{fake::rows_of("HMN_FAKE_PDH")};
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI
    PdhAddEnglishCounterW(PDH_HQUERY of, LPCWSTR path, DWORD_PTR, PDH_HCOUNTER* out) {
  if (const auto says = lie_of("PdhAddEnglishCounterW")) return *says;
  const std::wstring wide(path);
  const std::string text(wide.begin(), wide.end());
  const auto star = text.find("(*)\\");
  if (text.empty() || text[0] != '\\' || star == text.npos) return no_object;
  auto c = std::make_unique<Counter>();
  c->of = static_cast<Query*>(of);
  c->object = text.substr(1, star - 1);
  c->name = text.substr(star + 4);
  if (rows_of(*c).empty()) return no_object;
  *out = c.get();
  counters.push_back(std::move(c));
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY of) {
  if (const auto says = lie_of("PdhCollectQueryData")) return *says;
  Query& q = *static_cast<Query*>(of);
  const bool is_of_before = q.reset != fake::setting("HMN_FAKE_PDH_RESET");
  if (is_of_before && fake::setting("HMN_FAKE_PDH_REFUSES") != 0) return invalid_handle;
  if (!is_of_before) q.rows = fake::rows_of("HMN_FAKE_PDH");
  ++q.collected;
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI
    PdhGetFormattedCounterArrayW(PDH_HCOUNTER of, DWORD format, LPDWORD size, LPDWORD count,
                                 PPDH_FMT_COUNTERVALUE_ITEM_W out) {
  if (const auto says = lie_of(rows_call)) return *says;
  Counter& c = *static_cast<Counter*>(of);
  // A load is a difference.
  if ((format & PDH_FMT_DOUBLE) != 0 && c.of->collected < 2) return no_history;
  auto all = rows_of(c);
  if (out != nullptr && c.growths > 0) {
    --c.growths;
    c.of->rows.push_back(
        {c.object, c.name,
         "pid_" + std::to_string(90000 + c.growths) + "_luid_0x00000000_0x000103D8_phys_0",
         "4096"});
    all = rows_of(c);
  }
  size_t needed = 0;
  for (const auto* row : all) {
    needed += sizeof *out + ((*row)[2].size() + 1) * sizeof(wchar_t);
  }
  const bool is_endless = fake::lies(rows_call, "endless");
  const bool is_huge = fake::lies(rows_call, "huge size");
  if (*size < needed || is_endless || is_huge) {
    *size = is_huge ? MAXDWORD : static_cast<DWORD>(is_endless ? *size + needed : needed);
    *count = static_cast<DWORD>(all.size());
    return more_data;
  }
  auto* name = reinterpret_cast<wchar_t*>(out + all.size());
  const auto* const end = reinterpret_cast<const wchar_t*>(reinterpret_cast<char*>(out) + *size);
  if (!fake::lies(rows_call, "uncounted")) *count = static_cast<DWORD>(all.size());
  if (fake::lies(rows_call, "one more")) ++*count;
  if (fake::lies(rows_call, "huge count")) *count = MAXDWORD - 1;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::wstring wide = fake::wide((*all[i])[2]);
    std::memcpy(name, wide.c_str(), (wide.size() + 1) * sizeof(wchar_t));
    out[i].szName = name;
    name += wide.size() + 1;
    if (fake::lies(rows_call, "nameless")) out[i].szName = nullptr;
    out[i].FmtValue.CStatus = static_cast<DWORD>(fake::number(*all[i], 4));
    if ((format & PDH_FMT_DOUBLE) != 0) {
      out[i].FmtValue.doubleValue = std::strtod((*all[i])[3].c_str(), nullptr);
    } else {
      out[i].FmtValue.largeValue = std::strtoll((*all[i])[3].c_str(), nullptr, 0);
    }
  }
  // From the end of the last name on.
  if (fake::lies(rows_call, "unterminated")) std::fill(name - 1, const_cast<wchar_t*>(end), L'9');
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY of) {
  std::erase_if(counters, [of](const auto& c) { return c->of == of; });
  delete static_cast<Query*>(of);
  return ERROR_SUCCESS;
}

}  // extern "C"
