// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/abi.hpp"

namespace hmn::pdh {
namespace {

template <class F>
bool find(const platform::Library& in, const char* name, F& out) {
  out = reinterpret_cast<F>(in.symbol(name));
  return out != nullptr;
}

}  // namespace

Result<Functions> find_functions(const platform::Library& in) {
  Functions f;
  // The English names; others are localized.
  const bool all = find(in, "PdhOpenQueryW", f.open) && find(in, "PdhAddEnglishCounterW", f.add) &&
                   find(in, "PdhCollectQueryData", f.collect) &&
                   find(in, "PdhGetFormattedCounterArrayW", f.rows) &&
                   find(in, "PdhCloseQuery", f.close);
  if (!all) return Failure{Status::no_source, Source::pdh, {}, "pdh.dll lacks a function"};
  return f;
}

}  // namespace hmn::pdh
