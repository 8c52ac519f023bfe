// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/text/words.hpp"

#include "model/words.hpp"

namespace hmn::cli {
namespace {

// Finds the word of a number; 0 is unknown, or none, in every enumeration.
Word look_up(WordList list, std::uint32_t number) noexcept {
  const char* const text = number != 0 ? lookup_word(list, number) : nullptr;
  return text != nullptr ? Word(text) : std::nullopt;
}

std::vector<std::string_view> list_words(WordList list, std::uint32_t bits) {
  std::vector<std::string_view> result;
  for (const auto& entry : list)
    if ((bits & static_cast<std::uint32_t>(entry.number)) != 0) result.push_back(entry.word);
  return result;
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
Word domain_word(hypomnesis::domain domain) noexcept {
  return look_up(words::native_domains(), number(domain));
}
Word source_word(hypomnesis::backend_id backend) noexcept {
  return look_up(words::sources(), number(backend));
}

std::vector<std::string_view> usage_kind_words(hypomnesis::usage_kind kinds) {
  return list_words(words::usage_kinds(), number(kinds));
}

std::vector<std::string_view> note_words(hypomnesis::note notes) {
  return list_words(words::notes(), number(notes));
}

}  // namespace hmn::cli
