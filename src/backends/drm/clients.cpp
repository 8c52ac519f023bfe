// SPDX-License-Identifier: MIT OR Apache-2.0
#include "backends/drm/clients.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <utility>

#include "backends/drm/fdinfo.hpp"
#include "model/scan.hpp"
#include "model/usage_sum.hpp"
#include "platform/clock.hpp"

namespace hmn::drm {
namespace {

// Shorter windows measure the clock rather than the load.
constexpr std::uint64_t shortest_window_ns = 10'000'000;

ClientKey key_of(const Card& of, const Fdinfo* info) noexcept {
  if (info != nullptr && info->client_id) {
    return {ClientKey::Kind::id, of.number, *info->client_id};
  }
  if (info != nullptr && info->pasid) return {ClientKey::Kind::pasid, of.number, *info->pasid};
  return {ClientKey::Kind::none, of.number, 0};
}

ClientUse use_on(const Card& of, const Fdinfo& info) noexcept {
  const Driver& by = *of.by;
  ClientUse use = measure(
      info, [&](std::string_view region) { return by.role_of(of, region); },
      [&](std::string_view engine) { return by.kind_of(engine); });
  by.add_own_keys(of, info, use);
  if (!of.counts_engines) {
    use.busy_ns.reset();
    use.kinds.reset();
  }
  return use;
}

std::uint64_t used_or_0(const Client& c) noexcept {
  return c.use.used().value_or(0);
}

// Counters may briefly step back: that is no gain.
std::uint64_t gain(std::optional<std::uint64_t> before, std::optional<std::uint64_t> now) noexcept {
  return before && now && *now > *before ? *now - *before : 0;
}

std::optional<double> share(const EngineSample& before, const EngineSample& now,
                            std::uint64_t window_ns) noexcept {
  const auto capacity = static_cast<double>(now.capacity);
  if (now.busy_ns && before.busy_ns) {
    const auto busy = static_cast<double>(gain(before.busy_ns, now.busy_ns));
    return 100 * busy / static_cast<double>(window_ns) / capacity;
  }
  const std::uint64_t clock = gain(before.total_cycles, now.total_cycles);
  if (!now.cycles || !before.cycles || clock == 0) return std::nullopt;
  const auto cycles = static_cast<double>(gain(before.cycles, now.cycles));
  return 100 * cycles / static_cast<double>(clock) / capacity;
}

const EngineSample* find(std::span<const EngineSample> all, const Text<24>& name) noexcept {
  const auto at = std::ranges::find_if(all, [&](const EngineSample& e) { return e.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::uint64_t window_of(const ClientList& now, const ClientList& before) noexcept {
  if (before.taken_ns == 0 || now.taken_ns < before.taken_ns + shortest_window_ns) return 0;
  if (platform::was_suspended(before.suspended_ns, now.suspended_ns)) return 0;
  return now.taken_ns - before.taken_ns;
}

// Engines that a client has not used may have no line yet: they start at 0.
void add_loads(const ClientList& now, const Client& c, const ClientList& before, const Client& was,
               std::uint64_t window_ns, LoadSum& to) {
  for (const EngineSample& e : now.engines_of(c)) {
    EngineSample start;
    start.busy_ns = 0;
    const EngineSample* const old = find(before.engines_of(was), e.name);
    const EngineSample& since = old != nullptr ? *old : start;
    const auto percent = share(since, e, window_ns);
    if (!percent) continue;
    EngineLoad load{e.name, *percent, e.capacity, {}};
    if (e.busy_ns && since.busy_ns) load.busy_ns = gain(since.busy_ns, e.busy_ns);
    to.add(load);
  }
}

using Amount = std::optional<std::uint64_t>;

// Of which nothing is known to be shared, all may be.
void add(UsageSum& to, Amount bytes, Amount shared) noexcept {
  if (bytes) to.add(*bytes, shared, false);
}

// Returns what belongs in the device's memory and is not there.
Amount not_resident(const ClientUse& use) noexcept {
  if (!use.committed) return std::nullopt;
  return *use.committed - std::min(*use.committed, use.resident.value_or(*use.committed));
}

// Adds up clients. Those that share a buffer each list it, and which of them do is not reported.
class ClientSum {
 public:
  void add(const ClientUse& use) noexcept {
    if (clients_++ == 0) {
      all_ = use;
    } else {
      drm::add(all_, use);
    }
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      const Amount bytes = use.*amounts[i].all;
      if (bytes) sums_[i].add(*bytes, use.*amounts[i].shared, false);
    }
  }

  [[nodiscard]] std::uint32_t clients() const noexcept { return clients_; }
  // Returns whether no two clients may share memory.
  [[nodiscard]] bool is_exact() const noexcept {
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (all_.*amounts[i].all && !sums_[i].is_exact()) return false;
    }
    return true;
  }
  // Returns the sum with the largest shared part of each amount.
  [[nodiscard]] ClientUse at_least() const noexcept {
    ClientUse out = all_;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (out.*amounts[i].all) out.*amounts[i].all = sums_[i].at_least();
    }
    return out;
  }

 private:
  struct SharedAmount {
    Amount ClientUse::*all;
    Amount ClientUse::*shared;
  };
  static constexpr std::array<SharedAmount, 6> amounts{
      {{&ClientUse::resident, &ClientUse::shared},
       {&ClientUse::committed, &ClientUse::shared},
       {&ClientUse::purgeable, &ClientUse::shared},
       {&ClientUse::evicted, &ClientUse::shared},
       {&ClientUse::host_pool, &ClientUse::host_shared},
       {&ClientUse::shared, &ClientUse::shared}}};

  ClientUse all_;
  std::array<UsageSum, amounts.size()> sums_;
  std::uint32_t clients_ = 0;
};

void write_row(const ClientUse& sum, Usage& out) noexcept {
  out.accounting = sum.resident    ? Accounting::resident
                   : sum.committed ? Accounting::committed
                                   : Accounting::none;
  out.used = sum.used();
  out.resident = sum.resident;
  out.committed = sum.committed;
  out.shared = sum.shared;
  out.purgeable = sum.purgeable;
  out.evicted = sum.evicted;
  out.host_pool = sum.host_pool;
  out.busy_ns = sum.busy_ns;
  out.kinds = sum.kinds;
}

void count(const ClientUse& use, Usage::ClientTotals& to) noexcept {
  add(to.used, use.used(), use.shared);
  add(to.not_resident, not_resident(use), use.shared);
  add(to.evicted, use.evicted, use.shared);
  add(to.host_pool, use.host_pool, use.host_shared);
}

void set_busy(std::span<const EngineLoad> loads, std::uint64_t window_ns, Usage& out) {
  if (loads.empty()) return;
  const auto most = std::max_element(loads.begin(), loads.end(), [](const auto& a, const auto& b) {
    return a.percent < b.percent;
  });
  // Counters are read client by client: more than 100 % in total is not a load.
  if (most->percent > 100.5) return;
  out.busy_percent = std::min(most->percent, 100.0);
  out.window_ns = window_ns;
}

constexpr std::uint32_t last_class = which::engine::other;

// Engines of one class, which fdinfo may list under several names.
struct EngineClass {
  double weighted = 0;  // sum of percent times number of engines
  std::uint64_t capacity = 0;
  std::optional<std::uint64_t> busy_ns;
};

void add(EngineClass& to, const EngineLoad& load) noexcept {
  to.weighted += load.percent * static_cast<double>(load.capacity);
  to.capacity += load.capacity;
  if (load.busy_ns) to.busy_ns = to.busy_ns.value_or(0) + *load.busy_ns;
}

using Classes = std::array<EngineClass, last_class + 1>;

Classes by_class(std::span<const EngineLoad> loads) noexcept {
  Classes all;
  for (const EngineLoad& l : loads) add(all[usual_engine(l.name.view())], l);
  return all;
}

// Skips what the driver already reported from a device counter.
bool is_reported(std::span<const Metric> all, MetricId id, std::uint32_t engine) noexcept {
  return std::ranges::any_of(all,
                             [&](const Metric& m) { return m.id == id && m.instance == engine; });
}

}  // namespace

void LoadSum::add(const EngineLoad& more) noexcept {
  for (EngineLoad& known : std::span(all_).first(count_)) {
    if (known.name != more.name) continue;
    known.percent += more.percent;
    if (more.busy_ns) known.busy_ns = known.busy_ns.value_or(0) + *more.busy_ns;
    return;
  }
  if (count_ < all_.size()) all_[count_++] = more;
}

void ClientList::clear() noexcept {
  clients_.clear();
  by_key_.clear();
  engines_.clear();
  asleep_.clear();
  first_of_pid_ = 0;
  last_pid_ = 0;
}

bool ClientList::met_asleep(Slot card) const noexcept {
  return std::ranges::find(asleep_, card) != asleep_.end();
}

void ClientList::add(const Card& of, std::uint32_t pid, const Fdinfo* info) {
  if (of.by == nullptr) return;
  begin(pid);
  Client fresh;
  fresh.key = key_of(of, info);
  fresh.pid = pid;
  fresh.is_reported = info != nullptr;
  if (info != nullptr) {
    fresh.use = use_on(of, *info);
    fresh.is_garbled = !fresh.use.used() && (info->is_partial || info->is_garbled);
  }
  for (Client& known : std::span(clients_).subspan(first_of_pid_)) {
    if (known.key != fresh.key || known.error != 0) continue;
    if (fresh.key.by != ClientKey::Kind::none) return;
    // Clients without an id may all be the same one: keep the largest.
    if (used_or_0(fresh) > used_or_0(known)) known.use = fresh.use;
    known.use.is_partial = true;
    return;
  }
  if (info != nullptr && of.counts_engines && !info->is_partial) keep_engines(*info, fresh);
  clients_.push_back(fresh);
}

void ClientList::add_unread(const Card& of, std::uint32_t pid, int error) {
  if (of.by == nullptr) return;
  begin(pid);
  Client fresh;
  fresh.key = key_of(of, nullptr);
  fresh.pid = pid;
  fresh.error = error;
  clients_.push_back(fresh);
}

void ClientList::begin(std::uint32_t pid) noexcept {
  if (pid != last_pid_) first_of_pid_ = clients_.size();
  last_pid_ = pid;
}

void ClientList::drop_last(std::uint32_t pid) noexcept {
  if (pid != last_pid_) return;
  clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(first_of_pid_), clients_.end());
}

