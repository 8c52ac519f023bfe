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

std::uint64_t resident(HostSource& host) {
  ProcessMemory m;
  REQUIRE(host.own_memory(field::cheap, m));
  return m.resident.value_or(0);
}

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

TEST_CASE("own memory follows what the process touches") {
  constexpr std::size_t size = 64 << 20;
#ifdef __SANITIZE_ADDRESS__
  constexpr std::size_t shadow = size / 8;  // of the block; it stays
#else
  constexpr std::size_t shadow = 0;
#endif
  const auto host = host_here();
  const std::uint64_t before = resident(*host);
  void* const block =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(block != MAP_FAILED);
  std::memset(block, 1, size);
  const std::uint64_t with = resident(*host);
  munmap(block, size);
  const std::uint64_t after = resident(*host);
  CHECK(with > before + size * 9 / 10);
#ifndef __SANITIZE_THREAD__  // whose shadow of the block is resident too
  CHECK(with < before + shadow + size * 11 / 10);
#endif
  CHECK(after < before + shadow + size / 10);
}

TEST_CASE("own memory allocates nothing") {
  const auto host = host_here();
  ProcessMemory m;
  REQUIRE(host->own_memory(field::cheap, m));
  const int before = allocations;
  for (int i = 0; i < 10; ++i) REQUIRE(host->own_memory(field::cheap, m));
  CHECK(allocations == before);
}

TEST_CASE("own memory is one fstat and one pread") {
  const auto host = host_here();
  ProcessMemory m;
  const auto calls = test::system_calls_of([&] { (void)host->own_memory(field::cheap, m); },
                                           [&] { (void)host->own_memory(field::cheap, m); });
  if (!calls) return;  // tracing is refused here
  REQUIRE(calls->size() == 2);
  CHECK((calls->at(0) == SYS_fstat || calls->at(0) == SYS_newfstatat));
  CHECK(calls->at(1) == SYS_pread64);
}

TEST_CASE("a forked child reads its own memory") {
  const auto host = host_here();
  CHECK(resident(*host) > 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr std::size_t size = 32 << 20;
    void* const block =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memset(block, 1, size);
    ProcessMemory m;
    const bool ok = static_cast<bool>(host->own_memory(field::cheap, m));
    _exit(ok && *m.resident > size ? 0 : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("own memory survives closefrom and a descriptor that became another file's") {
  const auto host = host_here();
  CHECK(resident(*host) > 0);
  const pid_t child = fork();
  if (child == 0) {
    ProcessMemory m;
    bool ok = static_cast<bool>(host->own_memory(field::cheap, m));
    for (int fd = 3; fd < 256; ++fd) close(fd);
    for (int fd = 3; fd < 32; ++fd) (void)dup2(0, fd);
    ok = ok && host->own_memory(field::cheap, m) && *m.resident > 0;
    _exit(ok ? 0 : 1);
  }
  int code = -1;
  waitpid(child, &code, 0);
  CHECK(WEXITSTATUS(code) == 0);
}

TEST_CASE("own memory from a tree: all fields, and the reasons") {
  const hmn_fake::Tree tree;
  auto me = hmn_fake::simple_process(4242, "me", 1, 100);
  hmn_fake::add_process(tree, me);
  hmn_fake::set_self(tree, 4242);
  ProcessMemory m;
  m.pid = 77;
  REQUIRE(host_on(tree)->own_memory(field::cheap, m));
  CHECK(m.resident == 100 * platform::page_size());
  CHECK(m.pid == 77);
  MemorySizes sizes;
  REQUIRE(host_on(tree)->own_sizes(sizes));
  CHECK(sizes.resident == m.resident);
  CHECK(sizes.virtual_size == m.virtual_size);
  const hmn_fake::Tree empty;
  const auto none = host_on(empty)->own_memory(field::cheap, m);
  REQUIRE_FALSE(none);
  CHECK(none.why().code == Status::no_source);
  CHECK_FALSE(host_on(empty)->own_sizes(sizes));
}

TEST_CASE("a root that is too long is an error, not another tree") {
  Settings s;
  s.proc_root = "/" + std::string(8000, 'x');
  ProcessMemory m;
  const auto r = make_os(s)->own_memory(field::cheap, m);
  REQUIRE_FALSE(r);
  CHECK(r.why().code == Status::no_source);
}
