// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/simulated/watched.hpp"

#include <utility>

namespace hmn::simulated {
namespace {

using platform::stand_in_scope;

class watched_host final : public host_source {
 public:
  watched_host(watching in, std::unique_ptr<host_source> real)
      : in_(std::move(in)), real_(std::move(real)) {}

  source id() const noexcept override { return real_->id(); }
  result<void> memory(std::uint32_t pid, std::uint32_t fields, process_memory& out) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->memory(pid, fields, out);
  }
  result<void> own_memory(std::uint32_t fields, process_memory& out) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->own_memory(fields, out);
  }
  result<void> system(system_memory& out) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->system(out);
  }
  void describe(usage& row) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->describe(row);
  }
  void describe_texts(usage& row) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->describe_texts(row);
  }
  void own_groups(std::vector<std::string>& out) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->own_groups(out);
  }
  result<void> groups(group_memory& out) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->groups(out);
  }
  void limit(std::string_view pci_bus_id, pools& all) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->limit(pci_bus_id, all);
  }
  std::optional<source_state> describe_source(source which) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->describe_source(which);
  }

 private:
  const watching in_;
  const std::unique_ptr<host_source> real_;
};

class watched_device final : public device_source {
 public:
  watched_device(watching in, std::unique_ptr<device_source> real, std::shared_ptr<scenario> told)
      : in_(std::move(in)), real_(std::move(real)), told_(std::move(told)) {}

  source id() const noexcept override { return real_->id(); }
  bool can_block() const noexcept override { return real_->can_block(); }
  bool close_when_idle() const noexcept override { return real_->close_when_idle(); }
  bool answers_for(source which) const noexcept override { return real_->answers_for(which); }

  result<void> probe() override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->probe();
  }
  result<void> prepare(reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    result<void> said = real_->prepare(r);
    if (told_ && said) told_->is(real_->describe(id()));
    if (told_ && !said && !real_->rests()) told_->refused(said.why());
    return said;
  }
  result<void> devices(std::vector<device>& out, reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    result<void> said = real_->devices(out, r);
    if (told_ && said) told_->listed(out);
    return said;
  }
  result<void> memory(slot number, pools& out, reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return note(number, real_->memory(number, out, r), out);
  }
  result<void> telemetry(slot number, std::uint32_t fields, hmn::telemetry& out,
                         reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return note(number, real_->telemetry(number, fields, out, r), out);
  }
  result<void> metrics(slot number, bool slow, std::vector<metric>& out, reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return note(number, real_->metrics(number, slow, out, r), out);
  }
  result<void> processes(slot number, std::vector<usage>& out, reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return note(number, real_->processes(number, out, r), out);
  }
  result<void> process(slot number, std::uint32_t pid, bool self, usage& out, reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->process(number, pid, self, out, r);
  }
  void finish(reading& r) override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->finish(r);
  }
  bool rests() const noexcept override { return real_->rests(); }
  void close() noexcept override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    real_->close();
  }
  source_state describe(source which) const override {
    const stand_in_scope scope(in_.in.get(), in_.exchange);
    return real_->describe(which);
  }

 private:
  template <class T>
  result<void> note(slot number, result<void> said, const T& value) {
    if (told_) told_->told(number, said, value);
    return said;
  }

  const watching in_;
  const std::unique_ptr<device_source> real_;
  const std::shared_ptr<scenario> told_;
};

}  // namespace

std::unique_ptr<host_source> watch(watching in, std::unique_ptr<host_source> real) {
  return std::make_unique<watched_host>(std::move(in), std::move(real));
}

std::unique_ptr<device_source> watch(watching in, std::unique_ptr<device_source> real,
                                     const std::shared_ptr<scenario>& told) {
  const bool reads_files = real->id() != source::nvml;
  return std::make_unique<watched_device>(std::move(in), std::move(real),
                                          reads_files ? nullptr : told);
}

}  // namespace hmn::simulated