void ClientList::mark_last_partial(std::uint32_t pid) noexcept {
  if (pid != last_pid_) return;
  for (Client& c : std::span(clients_).subspan(first_of_pid_)) c.use.is_partial = true;
}

void ClientList::keep_engines(const Fdinfo& info, Client& c) {
  c.first_engine = engines_.size();
  c.engine_count = info.engines().size();
  for (const Engine& e : info.engines()) {
    EngineSample& s = engines_.emplace_back();
    s.name.assign(e.name);
    s.busy_ns = e.busy_ns;
    s.cycles = e.cycles;
    s.total_cycles = e.total_cycles;
    s.capacity = e.capacity;
  }
}

void ClientList::each_by_key(Slot card, FunctionRef<void(const Client&, bool again)> visit) const {
  const Client* last = nullptr;
  for (const std::uint32_t i : by_key_) {
    const Client& c = clients_[i];
    if (c.key.card != card) continue;
    visit(c, last != nullptr && c.key == last->key);
    last = &c;
  }
}

void ClientList::finish() {
  by_key_.resize(clients_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0U);
  // Sorts by position as well: std::stable_sort would allocate.
  std::ranges::sort(by_key_, {}, [this](std::uint32_t i) { return std::pair(clients_[i].key, i); });
  for (std::size_t i = 1; i < by_key_.size(); ++i) {
    Client& a = clients_[by_key_[i - 1]];
    Client& b = clients_[by_key_[i]];
    if (a.key != b.key || a.key.by == ClientKey::Kind::none) continue;
    a.is_held_elsewhere = b.is_held_elsewhere = true;
  }
}

