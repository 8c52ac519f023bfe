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

ClientKey make_key(const Card& card, const Fdinfo* info) noexcept {
  if (info != nullptr && info->client_id) {
    return {ClientKey::Kind::id, card.slot, *info->client_id};
  }
  if (info != nullptr && info->pasid) return {ClientKey::Kind::pasid, card.slot, *info->pasid};
  return {ClientKey::Kind::none, card.slot, 0};
}

ClientUse measure_use(const Card& card, const Fdinfo& info) noexcept {
  const Driver& driver = *card.driver;
  ClientUse use = measure(
      info, [&](std::string_view region) { return driver.classify_region(card, region); },
      [&](std::string_view engine) { return driver.classify_engine(engine); });
  driver.add_driver_keys(card, info, use);
  if (!card.counts_engines) {
    use.busy_ns.reset();
    use.kinds.reset();
  }
  return use;
}

std::uint64_t used_or_0(const Client& client) noexcept {
  return client.use.used().value_or(0);
}

// Counters may briefly step back: that is no gain.
std::uint64_t compute_gain(std::optional<std::uint64_t> before,
                           std::optional<std::uint64_t> now) noexcept {
  return before && now && *now > *before ? *now - *before : 0;
}

std::optional<double> compute_percent(const EngineSample& before, const EngineSample& now,
                                      std::uint64_t window_ns) noexcept {
  const auto capacity = static_cast<double>(now.capacity);
  if (now.busy_ns && before.busy_ns) {
    const auto busy = static_cast<double>(compute_gain(before.busy_ns, now.busy_ns));
    return 100 * busy / static_cast<double>(window_ns) / capacity;
  }
  const std::uint64_t clock = compute_gain(before.total_cycles, now.total_cycles);
  if (!now.cycles || !before.cycles || clock == 0) return std::nullopt;
  const auto cycles = static_cast<double>(compute_gain(before.cycles, now.cycles));
  return 100 * cycles / static_cast<double>(clock) / capacity;
}

const EngineSample* find(std::span<const EngineSample> samples, const Text<24>& name) noexcept {
  const auto it =
      std::ranges::find_if(samples, [&](const EngineSample& e) { return e.name == name; });
  return it == samples.end() ? nullptr : &*it;
}

std::uint64_t compute_window_ns(const ClientList& newest, const ClientList& baseline) noexcept {
  if (baseline.start_ns == 0 || newest.start_ns < baseline.start_ns + shortest_window_ns) return 0;
  if (platform::was_suspended(baseline.suspended_ns, newest.suspended_ns)) return 0;
  return newest.start_ns - baseline.start_ns;
}

// Engines that a client has not used may have no line yet: they start at 0.
void add_loads(const ClientList& newest, const Client& client, const ClientList& baseline,
               const Client& previous, std::uint64_t window_ns, EngineLoads& loads) {
  for (const EngineSample& engine : newest.client_engines(client)) {
    EngineSample zero;
    zero.busy_ns = 0;
    const EngineSample* const match = find(baseline.client_engines(previous), engine.name);
    const EngineSample& previous_engine = match != nullptr ? *match : zero;
    const auto percent = compute_percent(previous_engine, engine, window_ns);
    if (!percent) continue;
    EngineLoad load{engine.name, *percent, engine.capacity, {}};
    if (engine.busy_ns && previous_engine.busy_ns)
      load.busy_ns = compute_gain(previous_engine.busy_ns, engine.busy_ns);
    loads.add(load);
  }
}

using Amount = std::optional<std::uint64_t>;

// Of which nothing is known to be shared, all may be.
void add(UsageSum& sum, Amount bytes, Amount shared) noexcept {
  if (bytes) sum.add(*bytes, shared, false);
}

