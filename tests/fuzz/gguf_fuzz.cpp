// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The header of a GGUF file, whole and cut, and the architecture in its keys.
#include "cli/fit/gguf.hpp"

#include "fuzz.hpp"

using namespace hmn::cli::fit;

namespace {

void check(const Gguf& file, std::uint64_t file_bytes) {
  std::uint64_t sum = 0;
  for (const auto& tensor : file.tensors)
    sum += tensor.bytes;  // none of them passes the file's size
  promise(sum <= file_bytes);
  const auto shape = read_architecture(file);
  promise(shape ? shape->layers.size() <= max_layers : !shape.error().message.empty());
}

}  // namespace

void fuzz(std::string_view input) {
  const std::uint64_t extra_bytes = take_byte(input) * 64;
  bool needs_more = false;
  const auto complete = parse_gguf(input, input.size(), needs_more);
  promise(!needs_more);
  if (complete)
    check(*complete, input.size());
  else
    promise(!complete.error().message.empty());
  // The same bytes at the beginning of a longer file.
  const auto part = parse_gguf(input, input.size() + extra_bytes, needs_more);
  promise(!part || !needs_more);
  if (part) check(*part, input.size() + extra_bytes);
}
