// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_pdh.hpp"

#include <cstring>

namespace hmn::test {
namespace {

using pdh::code;
using pdh::handle;
using pdh::item;

fake_pdh it;
// A handle of a counter is its place here.
std::vector<std::u16string> added;

code open_query(const char16_t* source, std::uintptr_t, handle* query) {
  if (source != nullptr) return pdh::no_data;
  if (it.open_answer != pdh::success) return it.open_answer;
  ++it.opened;
  *query = &it;
  return pdh::success;
}

code add_counter(handle query, const char16_t* path, std::uintptr_t, handle* counter) {
  if (query != &it) return pdh::invalid_data;
  if (!it.counters.contains(path)) return it.missing_answer;
  added.emplace_back(path);
  *counter = reinterpret_cast<handle>(added.size());
  return pdh::success;
}

code collect(handle query) {
  if (query != &it) return pdh::invalid_data;
  ++it.collected;
  if (it.collect_answers.empty()) return pdh::success;
  const code answer = it.collect_answers.front();
  it.collect_answers.erase(it.collect_answers.begin());
  return answer;
}

// Rows first, the names behind them, as the system lays them out.
code rows(handle counter, std::uint32_t format, std::uint32_t* size, std::uint32_t* count,
          item* out) {
  ++it.read;
  if (it.rows_answer != pdh::success) return it.rows_answer;
  auto& all = it.counters[added[reinterpret_cast<std::uintptr_t>(counter) - 1]];
  if (out != nullptr && it.growths > 0) {
    --it.growths;
    const auto as_many = all;
    all.insert(all.end(), as_many.begin(), as_many.end());
  }
  std::size_t needed = 0;
  for (const fake_row& r : all) needed += sizeof(item) + (r.instance.size() + 1) * 2;
  if (*size < needed) {
    *size = static_cast<std::uint32_t>(needed);
    return needed == 0 ? pdh::success : pdh::more_data;
  }
  auto* name = reinterpret_cast<char16_t*>(out + all.size());
  *count = 0;
  for (const fake_row& r : all) {
    item& i = out[(*count)++];
    i.name = name;
    i.status = r.status;
    if (format & pdh::as_real) {
      i.real = r.real;
    } else {
      i.whole = r.whole;
    }
    std::memcpy(name, r.instance.c_str(), (r.instance.size() + 1) * 2);
    name += r.instance.size() + 1;
  }
  return pdh::success;
}

code close_query(handle query) {
  if (query != &it) return pdh::invalid_data;
  ++it.closed;
  return pdh::success;
}

}  // namespace

fake_pdh& fake_pdh::now() {
  return it;
}

void fake_pdh::reset() {
  it = {};
  added.clear();
}

pdh::functions fake_pdh::functions() {
  return {open_query, add_counter, collect, rows, close_query};
}

}  // namespace hmn::test