// Returns what belongs in the device's memory and is not there.
Amount compute_not_resident(const ClientUse& use) noexcept {
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
      const Amount bytes = use.*amounts[i].amount;
      if (bytes) sums_[i].add(*bytes, use.*amounts[i].shared, false);
    }
  }

  [[nodiscard]] std::uint32_t count() const noexcept { return clients_; }
  // Returns whether no two clients may share memory.
  [[nodiscard]] bool is_exact() const noexcept {
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (all_.*amounts[i].amount && !sums_[i].is_exact()) return false;
    }
    return true;
  }
  // Returns the sum with the largest shared part of each amount.
  [[nodiscard]] ClientUse lower_bound() const noexcept {
    ClientUse sum = all_;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (sum.*amounts[i].amount) sum.*amounts[i].amount = sums_[i].lower_bound();
    }
    return sum;
  }

 private:
  struct SharedAmount {
    Amount ClientUse::*amount;
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

void count_client(const ClientUse& use, Usage::ClientTotals& totals) noexcept {
  add(totals.used, use.used(), use.shared);
  add(totals.not_resident, compute_not_resident(use), use.shared);
  add(totals.evicted, use.evicted, use.shared);
  add(totals.host_pool, use.host_pool, use.host_shared);
}

void set_busy(std::span<const EngineLoad> loads, std::uint64_t window_ns, Usage& out) {
  if (loads.empty()) return;
  const auto busiest =
      std::max_element(loads.begin(), loads.end(),
                       [](const auto& a, const auto& b) { return a.percent < b.percent; });
  // Counters are read client by client: more than 100 % in total is not a load.
  if (busiest->percent > 100.5) return;
  out.busy_percent = std::min(busiest->percent, 100.0);
  out.window_ns = window_ns;
}

constexpr std::uint32_t last_class = metric_instance::engine::other;

// Engines of one class, which fdinfo may list under several names.
struct EngineClass {
  double weighted_percent = 0;  // sum of percent times number of engines
  std::uint64_t capacity = 0;
  std::optional<std::uint64_t> busy_ns;
};

void add(EngineClass& engine_class, const EngineLoad& load) noexcept {
  engine_class.weighted_percent += load.percent * static_cast<double>(load.capacity);
  engine_class.capacity += load.capacity;
  if (load.busy_ns) engine_class.busy_ns = engine_class.busy_ns.value_or(0) + *load.busy_ns;
}

using Classes = std::array<EngineClass, last_class + 1>;

Classes group_by_class(std::span<const EngineLoad> loads) noexcept {
  Classes classes;
  for (const EngineLoad& load : loads) add(classes[find_engine_class(load.name.view())], load);
  return classes;
}

// Skips what the driver already reported from a device counter.
bool is_reported(std::span<const Metric> all, MetricId id, std::uint32_t engine) noexcept {
  return std::ranges::any_of(all,
                             [&](const Metric& m) { return m.id == id && m.instance == engine; });
}

}  // namespace

void EngineLoads::add(const EngineLoad& load) noexcept {
  for (EngineLoad& sum : std::span(all_).first(count_)) {
    if (sum.name != load.name) continue;
    sum.percent += load.percent;
    if (load.busy_ns) sum.busy_ns = sum.busy_ns.value_or(0) + *load.busy_ns;
    return;
  }
  if (count_ < all_.size()) all_[count_++] = load;
}

void ClientList::clear() noexcept {
  clients_.clear();
  key_order_.clear();
  engines_.clear();
  asleep_.clear();
  first_of_process_ = 0;
  last_pid_ = 0;
}

bool ClientList::has_asleep(Slot card) const noexcept {
  return std::ranges::find(asleep_, card) != asleep_.end();
}

void ClientList::add(const Card& card, std::uint32_t pid, const Fdinfo* info) {
  if (card.driver == nullptr) return;
  begin_process(pid);
  Client client;
  client.key = make_key(card, info);
  client.pid = pid;
  client.is_reported = info != nullptr;
  if (info != nullptr) {
    client.use = measure_use(card, *info);
    client.is_garbled = !client.use.used() && (info->is_partial || info->is_garbled);
  }
  for (Client& existing : std::span(clients_).subspan(first_of_process_)) {
    if (existing.key != client.key || existing.error != 0) continue;
    if (client.key.kind != ClientKey::Kind::none) return;
    // Clients without an id may all be the same one: keep the largest.
    if (used_or_0(client) > used_or_0(existing)) existing.use = client.use;
    existing.use.is_partial = true;
    return;
  }
  if (info != nullptr && card.counts_engines && !info->is_partial) store_engines(*info, client);
  clients_.push_back(client);
}

void ClientList::add_unread(const Card& card, std::uint32_t pid, int error) {
  if (card.driver == nullptr) return;
  begin_process(pid);
  Client client;
  client.key = make_key(card, nullptr);
  client.pid = pid;
  client.error = error;
  clients_.push_back(client);
}

void ClientList::begin_process(std::uint32_t pid) noexcept {
  if (pid != last_pid_) first_of_process_ = clients_.size();
  last_pid_ = pid;
}

