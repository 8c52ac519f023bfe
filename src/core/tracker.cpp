// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/tracker.hpp"

#include <cstring>
#include <utility>

#include "model/message_text.hpp"

namespace hmn {

tracker::tracker(std::shared_ptr<context> linked, std::uint32_t device_index, std::uint64_t limit,
                 std::uint32_t tag_capacity)
    : budget_(limit),
      tag_capacity_(tag_capacity),
      device_index_(device_index),
      tags_(std::make_unique<tag_slot[]>(tag_capacity)),
      linked_(std::move(linked)) {}

tracker::~tracker() {
  for (std::uint32_t i = 0; i < tag_capacity_; ++i) {
    const std::unique_ptr<const char[]> ended(tags_[i].name.load());
  }
}

status tracker::allocate(std::uint32_t tag, std::uint64_t bytes) noexcept {
  if (tag != 0 && !has_tag(tag)) return status::range;
  if (!budget_.take(bytes)) {
    refused_.fetch_add(1);
    return status::limit;
  }
  if (tag != 0) tags_[tag - 1].bytes.add(bytes);
  return status::ok;
}

status tracker::release(std::uint32_t tag, std::uint64_t bytes) noexcept {
  if (tag == 0) return budget_.give(bytes) ? status::ok : status::range;
  if (!has_tag(tag) || !tags_[tag - 1].bytes.subtract(bytes)) return status::range;
  if (budget_.give(bytes)) return status::ok;
  // Undo: the bytes were released without the tag in the meantime.
  tags_[tag - 1].bytes.add(bytes);
  return status::range;
}

failure tracker::exceeded(std::uint64_t bytes) const {
  const limited_values now = budget_.read();
  return {status::limit,
          source::none,
          {},
          {"out of memory: allocation of ", bytes, " bytes would exceed limit of ", now.limit,
           " bytes (current: ", now.bytes.allocated, " bytes)"}};
}

result<void> tracker::would_fit(std::uint64_t bytes) const {
  const limited_values now = budget_.read();
  if (bytes > now.limit - now.bytes.allocated) return exceeded(bytes);
  return linked_ ? would_fit_device(bytes) : result<void>();
}

result<void> tracker::would_fit_device(std::uint64_t bytes) const {
  if (linked_->is_forked()) {
    return failed(status::forked,
                  "the tracker is linked to a context made before this process was forked");
  }
  const result<std::uint64_t> left = linked_->usable(device_index_);
  if (!left) return left.why();
  if (bytes <= *left) return {};
  return failed(status::limit, {"out of memory: allocation of ", bytes, " bytes would exceed the ",
                                *left, " bytes that are left on device ", device_index_});
}

void tracker::reset() noexcept {
  budget_.clear();
  refused_.store(0);
  for (std::uint32_t i = 1; has_tag(i); ++i) tags_[i - 1].bytes.clear();
}

result<std::uint32_t> tracker::tag(std::string_view name) {
  auto fresh = std::make_unique<char[]>(name.size() + 1);
  std::memcpy(fresh.get(), name.data(), name.size());
  for (std::uint32_t i = 0; i < tag_capacity_; ++i) {
    const char* taken = nullptr;
    if (tags_[i].name.compare_exchange_strong(taken, fresh.get())) {
      static_cast<void>(fresh.release());
      return i + 1;
    }
    if (name == taken) return i + 1;
  }
  return failed(status::limit,
                {"there are ", tag_capacity_, " tags already: ask for a tag_capacity"});
}

bool tracker::has_tag(std::uint32_t tag) const noexcept {
  return tag != 0 && tag <= tag_capacity_ && tags_[tag - 1].name.load() != nullptr;
}

tag_report tracker::read_tag(std::uint32_t tag) const noexcept {
  tag_slot& t = tags_[tag - 1];
  return {t.name.load(), t.bytes.read()};
}

tracker_report tracker::report() const noexcept {
  tracker_report out;
  out.budget = budget_.read();
  out.refused = refused_.load();
  while (has_tag(out.tags + 1)) ++out.tags;
  return out;
}

}  // namespace hmn
