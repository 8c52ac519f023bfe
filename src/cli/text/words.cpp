// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/words.hpp"

#include "model/words.hpp"

namespace hmn::cli {
namespace {

// Finds the word of a number; 0 is unknown, or none, in every enumeration.
Word look_up(WordList list, std::uint32_t number) noexcept {
  const char* const found = number != 0 ? word_of(list, number) : nullptr;
  return found != nullptr ? Word(found) : std::nullopt;
}

std::vector<std::string_view> words_of_bits(WordList list, std::uint32_t bits) {
  std::vector<std::string_view> all;
  for (const auto& each : list)
    if ((bits & static_cast<std::uint32_t>(each.number)) != 0) all.push_back(each.word);
  return all;
}

}  // namespace

Word class_word(hypomnesis::device_class device_class) noexcept {
  return look_up(words::device_classes(), number(device_class));
}

Word form_word(hypomnesis::device_form form) noexcept {
  return look_up(words::device_forms(), number(form));
}
Word memory_kind_word(hypomnesis::device_memory kind) noexcept {
  return look_up(words::memory_kinds(), number(kind));
}
Word state_word(hypomnesis::run_state state) noexcept {
  return look_up(words::states(), number(state));
}
Word pool_word(hypomnesis::pool_kind pool) noexcept {
  return look_up(words::pool_kinds(), number(pool));
}
Word accounting_word(hypomnesis::accounting_kind accounting) noexcept {
  return look_up(words::accountings(), number(accounting));
}
Word name_state_word(hypomnesis::name_status state) noexcept {
  return look_up(words::name_states(), number(state));
}
Word vendor_word(hypomnesis::vendor_id vendor) noexcept {
  return look_up(words::vendors(), number(vendor));
}
Word vendor_name(hypomnesis::vendor_id vendor) noexcept {
  const std::string_view name = hmn::vendor_name(number(vendor));
  return name.empty() ? std::nullopt : Word(name);
}
Word subject_word(hypomnesis::part subject) noexcept {
  return look_up(words::subjects(), number(subject));
}
Word domain_word(hypomnesis::domain of) noexcept {
  return look_up(words::native_domains(), number(of));
}
Word source_word(hypomnesis::backend_id backend) noexcept {
  return look_up(words::sources(), number(backend));
}

std::vector<std::string_view> usage_kind_words(hypomnesis::usage_kind bits) {
  return words_of_bits(words::usage_kinds(), number(bits));
}

std::vector<std::string_view> note_words(hypomnesis::note bits) {
  return words_of_bits(words::notes(), number(bits));
}

}  // namespace hmn::cli
