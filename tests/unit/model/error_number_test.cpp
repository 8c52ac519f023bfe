// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/failure.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("what is missing has the status that its user gives it") {
  CHECK(status_of(ENOENT, Status::no_source) == Status::no_source);
  CHECK(status_of(ENOENT, Status::unsupported) == Status::unsupported);
}

TEST_CASE("a status that can be acted on is not a failure of the source") {
  const auto of = [](int error) { return status_of(error, Status::no_source); };
  CHECK(of(EACCES) == Status::permission);
  CHECK(of(EPERM) == Status::permission);
  CHECK(of(ESRCH) == Status::no_process);
  CHECK(of(EMFILE) == Status::limit);
  CHECK(of(ENFILE) == Status::limit);
  CHECK(of(ENOMEM) == Status::no_memory);
  CHECK(of(ENXIO) == Status::device_lost);
  CHECK(of(EOPNOTSUPP) == Status::unsupported);
  CHECK(of(EIO) == Status::backend);
  CHECK(of(EINVAL) == Status::backend);
}

TEST_CASE("an error that may be gone next time proves neither absence nor a refusal") {
  for (const int error : {EAGAIN, EINTR, EIO, EMFILE, ENFILE, ENOBUFS, ENODEV, ENOMEM}) {
    CAPTURE(error);
    CHECK(is_passing(error));
    CHECK_FALSE(is_gone(error));
    CHECK_FALSE(is_refused(error));
  }
  for (const int error : {0, ENOENT, ESRCH, EACCES, EPERM, EINVAL}) {
    CAPTURE(error);
    CHECK_FALSE(is_passing(error));
  }
}
