// SPDX-License-Identifier: MIT OR Apache-2.0
#include "model/failure.hpp"

#include <doctest/doctest.h>

using namespace hmn;

TEST_CASE("a missing file has the status that the caller chooses") {
  CHECK(translate_errno(ENOENT, Status::no_source) == Status::no_source);
  CHECK(translate_errno(ENOENT, Status::unsupported) == Status::unsupported);
}

TEST_CASE("errors that can be acted on have a status of their own") {
  const auto map_error = [](int error) { return translate_errno(error, Status::no_source); };
  CHECK(map_error(EACCES) == Status::permission);
  CHECK(map_error(EPERM) == Status::permission);
  CHECK(map_error(ESRCH) == Status::no_process);
  CHECK(map_error(EMFILE) == Status::limit);
  CHECK(map_error(ENFILE) == Status::limit);
  CHECK(map_error(ENOMEM) == Status::no_memory);
  CHECK(map_error(ENXIO) == Status::device_lost);
  CHECK(map_error(EOPNOTSUPP) == Status::unsupported);
  CHECK(map_error(EIO) == Status::backend);
  CHECK(map_error(EINVAL) == Status::backend);
}

TEST_CASE("a transient error proves neither absence nor refusal") {
  for (const int error : {EAGAIN, EINTR, EIO, EMFILE, ENFILE, ENOBUFS, ENODEV, ENOMEM}) {
    CAPTURE(error);
    CHECK(is_transient(error));
    CHECK_FALSE(is_gone(error));
    CHECK_FALSE(is_refused(error));
  }
  for (const int error : {0, ENOENT, ESRCH, EACCES, EPERM, EINVAL}) {
    CAPTURE(error);
    CHECK_FALSE(is_transient(error));
  }
}
