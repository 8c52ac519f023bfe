-- SPDX-License-Identifier: MIT OR Apache-2.0
rockspec_format = "3.0"
package = "hypomnesis"
version = "0.1.0-1"
source = {
  url = "file://hypomnesis-0.1.0.tar.gz",
  dir = "hypomnesis-0.1.0/bindings/lua",
}
description = {
  summary = "Memory of processes and GPUs; load, temperature and power of GPUs",
  detailed = "The Lua binding of libhypomnesis, which must be installed: HYPOMNESIS_DIR is its prefix.",
  license = "MIT OR Apache-2.0",
}
supported_platforms = {"linux"}
dependencies = {"lua >= 5.1, < 5.5"}
external_dependencies = {
  HYPOMNESIS = {header = "hypomnesis.h", library = "hypomnesis"},
}
build = {
  type = "builtin",
  modules = {
    hypomnesis = "hypomnesis/init.lua",
    ["hypomnesis.check"] = "hypomnesis/check.lua",
    ["hypomnesis.context"] = "hypomnesis/context.lua",
    ["hypomnesis.core"] = {
      sources = {"generated/core.c"},
      libraries = {"hypomnesis", "pthread"},
      incdirs = {"$(HYPOMNESIS_INCDIR)"},
      libdirs = {"$(HYPOMNESIS_LIBDIR)"},
    },
    ["hypomnesis.device"] = "hypomnesis/device.lua",
    ["hypomnesis.ffi"] = "hypomnesis/ffi.lua",
    ["hypomnesis.format"] = "hypomnesis/format.lua",
    ["hypomnesis.generated.cdef"] = "hypomnesis/generated/cdef.lua",
    ["hypomnesis.generated.constants"] = "hypomnesis/generated/constants.lua",
    ["hypomnesis.generated.names"] = "hypomnesis/generated/names.lua",
    ["hypomnesis.generated.records"] = "hypomnesis/generated/records.lua",
    ["hypomnesis.generated.types"] = "hypomnesis/generated/types.lua",
    ["hypomnesis.handle"] = "hypomnesis/handle.lua",
    ["hypomnesis.library"] = "hypomnesis/library.lua",
    ["hypomnesis.memory"] = "hypomnesis/memory.lua",
    ["hypomnesis.metric"] = "hypomnesis/metric.lua",
    ["hypomnesis.native"] = "hypomnesis/native.lua",
    ["hypomnesis.pool"] = "hypomnesis/pool.lua",
    ["hypomnesis.raw"] = "hypomnesis/raw.lua",
    ["hypomnesis.report"] = "hypomnesis/report.lua",
    ["hypomnesis.estimate"] = "hypomnesis/estimate.lua",
    ["hypomnesis.sampler"] = "hypomnesis/sampler.lua",
    ["hypomnesis.spill"] = "hypomnesis/spill.lua",
    ["hypomnesis.tracker"] = "hypomnesis/tracker.lua",
    ["hypomnesis.snapshot"] = "hypomnesis/snapshot.lua",
    ["hypomnesis.telemetry"] = "hypomnesis/telemetry.lua",
    ["hypomnesis.usage"] = "hypomnesis/usage.lua",
  },
}