std::span<const Client> ClientList::of_pid(std::uint32_t pid) const noexcept {
  const auto first = std::lower_bound(clients_.begin(), clients_.end(), pid,
                                      [](const Client& c, std::uint32_t p) { return c.pid < p; });
  auto last = first;
  while (last != clients_.end() && last->pid == pid) ++last;
  return {first, last};
}

const Client* ClientList::find(const ClientKey& key) const noexcept {
  if (key.by == ClientKey::Kind::none) return nullptr;
  const auto at =
      std::lower_bound(by_key_.begin(), by_key_.end(), key,
                       [this](std::uint32_t i, const ClientKey& k) { return clients_[i].key < k; });
  return at == by_key_.end() || clients_[*at].key != key ? nullptr : &clients_[*at];
}

int error_of(const ClientList& now, Slot card, std::uint32_t pid) {
  for (const Client& c : now.of_pid(pid)) {
    if (c.key.card != card) continue;
    if (c.error != 0) return c.error;
    if (c.is_garbled) return EBADMSG;
  }
  return 0;
}

FieldSet fill_row(const ClientList& now, const ClientList& before, Slot card, std::uint32_t pid,
                  Usage& out) {
  ClientSum clients;
  UsageSum held;  // as other processes may hold it, too
  Amount shared;
  Usage::ClientTotals totals;
  LoadSum loads;
  bool has_engines = false;
  const std::uint64_t window = window_of(now, before);
  for (const Client& c : now.of_pid(pid)) {
    if (c.key.card != card || c.error != 0) continue;
    has_engines = has_engines || c.engine_count != 0;
    clients.add(c.use);
    const Amount of_others =
        c.is_held_elsewhere ? std::max(c.use.shared, c.use.used()) : c.use.shared;
    add(held, c.use.used(), of_others);
    shared = std::max(shared, of_others);
    if (!c.is_held_elsewhere || now.find(c.key) == &c) count(c.use, totals);
    const Client* const was = window == 0 ? nullptr : before.find(c.key);
    if (was != nullptr) add_loads(now, c, before, *was, window, loads);
  }
  out.pid = pid;
  if (clients.clients() == 0) return 0;
  ClientUse sum = clients.at_least();
  const bool lacks_shared = (sum.lacks & usage_field::shared) != 0 && !sum.shared;
  if (!lacks_shared && shared) {
    const std::uint64_t used = sum.used().value_or(0);
    sum.shared = std::max(*shared, used - std::min(used, held.alone()));
  }
  write_row(sum, out);
  out.clients = totals;
  out.clients->count = clients.clients();
  const bool is_partial = sum.is_partial || error_of(now, card, pid) != 0;
  if (is_partial || !clients.is_exact()) note_incomplete(out);
  out.has_all_clients = !is_partial;
  set_busy(loads.all(), window, out);
  return sum.lacks | (has_engines && !out.busy_percent ? usage_field::busy_percent : 0);
}

