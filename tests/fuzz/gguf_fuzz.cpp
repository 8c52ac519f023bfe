// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The header of a GGUF file, whole and cut, and the architecture in its keys.
#include "cli/fit/gguf.hpp"

#include "fuzz.hpp"

using namespace hmn::cli::fit;

namespace {

void check(const Gguf& of, std::uint64_t file_bytes) {
  std::uint64_t sum = 0;
  for (const auto& each : of.tensors) sum += each.bytes;  // none of them passes the file's size
  promise(sum <= file_bytes);
  const auto shape = architecture_of(of);
  promise(shape ? shape->layers.size() <= most_layers : !shape.why().message.empty());
}

}  // namespace

void fuzz(std::string_view input) {
  const std::uint64_t more = take_byte(input) * 64;
  bool needs_more = false;
  const auto whole = parse_gguf(input, input.size(), needs_more);
  promise(!needs_more);
  if (whole)
    check(*whole, input.size());
  else
    promise(!whole.why().message.empty());
  // The same bytes at the beginning of a longer file.
  const auto part = parse_gguf(input, input.size() + more, needs_more);
  promise(!part || !needs_more);
  if (part) check(*part, input.size() + more);
}
