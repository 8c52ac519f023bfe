// SPDX-License-Identifier: MIT OR Apache-2.0
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>

#include "platform/process.hpp"
#include "support.hpp"
#include "syscall_trace.hpp"

using namespace hmn;
namespace field = process_memory_field;

namespace {

thread_local int allocations = 0;

std::uint64_t read_resident(HostSource& host) {
  ProcessMemory memory;
  REQUIRE(host.own_memory(field::cheap, memory));
  return memory.resident.value_or(0);
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* block = std::malloc(size)) return block;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

TEST_CASE("own memory follows the pages that the process touches") {
  constexpr std::size_t size = 64 << 20;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t shadow = size / 8;  // of the block; it stays
#else
  constexpr std::size_t shadow = 0;
#endif
  const auto host = make_real_host();
  const std::uint64_t before = read_resident(*host);
  void* const block =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(block != MAP_FAILED);
  std::memset(block, 1, size);
  const std::uint64_t during = read_resident(*host);
  munmap(block, size);
  const std::uint64_t after = read_resident(*host);
  CHECK(during > before + size * 9 / 10);
#ifndef __SANITIZE_THREAD__  // its shadow of the block is resident, too
  CHECK(during < before + shadow + size * 11 / 10);
#endif
  CHECK(after < before + shadow + size / 10);
}

TEST_CASE("reading own memory does not allocate") {
  const auto host = make_real_host();
  ProcessMemory memory;
  REQUIRE(host->own_memory(field::cheap, memory));
  const int before = allocations;
  for (int i = 0; i < 10; ++i) REQUIRE(host->own_memory(field::cheap, memory));
  CHECK(allocations == before);
}

TEST_CASE("reading own memory takes one fstat and one pread") {
  const auto host = make_real_host();
  ProcessMemory memory;
  const auto calls =
      test::trace_system_calls([&] { (void)host->own_memory(field::cheap, memory); },
                               [&] { (void)host->own_memory(field::cheap, memory); });
  if (!calls) return;  // tracing is refused here
  REQUIRE(calls->size() == 2);
  CHECK((calls->at(0) == SYS_fstat || calls->at(0) == SYS_newfstatat));
  CHECK(calls->at(1) == SYS_pread64);
}

TEST_CASE("a forked child reads its own memory") {
  const auto host = make_real_host();
  CHECK(read_resident(*host) > 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr std::size_t size = 32 << 20;
    void* const block =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(block, 1, size);
    ProcessMemory memory;
    const bool is_correct = static_cast<bool>(host->own_memory(field::cheap, memory));
    _exit(is_correct && *memory.resident > size ? 0 : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("own memory is read after closefrom and with a reused descriptor") {
  const auto host = make_real_host();
  CHECK(read_resident(*host) > 0);
  const pid_t child = fork();
  if (child == 0) {
    ProcessMemory memory;
    bool is_correct = static_cast<bool>(host->own_memory(field::cheap, memory));
    for (int fd = 3; fd < 256; ++fd) close(fd);
    for (int fd = 3; fd < 32; ++fd) (void)dup2(0, fd);
    is_correct = is_correct && host->own_memory(field::cheap, memory) && *memory.resident > 0;
    _exit(is_correct ? 0 : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("own memory is read from a fake tree, with a reason if the tree is empty") {
  const hmn_fake::Tree tree;
  auto self = hmn_fake::simple_process(4242, "me", 1, 100);
  hmn_fake::add_process(tree, self);
  hmn_fake::set_self(tree, 4242);
  ProcessMemory memory;
  memory.pid = 77;
  REQUIRE(make_host(tree)->own_memory(field::cheap, memory));
  CHECK(memory.resident == 100 * platform::page_size());
  CHECK(memory.pid == 77);
  MemorySizes sizes;
  REQUIRE(make_host(tree)->own_sizes(sizes));
  CHECK(sizes.resident == memory.resident);
  CHECK(sizes.virtual_size == memory.virtual_size);
  const hmn_fake::Tree empty;
  const auto none = make_host(empty)->own_memory(field::cheap, memory);
  REQUIRE_FALSE(none);
  CHECK(none.failure().code == Status::no_source);
  CHECK_FALSE(make_host(empty)->own_sizes(sizes));
}

TEST_CASE("a root that is too long is an error, not another tree") {
  Settings settings;
  settings.proc_root = "/" + std::string(8000, 'x');
  ProcessMemory memory;
  const auto result = make_os(settings)->own_memory(field::cheap, memory);
  REQUIRE_FALSE(result);
  CHECK(result.failure().code == Status::no_source);
}
