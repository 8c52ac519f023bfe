// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/watched.hpp"

#include <type_traits>
#include <utility>

namespace hmn::simulated {
namespace {

using platform::override_scope;

class watched_host final : public host_source {
 public:
  watched_host(std::shared_ptr<platform::recording> in, std::unique_ptr<host_source> real)
      : in_(std::move(in)), real_(std::move(real)) {}

  source id() const noexcept override { return real_->id(); }
  result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) override {
    const override_scope scope(in_.get());
    return real_->memory(pid, fields, out);
  }
  result<void> own_memory(std::uint32_t fields, process_memory& out) override {
    const override_scope scope(in_.get());
    return real_->own_memory(fields, out);
  }
  result<void> system(system_memory& out) override {
    const override_scope scope(in_.get());
    return real_->system(out);
  }
  void describe(usage& row) override {
    const override_scope scope(in_.get());
    real_->describe(row);
  }
  void describe_texts(usage& row) override {
    const override_scope scope(in_.get());
    real_->describe_texts(row);
  }
  void describe_all(std::span<usage* const> rows, function_ref<bool(usage&)> recall) override {
    const override_scope scope(in_.get());
    real_->describe_all(rows, recall);
  }
  void own_groups(std::vector<std::string>& out) override {
    const override_scope scope(in_.get());
    real_->own_groups(out);
  }
  result<void> groups(group_memory& out) override {
    const override_scope scope(in_.get());
    return real_->groups(out);
  }
  void limit(std::string_view pci_bus_id, pools& all) override {
    const override_scope scope(in_.get());
    real_->limit(pci_bus_id, all);
  }
  std::optional<source_state> describe_source(source which) override {
    const override_scope scope(in_.get());
    return real_->describe_source(which);
  }

 private:
  const std::shared_ptr<platform::recording> in_;
  const std::unique_ptr<host_source> real_;
};

class watched_device final : public device_source {
 public:
  watched_device(std::shared_ptr<platform::recording> in, std::unique_ptr<device_source> real,
                 std::shared_ptr<scenario> to)
      : device_source(real->id(), real->can_block() ? calls::may_block : calls::return_in_time),
        in_(std::move(in)),
        real_(std::move(real)),
        to_(std::move(to)) {
    answer_for(real_->all_answered_for());
    fill(real_->fills());
  }

  result<void> probe() override {
    return within([&] { return real_->probe(); });
  }
  result<void> prepare(reading& r) override {
    result<void> done = within([&] { return real_->prepare(r); });
    if (to_ && done) to_->is(describe(id()));
    if (to_ && !done && !rests_) to_->refused(done.why());
    return done;
  }
  result<void> devices(std::vector<device>& out, reading& r) override {
    result<void> done = within([&] { return real_->devices(out, r); });
    if (to_ && done) to_->listed(out);
    return done;
  }
  result<void> memory(slot number, pools& out, reading& r) override {
    return keep(number, within([&] { return real_->memory(number, out, r); }), out);
  }
  result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                         reading& r) override {
    return keep(number, within([&] { return real_->telemetry(number, fields, out, r); }), out);
  }
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override {
    return keep(number, within([&] { return real_->metrics(number, slow, out, r); }), out);
  }
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override {
    return keep(number, within([&] { return real_->processes(number, out, r); }), out);
  }
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override {
    return within([&] { return real_->process(number, pid, self, out, r); });
  }
  bool finish(reading& r) override {
    return within([&] { return real_->finish(r); });
  }
  void close() noexcept override {
    const override_scope scope(in_.get());
    real_->close();
  }
  source_state describe(source which) const override {
    const override_scope scope(in_.get());
    return real_->describe(which);
  }

 private:
  template <class F>
  std::invoke_result_t<F> within(F call) {
    const override_scope scope(in_.get());
    std::invoke_result_t<F> done = call();
    rests_ = real_->rests();
    taken_ns_ = real_->taken_ns();
    return done;
  }
  template <class T>
  result<void> keep(slot number, result<void> done, const T& value) {
    if (to_) to_->reported(number, done, value);
    return done;
  }

  const std::shared_ptr<platform::recording> in_;
  const std::unique_ptr<device_source> real_;
  const std::shared_ptr<scenario> to_;
};

}  // namespace

std::unique_ptr<host_source> watch(std::shared_ptr<platform::recording> in,
                                   std::unique_ptr<host_source> real) {
  return std::make_unique<watched_host>(std::move(in), std::move(real));
}

std::unique_ptr<device_source> watch(std::shared_ptr<platform::recording> in,
                                     std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& reported) {
  const bool reads_files = real->id() != source::nvml;
  return std::make_unique<watched_device>(std::move(in), std::move(real),
                                          reads_files ? nullptr : reported);
}

}  // namespace hmn::simulated