void ClientList::drop_last(std::uint32_t pid) noexcept {
  if (pid != last_pid_) return;
  clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(first_of_process_), clients_.end());
}

void ClientList::mark_last_partial(std::uint32_t pid) noexcept {
  if (pid != last_pid_) return;
  for (Client& client : std::span(clients_).subspan(first_of_process_))
    client.use.is_partial = true;
}

void ClientList::store_engines(const Fdinfo& info, Client& client) {
  client.first_engine = engines_.size();
  client.engine_count = info.engines().size();
  for (const Engine& engine : info.engines()) {
    EngineSample& sample = engines_.emplace_back();
    sample.name.assign(engine.name);
    sample.busy_ns = engine.busy_ns;
    sample.cycles = engine.cycles;
    sample.total_cycles = engine.total_cycles;
    sample.capacity = engine.capacity;
  }
}

void ClientList::for_each_by_key(Slot card,
                                 FunctionRef<void(const Client&, bool again)> visit) const {
  const Client* previous = nullptr;
  for (const std::uint32_t i : key_order_) {
    const Client& client = clients_[i];
    if (client.key.card != card) continue;
    visit(client, previous != nullptr && client.key == previous->key);
    previous = &client;
  }
}

void ClientList::finish() {
  key_order_.resize(clients_.size());
  std::iota(key_order_.begin(), key_order_.end(), 0U);
  // Sorts by position as well: std::stable_sort would allocate.
  std::ranges::sort(key_order_, {},
                    [this](std::uint32_t i) { return std::pair(clients_[i].key, i); });
  for (std::size_t i = 1; i < key_order_.size(); ++i) {
    Client& previous = clients_[key_order_[i - 1]];
    Client& current = clients_[key_order_[i]];
    if (previous.key != current.key || previous.key.kind == ClientKey::Kind::none) continue;
    previous.is_held_elsewhere = current.is_held_elsewhere = true;
  }
}

std::span<const Client> ClientList::process_clients(std::uint32_t pid) const noexcept {
  const auto first = std::lower_bound(clients_.begin(), clients_.end(), pid,
                                      [](const Client& c, std::uint32_t p) { return c.pid < p; });
  auto last = first;
  while (last != clients_.end() && last->pid == pid) ++last;
  return {first, last};
}

const Client* ClientList::find(const ClientKey& key) const noexcept {
  if (key.kind == ClientKey::Kind::none) return nullptr;
  const auto it =
      std::lower_bound(key_order_.begin(), key_order_.end(), key,
                       [this](std::uint32_t i, const ClientKey& k) { return clients_[i].key < k; });
  return it == key_order_.end() || clients_[*it].key != key ? nullptr : &clients_[*it];
}

int find_error(const ClientList& newest, Slot card, std::uint32_t pid) {
  for (const Client& client : newest.process_clients(pid)) {
    if (client.key.card != card) continue;
    if (client.error != 0) return client.error;
    if (client.is_garbled) return EBADMSG;
  }
  return 0;
}

FieldSet fill_row(const ClientList& newest, const ClientList& baseline, Slot card,
                  std::uint32_t pid, Usage& out) {
  ClientSum clients;
  UsageSum process_sum;  // as other processes may hold it, too
  Amount shared;
  Usage::ClientTotals totals;
  EngineLoads loads;
  bool has_engines = false;
  const std::uint64_t window = compute_window_ns(newest, baseline);
  for (const Client& client : newest.process_clients(pid)) {
    if (client.key.card != card || client.error != 0) continue;
    has_engines = has_engines || client.engine_count != 0;
    clients.add(client.use);
    const Amount shared_with_others = client.is_held_elsewhere
                                          ? std::max(client.use.shared, client.use.used())
                                          : client.use.shared;
    add(process_sum, client.use.used(), shared_with_others);
    shared = std::max(shared, shared_with_others);
    if (!client.is_held_elsewhere || newest.find(client.key) == &client)
      count_client(client.use, totals);
    const Client* const previous = window == 0 ? nullptr : baseline.find(client.key);
    if (previous != nullptr) add_loads(newest, client, baseline, *previous, window, loads);
  }
  out.pid = pid;
  if (clients.count() == 0) return 0;
  ClientUse sum = clients.lower_bound();
  const bool lacks_shared = (sum.incomplete_fields & usage_field::shared) != 0 && !sum.shared;
  if (!lacks_shared && shared) {
    const std::uint64_t used = sum.used().value_or(0);
    sum.shared = std::max(*shared, used - std::min(used, process_sum.exclusive()));
  }
  write_row(sum, out);
  out.clients = totals;
  out.clients->count = clients.count();
  const bool is_partial = sum.is_partial || find_error(newest, card, pid) != 0;
  if (is_partial || !clients.is_exact()) mark_lower_bound(out);
  out.has_all_clients = !is_partial;
  set_busy(loads.all(), window, out);
  return sum.incomplete_fields | (has_engines && !out.busy_percent ? usage_field::busy_percent : 0);
}

