// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/anonymizer.hpp"

#include <string>

#include "fuzz.hpp"

using hmn::simulated::Anonymizer;

void fuzz(std::string_view input) {
  Anonymizer anonymizer;
  anonymizer.add_name("alice", Anonymizer::Kind::user);
  anonymizer.add_name("alicebox", Anonymizer::Kind::host);
  anonymizer.learn_names(input);
  const std::string plain_text = anonymizer.anonymize_free_text(input);
  promise(anonymizer.anonymize_free_text(input) == plain_text);
  const std::string known_words = anonymizer.anonymize_words(input);
  promise(anonymizer.anonymize_words(input) == known_words);
  (void)anonymizer.anonymize_program(input, "run");
  (void)anonymizer.anonymize_id(input, 16);
}
