# SPDX-License-Identifier: MIT OR Apache-2.0
# module_headers.cmake: writes OUT with a digest of the contents of HEADERS, independent of their
# folders.
set(digests "")
foreach(header IN LISTS HEADERS)
  file(SHA256 ${header} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUT} "namespace hmn::simulated {
extern const char module_headers[];
const char module_headers[] = \"${digest}\";
}
")