void find_card_pids(const ClientList& newest, Slot card, std::vector<std::uint32_t>& out) {
  out.clear();
  for (const Client& client : newest.all()) {
    if (client.key.card == card && (out.empty() || out.back() != client.pid))
      out.push_back(client.pid);
  }
}

CardUse sum_card_use(const ClientList& newest, Slot card) {
  CardUse card_use;
  ClientSum sum;
  newest.for_each_by_key(card, [&](const Client& client, bool is_repeated) {
    card_use.is_partial = card_use.is_partial || client.use.is_partial || client.error != 0 ||
                          (is_repeated && client.key.kind == ClientKey::Kind::none);
    if (is_repeated || client.error != 0) return;
    sum.add(client.use);
  });
  card_use.client_count = sum.count();
  card_use.sum = sum.lower_bound();
  return card_use;
}

void compute_loads(const ClientList& newest, const ClientList& baseline, Slot card,
                   EngineLoads& out) {
  out.clear();
  const std::uint64_t window = compute_window_ns(newest, baseline);
  if (window == 0) return;
  newest.for_each_by_key(card, [&](const Client& client, bool is_repeated) {
    const Client* const previous = is_repeated ? nullptr : baseline.find(client.key);
    if (previous != nullptr) add_loads(newest, client, baseline, *previous, window, out);
  });
}

EngineTotals::Total& EngineTotals::find_or_add(const ClientList& baseline, Slot card,
                                               std::uint32_t engine) {
  for (Total& total : totals_) {
    if (total.card == card && total.engine == engine) return total;
  }
  Total& added = totals_.emplace_back(Total{card, engine, 0});
  baseline.for_each_by_key(card, [&](const Client& client, bool is_repeated) {
    if (is_repeated) return;
    for (const EngineSample& engine_sample : baseline.client_engines(client)) {
      if (find_engine_class(engine_sample.name.view()) == engine)
        added.busy_ns += engine_sample.busy_ns.value_or(0);
    }
  });
  return added;
}

void EngineTotals::accumulate(const ClientList& newest, const ClientList& baseline,
                              std::span<const Card> cards, EngineLoads& loads) {
  for (const Card& card : cards) {
    compute_loads(newest, baseline, card.slot, loads);
    const Classes classes = group_by_class(loads.all());
    for (std::uint32_t e = 0; e <= last_class; ++e) {
      if (classes[e].busy_ns) find_or_add(baseline, card.slot, e).busy_ns += *classes[e].busy_ns;
    }
  }
}

void EngineTotals::write(const ClientList& baseline, const Card& card, const CardLoad& load,
                         std::vector<Metric>& out) {
  const Classes classes = group_by_class(load.engines);
  const Source source = card.driver->source();
  for (std::uint32_t e = 0; e <= last_class; ++e) {
    const EngineClass& engine_class = classes[e];
    if (engine_class.capacity == 0) continue;
    out.push_back(make_count_metric(source, MetricId::engine_capacity, e, engine_class.capacity));
    const double percent =
        engine_class.weighted_percent / static_cast<double>(engine_class.capacity);
    if (engine_class.busy_ns) {
      const std::uint64_t busy =
          find_or_add(baseline, card.slot, e).busy_ns + *engine_class.busy_ns;
      out.push_back(make_count_metric(source, MetricId::engine_busy_ns, e, busy));
      out.back().notes = note::lower_bound;
    }
    // Counters are read client by client: more than 100 % in total is not a load.
    if (percent > 100.5 || is_reported(out, MetricId::engine_percent, e)) continue;
    out.push_back(make_value_metric(source, MetricId::engine_percent, e, std::min(percent, 100.0)));
    out.back().window_ns = load.window_ns;
    if (load.is_partial) out.back().notes = note::lower_bound;
  }
}

}  // namespace hmn::drm
