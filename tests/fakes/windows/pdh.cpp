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
  Query* query;
  std::string object, name;
  unsigned long growths = fake::setting("HMN_FAKE_PDH_GROWS");
};

constexpr const char* rows_call = "PdhGetFormattedCounterArrayW";

std::vector<std::unique_ptr<Counter>> counters;

// Returns the result of a call that lies and writes nothing.
std::optional<PDH_STATUS> check_lie(const char* call) {
  if (fake::lies(call, "untouched")) return ERROR_SUCCESS;
  const unsigned long error = fake::refusal(call);
  return error != 0 ? std::optional(static_cast<PDH_STATUS>(error)) : std::nullopt;
}

std::vector<const fake::Cells*> find_rows(const Counter& counter) {
  std::vector<const fake::Cells*> rows;
  for (const fake::Cells& row : counter.query->rows) {
    if (row.size() >= 4 && row[0] == counter.object && row[1] == counter.name) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

extern "C" {

__declspec(dllexport) PDH_STATUS WINAPI PdhOpenQueryW(LPCWSTR, DWORD_PTR, PDH_HQUERY* out) {
  if (const auto result = check_lie("PdhOpenQueryW")) return *result;
  *out = new Query{fake::read_rows("HMN_FAKE_PDH")};
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI
    PdhAddEnglishCounterW(PDH_HQUERY query_handle, LPCWSTR path, DWORD_PTR, PDH_HCOUNTER* out) {
  if (const auto result = check_lie("PdhAddEnglishCounterW")) return *result;
  const std::wstring wide(path);
  const std::string text(wide.begin(), wide.end());
  const auto star = text.find("(*)\\");
  if (text.empty() || text[0] != '\\' || star == text.npos) return no_object;
  auto counter = std::make_unique<Counter>();
  counter->query = static_cast<Query*>(query_handle);
  counter->object = text.substr(1, star - 1);
  counter->name = text.substr(star + 4);
  if (find_rows(*counter).empty()) return no_object;
  *out = counter.get();
  counters.push_back(std::move(counter));
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI PdhCollectQueryData(PDH_HQUERY query_handle) {
  if (const auto result = check_lie("PdhCollectQueryData")) return *result;
  Query& query = *static_cast<Query*>(query_handle);
  const bool is_outdated = query.reset != fake::setting("HMN_FAKE_PDH_RESET");
  if (is_outdated && fake::setting("HMN_FAKE_PDH_REFUSES") != 0) return invalid_handle;
  if (!is_outdated) query.rows = fake::read_rows("HMN_FAKE_PDH");
  ++query.collected;
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI
    PdhGetFormattedCounterArrayW(PDH_HCOUNTER counter_handle, DWORD format, LPDWORD size,
                                 LPDWORD count, PPDH_FMT_COUNTERVALUE_ITEM_W out) {
  if (const auto result = check_lie(rows_call)) return *result;
  Counter& counter = *static_cast<Counter*>(counter_handle);
  // A load is a difference.
  if ((format & PDH_FMT_DOUBLE) != 0 && counter.query->collected < 2) return no_history;
  auto rows = find_rows(counter);
  if (out != nullptr && counter.growths > 0) {
    --counter.growths;
    counter.query->rows.push_back(
        {counter.object, counter.name,
         "pid_" + std::to_string(90000 + counter.growths) + "_luid_0x00000000_0x000103D8_phys_0",
         "4096"});
    rows = find_rows(counter);
  }
  size_t needed = 0;
  for (const auto* row : rows) {
    needed += sizeof *out + ((*row)[2].size() + 1) * sizeof(wchar_t);
  }
  const bool is_endless = fake::lies(rows_call, "endless");
  const bool is_huge = fake::lies(rows_call, "huge size");
  if (*size < needed || is_endless || is_huge) {
    *size = is_huge ? MAXDWORD : static_cast<DWORD>(is_endless ? *size + needed : needed);
    *count = static_cast<DWORD>(rows.size());
    return more_data;
  }
  auto* name = reinterpret_cast<wchar_t*>(out + rows.size());
  const auto* const end = reinterpret_cast<const wchar_t*>(reinterpret_cast<char*>(out) + *size);
  if (!fake::lies(rows_call, "uncounted")) *count = static_cast<DWORD>(rows.size());
  if (fake::lies(rows_call, "one more")) ++*count;
  if (fake::lies(rows_call, "huge count")) *count = MAXDWORD - 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::wstring wide = fake::wide((*rows[i])[2]);
    std::memcpy(name, wide.c_str(), (wide.size() + 1) * sizeof(wchar_t));
    out[i].szName = name;
    name += wide.size() + 1;
    if (fake::lies(rows_call, "nameless")) out[i].szName = nullptr;
    out[i].FmtValue.CStatus = static_cast<DWORD>(fake::number(*rows[i], 4));
    if ((format & PDH_FMT_DOUBLE) != 0) {
      out[i].FmtValue.doubleValue = std::strtod((*rows[i])[3].c_str(), nullptr);
    } else {
      out[i].FmtValue.largeValue = std::strtoll((*rows[i])[3].c_str(), nullptr, 0);
    }
  }
  // From the end of the last name on.
  if (fake::lies(rows_call, "unterminated")) std::fill(name - 1, const_cast<wchar_t*>(end), L'9');
  return ERROR_SUCCESS;
}

__declspec(dllexport) PDH_STATUS WINAPI PdhCloseQuery(PDH_HQUERY query_handle) {
  std::erase_if(counters,
                [query_handle](const auto& counter) { return counter->query == query_handle; });
  delete static_cast<Query*>(query_handle);
  return ERROR_SUCCESS;
}

}  // extern "C"
