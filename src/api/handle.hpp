// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include <hypomnesis.h>

#include <memory>

#include "core/context.hpp"
#include "core/sampler.hpp"
#include "core/spill.hpp"
#include "core/tracker.hpp"

namespace hmn::api {

// Target type of a context handle; a context is shared with its samplers.
using shared_context = std::shared_ptr<context>;

inline const shared_context& shared(hmn_context* handle) noexcept {
  return *reinterpret_cast<const shared_context*>(handle);
}
inline context& object(hmn_context* handle) noexcept {
  return *shared(handle);
}
inline const snapshot& object(const hmn_snapshot* handle) noexcept {
  return *reinterpret_cast<const snapshot*>(handle);
}
inline const sampler& object(const hmn_sampler* handle) noexcept {
  return *reinterpret_cast<const sampler*>(handle);
}
inline sampler& object(hmn_sampler* handle) noexcept {
  return *reinterpret_cast<sampler*>(handle);
}
inline const spill& object(const hmn_spill* handle) noexcept {
  return *reinterpret_cast<const spill*>(handle);
}
inline spill& object(hmn_spill* handle) noexcept {
  return *reinterpret_cast<spill*>(handle);
}
inline const tracker& object(const hmn_tracker* handle) noexcept {
  return *reinterpret_cast<const tracker*>(handle);
}
inline tracker& object(hmn_tracker* handle) noexcept {
  return *reinterpret_cast<tracker*>(handle);
}
inline hmn_context* handle_of(std::unique_ptr<shared_context> object) noexcept {
  return reinterpret_cast<hmn_context*>(object.release());
}
inline hmn_snapshot* handle_of(std::unique_ptr<snapshot> object) noexcept {
  return reinterpret_cast<hmn_snapshot*>(object.release());
}
inline hmn_sampler* handle_of(std::unique_ptr<sampler> object) noexcept {
  return reinterpret_cast<hmn_sampler*>(object.release());
}
inline hmn_tracker* handle_of(std::unique_ptr<tracker> object) noexcept {
  return reinterpret_cast<hmn_tracker*>(object.release());
}
inline hmn_spill* handle_of(std::unique_ptr<spill> object) noexcept {
  return reinterpret_cast<hmn_spill*>(object.release());
}

}  // namespace hmn::api
