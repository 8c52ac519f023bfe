// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/failure.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("what is missing has the status that its user gives it") {
  CHECK(status_of(ENOENT, status::no_source) == status::no_source);
  CHECK(status_of(ENOENT, status::unsupported) == status::unsupported);
}

TEST_CASE("a status that can be acted on is not a failure of the source") {
  const auto of = [](int error) { return status_of(error, status::no_source); };
  CHECK(of(EACCES) == status::permission);
  CHECK(of(EPERM) == status::permission);
  CHECK(of(ESRCH) == status::no_process);
  CHECK(of(EMFILE) == status::limit);
  CHECK(of(ENFILE) == status::limit);
  CHECK(of(ENOMEM) == status::no_memory);
  CHECK(of(ENXIO) == status::device_lost);
  CHECK(of(EOPNOTSUPP) == status::unsupported);
  CHECK(of(EIO) == status::backend);
  CHECK(of(EINVAL) == status::backend);
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
