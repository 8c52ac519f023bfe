// SPDX-License-Identifier: MIT OR Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "platform/file.hpp"
#include "platform/fork.hpp"
#include "platform/posix/descriptor.hpp"
#include "platform/posix/file_at.hpp"
#include "platform/stand_in.hpp"

namespace hmn::platform {

namespace {

bool look_at(int number, uint64_t device, uint64_t inode, struct stat& found) noexcept {
  return number >= 0 && fstat(number, &found) == 0 &&
         static_cast<uint64_t>(found.st_dev) == device && found.st_ino == inode;
}

// Returns whether it is still the file, and has its name: one that was replaced has none.
bool is_current(int number, uint64_t device, uint64_t inode) noexcept {
  struct stat found;
  return look_at(number, device, inode, found) && found.st_nlink != 0;
}

errno_or<size_t> read_once(int from, std::span<char> buffer) noexcept {
  for (;;) {
    const ssize_t got = pread(from, buffer.data(), buffer.size(), 0);
    if (got >= 0) return {static_cast<size_t>(got), 0};
    if (errno != EINTR) return {0, errno};
  }
}

}  // namespace

bool is_same_file(int number, uint64_t device, uint64_t inode) noexcept {
  struct stat found;
  return look_at(number, device, inode, found);
}

errno_or<size_t> kept_file::read(std::span<char> buffer) noexcept {
  if (stand_in* const r = stand_in::of_thread()) return r->read_small(path_.c_str(), buffer);
  const uint64_t generation = process_generation();
  identity kept;
  if (load(kept) && kept.generation == generation &&
      is_current(kept.descriptor, kept.device, kept.inode)) {
    const errno_or<size_t> got = read_once(kept.descriptor, buffer);
    if (got) return got;
  }
  return read_afresh(buffer, generation);
}

bool kept_file::has_news() const noexcept {
  identity kept;
  if (!load(kept) || kept.generation != process_generation() ||
      !is_same_file(kept.descriptor, kept.device, kept.inode)) {
    return true;
  }
  pollfd one{kept.descriptor, POLLPRI, 0};
  return poll(&one, 1, 0) != 0;
}

errno_or<size_t> kept_file::read_afresh(std::span<char> buffer, uint64_t generation) noexcept {
  descriptor fresh(open_for_reading(AT_FDCWD, path_.c_str()));
  if (!fresh) return {0, errno};
  const errno_or<size_t> got = read_once(fresh.get(), buffer);
  struct stat found;
  if (!got || fstat(fresh.get(), &found) != 0 || !lock(generation)) return got;
  keep({fresh.release(), static_cast<uint64_t>(found.st_dev), found.st_ino, generation});
  lock_.store(0, std::memory_order_release);
  return got;
}

// Stores a fresh descriptor. One that is still ours is replaced under its own number, where another
// reader may be using it, and never closed; one that is not ours is dropped.
void kept_file::keep(const identity& fresh) noexcept {
  identity now = fresh;
  identity before;
  const bool is_ours = load(before) && before.descriptor != fresh.descriptor &&
                       is_same_file(before.descriptor, before.device, before.inode);
  if (is_ours && is_alike(before, fresh)) {
    ::close(fresh.descriptor);  // another thread was first
    return;
  }
  if (is_ours && redirect(before.descriptor, fresh.descriptor)) {
    ::close(fresh.descriptor);
    now.descriptor = before.descriptor;
  }
  store(now);
}

bool kept_file::lock(uint64_t generation) noexcept {
  uint64_t holder = lock_.load(std::memory_order_relaxed);
  return holder != generation &&
         lock_.compare_exchange_strong(holder, generation, std::memory_order_acquire);
}

// Loads with acquire and stores with release in place of fences: a reader that sees a new value
// below also sees the odd number that was stored before it.
bool kept_file::load(identity& out) const noexcept {
  const uint32_t before = sequence_.load(std::memory_order_acquire);
  out.descriptor = descriptor_.load(std::memory_order_acquire);
  out.device = device_.load(std::memory_order_acquire);
  out.inode = inode_.load(std::memory_order_acquire);
  out.generation = generation_.load(std::memory_order_acquire);
  return before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before;
}

void kept_file::store(const identity& now) noexcept {
  // Odd already if a fork interrupted another thread's store.
  const uint32_t odd = sequence_.load(std::memory_order_relaxed) | 1;
  sequence_.store(odd, std::memory_order_relaxed);
  descriptor_.store(now.descriptor, std::memory_order_release);
  device_.store(now.device, std::memory_order_release);
  inode_.store(now.inode, std::memory_order_release);
  generation_.store(now.generation, std::memory_order_release);
  sequence_.store(odd + 1, std::memory_order_release);
}

kept_file::~kept_file() {
  const int saved = errno;
  identity kept;
  if (load(kept) && is_same_file(kept.descriptor, kept.device, kept.inode)) {
    ::close(kept.descriptor);
  }
  errno = saved;
}

}  // namespace hmn::platform