void pids_on(const ClientList& now, Slot card, std::vector<std::uint32_t>& out) {
  out.clear();
  for (const Client& c : now.all()) {
    if (c.key.card == card && (out.empty() || out.back() != c.pid)) out.push_back(c.pid);
  }
}

CardUse use_of(const ClientList& now, Slot card) {
  CardUse all;
  ClientSum sum;
  now.each_by_key(card, [&](const Client& c, bool again) {
    all.is_partial = all.is_partial || c.use.is_partial || c.error != 0 ||
                     (again && c.key.by == ClientKey::Kind::none);
    if (again || c.error != 0) return;
    sum.add(c.use);
  });
  all.clients = sum.clients();
  all.sum = sum.at_least();
  return all;
}

void loads_of(const ClientList& now, const ClientList& before, Slot card, LoadSum& out) {
  out.clear();
  const std::uint64_t window = window_of(now, before);
  if (window == 0) return;
  now.each_by_key(card, [&](const Client& c, bool again) {
    const Client* const was = again ? nullptr : before.find(c.key);
    if (was != nullptr) add_loads(now, c, before, *was, window, out);
  });
}

EngineTotals::Total& EngineTotals::until(const ClientList& then, Slot card, std::uint32_t engine) {
  for (Total& t : kept_) {
    if (t.card == card && t.engine == engine) return t;
  }
  Total& fresh = kept_.emplace_back(Total{card, engine, 0});
  then.each_by_key(card, [&](const Client& c, bool again) {
    if (again) return;
    for (const EngineSample& e : then.engines_of(c)) {
      if (usual_engine(e.name.view()) == engine) fresh.busy_ns += e.busy_ns.value_or(0);
    }
  });
  return fresh;
}

void EngineTotals::keep(const ClientList& now, const ClientList& before,
                        std::span<const Card> cards, LoadSum& loads) {
  for (const Card& c : cards) {
    loads_of(now, before, c.number, loads);
    const Classes all = by_class(loads.all());
    for (std::uint32_t e = 0; e <= last_class; ++e) {
      if (all[e].busy_ns) until(before, c.number, e).busy_ns += *all[e].busy_ns;
    }
  }
}

void EngineTotals::write(const ClientList& before, const Card& of, const CardLoad& load,
                         std::vector<Metric>& out) {
  const Classes all = by_class(load.engines);
  const Source from = of.by->from();
  for (std::uint32_t e = 0; e <= last_class; ++e) {
    const EngineClass& c = all[e];
    if (c.capacity == 0) continue;
    out.push_back(counted(from, MetricId::engine_capacity, e, c.capacity));
    const double percent = c.weighted / static_cast<double>(c.capacity);
    if (c.busy_ns) {
      const std::uint64_t busy = until(before, of.number, e).busy_ns + *c.busy_ns;
      out.push_back(counted(from, MetricId::engine_busy_ns, e, busy));
      out.back().notes = note::lower_bound;
    }
    // Counters are read client by client: more than 100 % in total is not a load.
    if (percent > 100.5 || is_reported(out, MetricId::engine_percent, e)) continue;
    out.push_back(measured(from, MetricId::engine_percent, e, std::min(percent, 100.0)));
    out.back().window_ns = load.window_ns;
    if (load.is_partial) out.back().notes = note::lower_bound;
  }
}

}  // namespace hmn::drm
