// SPDX-License-Identifier: MIT OR Apache-2.0
// Compiles once the definitions that fmt's headers only declare; in each file that formats they
// would take most of the time. The instantiations are those that fmt 9 to 12 leave to their
// library.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template thousands_sep_result<char> thousands_sep_impl<char>(locale_ref);
template char decimal_point_impl<char>(locale_ref);
#if FMT_VERSION >= 100000 && FMT_VERSION < 120000
template void vformat_to<char>(buffer<char>&, string_view, vformat_args<>::type, locale_ref);
#endif

}  // namespace detail
FMT_END_NAMESPACE
