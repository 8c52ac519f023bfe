// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <dlfcn.h>
#include <doctest/doctest.h>

#include <string>

#include "../nvml/fake_nvml.h"
#include "../nvml/nvml_abi.hpp"

namespace selftest {

using namespace fake_nvml;

// The fake as a client uses it, through dlopen and dlsym.
class LoadedNvml {
 public:
  explicit LoadedNvml(const std::string& variant = "nvml")
      : library_(dlopen((FAKES_DIR "/" + variant + "/libnvidia-ml.so.1").c_str(),
                        RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) FAIL(dlerror());
    find_function<void()>("fake_nvml_reset")();
  }

  ~LoadedNvml() {
    find_function<void()>("fake_nvml_reset")();
    dlclose(library_);
  }

  LoadedNvml(const LoadedNvml&) = delete;
  LoadedNvml& operator=(const LoadedNvml&) = delete;

  bool has(const char* symbol) const { return dlsym(library_, symbol) != nullptr; }

  template <class Signature>
  Signature* find_function(const char* symbol) const {
    auto* function = reinterpret_cast<Signature*>(dlsym(library_, symbol));
    if (!function) FAIL("no symbol ", symbol);
    return function;
  }

  template <class... Args>
  Status operator()(const char* symbol, Args... args) const {
    return find_function<Status(Args...)>(symbol)(args...);
  }

  int load(const std::string& json) const {
    return find_function<int(const char*)>("fake_nvml_load")(json.c_str());
  }

  void start(const std::string& json) const {
    REQUIRE(load(json) == 0);
    REQUIRE((*this)("nvmlInit_v2") == success);
  }

  DeviceHandle gpu(unsigned index = 0) const {
    DeviceHandle handle = nullptr;
    REQUIRE((*this)("nvmlDeviceGetHandleByIndex_v2", index, &handle) == success);
    return handle;
  }

  unsigned long long calls(const char* symbol) const {
    return find_function<unsigned long long(const char*)>("fake_nvml_calls")(symbol);
  }

  int sessions() const { return find_function<int()>("fake_nvml_initialized")(); }

 private:
  void* library_;
};

}  // namespace selftest
