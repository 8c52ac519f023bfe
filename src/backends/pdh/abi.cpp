// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/abi.hpp"

namespace hmn::pdh {
namespace {

template <class F>
bool find(const platform::library& in, const char* name, F& out) {
  out = reinterpret_cast<F>(in.symbol(name));
  return out != nullptr;
}

}  // namespace

result<functions> find_functions(const platform::library& in) {
  functions f;
  // The English names; others are localized.
  const bool all = find(in, "PdhOpenQueryW", f.open) && find(in, "PdhAddEnglishCounterW", f.add) &&
                   find(in, "PdhCollectQueryData", f.collect) &&
                   find(in, "PdhGetFormattedCounterArrayW", f.rows) &&
                   find(in, "PdhCloseQuery", f.close);
  if (!all) return failure{status::no_source, source::pdh, {}, "pdh.dll lacks a function"};
  return f;
}

}  // namespace hmn::pdh
