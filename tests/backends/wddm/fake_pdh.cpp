// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_pdh.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace hmn::test {
namespace {

using pdh::Code;
using pdh::Handle;
using pdh::Item;

FakePdh pdh;
// The handle of a counter is its index here, counted from 1.
std::vector<std::u16string> added;

Code open_query(const char16_t* source, std::uintptr_t, Handle* query) {
  if (source != nullptr) return pdh::no_data;
  if (pdh.open_answer != pdh::success) return pdh.open_answer;
  ++pdh.opened;
  *query = &pdh;
  return pdh::success;
}

Code add_counter(Handle query, const char16_t* path, std::uintptr_t, Handle* counter) {
  if (query != &pdh) return pdh::invalid_data;
  if (!pdh.counters.contains(path)) return pdh.missing_answer;
  added.emplace_back(path);
  *counter = reinterpret_cast<Handle>(added.size());
  return pdh::success;
}

Code collect(Handle query) {
  if (query != &pdh) return pdh::invalid_data;
  ++pdh.collected;
  if (pdh.collect_answers.empty()) return pdh::success;
  const Code answer = pdh.collect_answers.front();
  pdh.collect_answers.erase(pdh.collect_answers.begin());
  return answer;
}

// Rows first, the names behind them, as the system lays them out.
Code rows(Handle counter, std::uint32_t format, std::uint32_t* size, std::uint32_t* count,
          Item* out) {
  ++pdh.read;
  if (pdh.rows_answer != pdh::success) return pdh.rows_answer;
  auto& all = pdh.counters[added[reinterpret_cast<std::uintptr_t>(counter) - 1]];
  if (out != nullptr && pdh.growths > 0) {
    --pdh.growths;
    // As many again, of the same names.
    for (std::size_t i = all.size(); i-- > 0;) {
      const std::string ordinal = "#" + std::to_string(all.size());
      all.push_back(all[i]);
      std::u16string& name = all.back().instance;
      name.resize(std::min(name.size(), name.find(u'#')));
      name.append(ordinal.begin(), ordinal.end());
    }
  }
  std::size_t needed = 0;
  for (const FakeRow& row : all) needed += sizeof(Item) + (row.instance.size() + 1) * 2;
  if (*size < needed) {
    *size = static_cast<std::uint32_t>(needed);
    return needed == 0 ? pdh::success : pdh::more_data;
  }
  auto* name = reinterpret_cast<char16_t*>(out + all.size());
  *count = 0;
  for (const FakeRow& row : all) {
    Item& entry = out[(*count)++];
    entry.name = name;
    entry.status = row.status;
    if (format & pdh::format_real) {
      entry.real = row.real;
    } else {
      entry.whole = row.whole;
    }
    std::memcpy(name, row.instance.c_str(), (row.instance.size() + 1) * 2);
    name += row.instance.size() + 1;
  }
  return pdh::success;
}

Code close_query(Handle query) {
  if (query != &pdh) return pdh::invalid_data;
  ++pdh.closed;
  return pdh::success;
}

}  // namespace

FakePdh& FakePdh::instance() {
  return pdh;
}

void FakePdh::reset() {
  pdh = {};
  added.clear();
}

pdh::Functions FakePdh::functions() {
  return {open_query, add_counter, collect, rows, close_query};
}

}  // namespace hmn::test
