// SPDX-License-Identifier: MIT OR Apache-2.0
#include "core/tracker.hpp"

#include <cstring>
#include <utility>

#include "model/message_text.hpp"

namespace hmn {

Tracker::Tracker(std::shared_ptr<Context> context, std::uint32_t device_index, std::uint64_t limit,
                 std::uint32_t tag_capacity)
    : budget_(limit),
      tag_capacity_(tag_capacity),
      device_index_(device_index),
      tags_(std::make_unique<TagSlot[]>(tag_capacity)),
      context_(std::move(context)) {}

Tracker::~Tracker() {
  for (std::uint32_t i = 0; i < tag_capacity_; ++i) {
    const std::unique_ptr<const char[]> owner(tags_[i].name.load());
  }
}

Status Tracker::allocate(std::uint32_t tag, std::uint64_t bytes) noexcept {
  if (tag != 0 && !has_tag(tag)) return Status::range;
  if (!budget_.allocate(bytes)) {
    refused_count_.fetch_add(1);
    return Status::limit;
  }
  if (tag != 0) tags_[tag - 1].bytes.add(bytes);
  return Status::ok;
}

Status Tracker::release(std::uint32_t tag, std::uint64_t bytes) noexcept {
  if (tag == 0) return budget_.release(bytes) ? Status::ok : Status::range;
  if (!has_tag(tag) || !tags_[tag - 1].bytes.subtract(bytes)) return Status::range;
  if (budget_.release(bytes)) return Status::ok;
  // Undo: the bytes were released without the tag in the meantime.
  tags_[tag - 1].bytes.add(bytes);
  return Status::range;
}

Failure Tracker::limit_failure(std::uint64_t bytes) const {
  const LimitedValues now = budget_.read();
  return {Status::limit,
          Source::none,
          {},
          {"out of memory: allocation of ", bytes, " bytes would exceed limit of ", now.limit,
           " bytes (current: ", now.bytes.allocated, " bytes)"}};
}

Result<void> Tracker::would_fit(std::uint64_t bytes) const {
  const LimitedValues now = budget_.read();
  if (bytes > now.limit - now.bytes.allocated) return limit_failure(bytes);
  return context_ ? would_fit_device(bytes) : Result<void>();
}

Result<void> Tracker::would_fit_device(std::uint64_t bytes) const {
  if (context_->is_forked()) {
    return make_failure(Status::forked,
                        "the tracker is linked to a context made before this process was forked");
  }
  const Result<std::uint64_t> left = context_->usable(device_index_);
  if (!left) return left.failure();
  if (bytes <= *left) return {};
  return make_failure(Status::limit,
                      {"out of memory: allocation of ", bytes, " bytes would exceed the ", *left,
                       " bytes that are left on device ", device_index_});
}

void Tracker::reset() noexcept {
  budget_.clear();
  refused_count_.store(0);
  for (std::uint32_t i = 1; has_tag(i); ++i) tags_[i - 1].bytes.clear();
}

Result<std::uint32_t> Tracker::tag(std::string_view name) {
  auto name_copy = std::make_unique<char[]>(name.size() + 1);
  std::memcpy(name_copy.get(), name.data(), name.size());
  for (std::uint32_t i = 0; i < tag_capacity_; ++i) {
    const char* existing_name = nullptr;
    if (tags_[i].name.compare_exchange_strong(existing_name, name_copy.get())) {
      static_cast<void>(name_copy.release());
      return i + 1;
    }
    if (name == existing_name) return i + 1;
  }
  return make_failure(Status::limit,
                      {"there are ", tag_capacity_, " tags already: ask for a tag_capacity"});
}

bool Tracker::has_tag(std::uint32_t tag) const noexcept {
  return tag != 0 && tag <= tag_capacity_ && tags_[tag - 1].name.load() != nullptr;
}

TagReport Tracker::read_tag(std::uint32_t tag) const noexcept {
  TagSlot& slot = tags_[tag - 1];
  return {slot.name.load(), slot.bytes.read()};
}

TrackerReport Tracker::report() const noexcept {
  TrackerReport result;
  result.budget = budget_.read();
  result.refused_count = refused_count_.load();
  while (has_tag(result.tag_count + 1)) ++result.tag_count;
  return result;
}

}  // namespace hmn
