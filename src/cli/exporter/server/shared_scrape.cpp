// SPDX-License-Identifier: MIT OR Apache-2.0
#include "cli/exporter/server/shared_scrape.hpp"

#include <algorithm>
#include <utility>

namespace hmn::cli {
namespace {

template <class List>
auto earliest(const List& waiting) {
  return std::min_element(waiting.begin(), waiting.end(),
                          [](const auto& a, const auto& b) { return a.deadline < b.deadline; })
      ->deadline;
}

}  // namespace

shared_scrape::shared_scrape(const server_settings& how)
    : how_(how), reader_([this] { work(); }), watch_([this] { watch(); }) {}

shared_scrape::~shared_scrape() {
  stop();
}

shared_scrape::result shared_scrape::young() const {
  const std::lock_guard lock(mutex_);
  return last_ && clock::now() - last_->begun < how_.max_age ? last_ : nullptr;
}

void shared_scrape::ask(clock::time_point deadline, callback then) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      waiting_.push_back({deadline, std::move(then)});
      asked_.notify_one();
      waited_.notify_one();
      return;
    }
  }
  then(nullptr);
}

void shared_scrape::stop() {
  std::list<waiter> left;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    left.swap(waiting_);
    asked_.notify_one();
    waited_.notify_one();
  }
  for (const auto& each : left) each.then(nullptr);
  if (reader_.joinable()) reader_.join();
  if (watch_.joinable()) watch_.join();
}

shared_scrape::result shared_scrape::read(clock::time_point deadline) {
  using std::chrono::milliseconds;
  const auto begun = clock::now();
  const auto left = std::chrono::duration_cast<milliseconds>(deadline - begun);
  auto text = how_.scrape(std::max(left, milliseconds(1)));
  if (!text) return nullptr;
  return std::make_shared<const finished_scrape>(finished_scrape{begun, std::move(text)});
}

void shared_scrape::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    asked_.wait(lock, [this] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    const auto deadline = earliest(waiting_);
    lock.unlock();
    auto made = read(deadline);
    lock.lock();
    // Includes those who asked while it was read.
    std::list<waiter> served;
    served.swap(waiting_);
    last_ = made;
    lock.unlock();
    for (const auto& each : served) each.then(made);
  }
}

std::list<shared_scrape::waiter> shared_scrape::take_late(clock::time_point now) {
  std::list<waiter> late;
  for (auto each = waiting_.begin(); each != waiting_.end();) {
    const auto next = std::next(each);
    if (each->deadline <= now) late.splice(late.end(), waiting_, each);
    each = next;
  }
  return late;
}

void shared_scrape::watch() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (waiting_.empty())
      waited_.wait(lock);
    else
      waited_.wait_until(lock, earliest(waiting_));
    const auto late = take_late(clock::now());
    if (late.empty()) continue;
    lock.unlock();
    for (const auto& each : late) each.then(nullptr);
    lock.lock();
  }
}

}  // namespace hmn::cli
