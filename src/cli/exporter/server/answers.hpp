// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
#include <microhttpd.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/exporter/server/shared_scrape.hpp"

namespace hmn::cli {

struct release_response {
  void operator()(MHD_Response* of) const { MHD_destroy_response(of); }
};
using response = std::unique_ptr<MHD_Response, release_response>;

// Makes the answers, each with the headers of the web configuration.
class answers {
 public:
  explicit answers(std::vector<std::pair<std::string, std::string>> headers)
      : headers_(std::move(headers)) {}

  // A short text. `header` and `value` are one more header, where there is one.
  MHD_Result send(MHD_Connection* to, unsigned status, std::string_view text,
                  const char* header = nullptr, const char* value = nullptr) const;
  MHD_Result send_index(MHD_Connection* to) const;
  // The text of a scrape is made once for each format.
  MHD_Result send_scrape(MHD_Connection* to, const shared_scrape::result& of, text_format format);

 private:
  response make(std::string text, const char* type) const;

  const std::vector<std::pair<std::string, std::string>> headers_;
  shared_scrape::result made_of_;
  response made_[2];
};

}  // namespace hmn::cli
