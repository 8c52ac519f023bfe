// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/pdh/abi.hpp"

namespace hmn::pdh {
namespace {

template <class F>
bool load_function(const platform::Library& library, const char* name, F& function) {
  function = reinterpret_cast<F>(library.symbol(name));
  return function != nullptr;
}

}  // namespace

Result<Functions> find_functions(const platform::Library& library) {
  Functions functions;
  // The English names; others are localized.
  const bool has_all = load_function(library, "PdhOpenQueryW", functions.open) &&
                       load_function(library, "PdhAddEnglishCounterW", functions.add) &&
                       load_function(library, "PdhCollectQueryData", functions.collect) &&
                       load_function(library, "PdhGetFormattedCounterArrayW", functions.rows) &&
                       load_function(library, "PdhCloseQuery", functions.close);
  if (!has_all) return Failure{Status::no_source, Source::pdh, {}, "pdh.dll lacks a function"};
  return functions;
}

}  // namespace hmn::pdh
