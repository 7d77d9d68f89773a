// SPDX-License-Identifier: Apache-2.0
#include "sim/clients/session_clients.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/digest.h"
#include "sim/world/world.h"

namespace peal::sim {
namespace {

constexpr std::uint64_t kSlots = 4;
constexpr std::uint32_t kKeepMs = 400;
// Maximum number of bytes that serve() moves in one direction.
constexpr std::size_t kRecordsUnder = 64U << 10;

session::Options options_of(const Process& process, const ClientMix& mix, Random& random) {
  const WorldOptions& world = process.world.options();
  session::Options options;
  options.cluster = "sim";
  options.node = "n" + std::to_string(process.self.node.value);
  options.nodes = world.nodes;
  options.message_bytes_max = world.limits.message_bytes_max;
  options.tables_bytes_max = world.limits.control_bytes_max;
  options.unsettled_messages_max = static_cast<std::uint32_t>(random.between(1, 60));
  options.slow.memory_bytes = static_cast<std::uint64_t>(random.between(4'096, 200'000));
  options.slow.disk_bytes = static_cast<std::uint64_t>(random.between(100'000, 2'000'000));
  options.keep_max = milliseconds(kKeepMs);
  options.shared_bytes = static_cast<std::uint32_t>(random.between(60'000, 400'000)) & ~7U;
  options.clients.push_back({});
  options.groups.push_back({{}, "*", true, true, true});
  options.domains = domains_of(world, mix, process.self.node);
  options.companies = world.engine.engine().traits.companies;
  return options;
}

}  // namespace

SessionClients::SessionClients(Process& process, const ClientMix& mix, ClientNames& names,
                               std::uint64_t seed)
    : ClientSide(process),
      mix_(mix),
      names_(names),
      judge_(process, names),
      domains_(domains_of(process.world.options(), mix, process.self.node)),
      random_(seed),
      spool_(seed + 1, 0.001),
      sessions_(options_of(process, mix, random_), *this, spool_) {
  for (std::uint32_t node = 0; node <= process.world.nodes(); ++node) {
    node_names_.push_back("n" + std::to_string(node));
  }
}

SessionClients::~SessionClients() = default;

Instant SessionClients::local_now() const { return process_.clock.local(process_.world.now()); }

// ---- what clients do ----

/// Returns the client in this slot. Replaces a client that has ended or misses messages by a new
/// one.
SessionClients::Station& SessionClients::station_of(std::uint64_t slot) {
  std::string& name = slots_[slot];
  const auto at = stations_.find(name);
  const bool usable = at != stations_.end() &&
                      at->second.client->state() != SimClient::State::over &&
                      !judge_.is_doomed(name);
  if (usable) return at->second;
  name = "c" + std::to_string(slot) + "." + std::to_string(process_.incarnation) + "." +
         std::to_string(judge_.next_number());
  Station& station = stations_[name];
  station.client = std::make_unique<SimClient>(name, judge_);
  judge_.add(name);
  station.shares = random_.chance(0.5);
  station.uid = static_cast<std::uint32_t>(random_.below(2));
  return station;
}

void SessionClients::carry_out(const Submission& submission) {
  Station& station = station_of(random_.below(kSlots));
  if (station.link == 0) {
    if (station.client->state() == SimClient::State::apart &&
        station.back_at <= process_.world.now()) {
      connect(station);
    }
    ++process_.submissions.refused;
    return;
  }
  if (station.client->state() != SimClient::State::talking) {
    ++process_.submissions.refused;
    return;
  }
  act(station, submission);
  plan_service();
}

void SessionClients::act(Station& station, const Submission& submission) {
  const std::uint64_t chance = random_.below(100);
  if (chance < 6) return trouble(station);
  if (chance < 18) {
    constexpr std::array<wire::SlowPolicy, 5> kPolicies{
        wire::SlowPolicy::normal, wire::SlowPolicy::block, wire::SlowPolicy::spill,
        wire::SlowPolicy::drop, wire::SlowPolicy::evict};
    wire::SlowLimits limits;
    limits.policy = kPolicies[random_.below(kPolicies.size())];
    if (random_.chance(0.5)) {
      limits.memory_bytes = static_cast<std::uint64_t>(random_.between(4'096, 50'000));
    }
    if (random_.chance(0.2)) limits.age_ms = static_cast<std::uint32_t>(random_.between(20, 500));
    if (!station.client->join(draw_group(), limits)) ++process_.submissions.refused;
    return;
  }
  if (chance < 24) {
    if (!station.client->leave(draw_group())) ++process_.submissions.refused;
    return;
  }
  if (chance < 26) {
    judge_.note(*station.client, "says goodbye");
    return station.client->goodbye();
  }
  send(station, submission);
}

/// Makes the client stop reading, breaks the client's connection, or makes the client vanish.
void SessionClients::trouble(Station& station) {
  const std::uint64_t chance = random_.below(100);
  const Instant until =
      process_.world.now() + microseconds(static_cast<std::int64_t>(random_.below(200'000)));
  if (chance < 50) {
    judge_.note(*station.client, "stops reading");
    station.reads_from = until;
    return;
  }
  if (chance < 95) {
    judge_.note(*station.client, "is cut off");
    station.back_at = until;
    return cut(station, true);
  }
  judge_.note(*station.client, "vanishes");
  cut(station, true);
  station.client->vanish();
}

void SessionClients::send(Station& station, const Submission& submission) {
  std::vector<std::string> targets;
  for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) {
    const std::string someone = random_.chance(0.2) ? names_.draw(random_) : std::string();
    // A client of a node in no domain gets no messages.
    const bool reachable =
        !someone.empty() && domains_.destinations(std::array<std::string_view, 1>{someone});
    targets.push_back(reachable ? someone : draw_group());
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  const std::vector<std::string_view> named(targets.begin(), targets.end());
  const std::uint64_t number = station.client->next_number();
  std::string payload(kNumberBytes, '\0');
  std::memcpy(payload.data(), &number, kNumberBytes);
  payload += submission.payload;
  fit(station.client->name(), named, payload);
  const bool self_discard = random_.chance(0.1);
  if (!station.client->send(named, submission.service, self_discard, as_bytes_view(payload))) {
    ++process_.submissions.refused;
    return;
  }
  const std::uint64_t hash = digest_of(as_bytes_view(payload));
  const auto own = self_discard ? oracle::OwnCopy::unwanted : oracle::OwnCopy::wanted;
  judge_.sent(station.client->name(), number, std::move(targets), hash, own);
}

void SessionClients::fit(const std::string& client, std::span<const std::string_view> targets,
                         std::string& payload) const {
  if (!domains_.is_disjoint()) return;
  group::Data data;
  data.client.name = client;
  for (const std::string_view target : targets) data.targets.push_back(target);
  std::vector<std::byte> encoded;
  group::encode(data, encoded);
  const std::size_t most = process_.world.options().limits.message_bytes_max;
  payload.resize(
      std::min({payload.size(), most - encoded.size(), most - most / session::kOverheadShare}));
}

// ---- connections ----

void SessionClients::connect(Station& station) {
  station.link = ++last_link_;
  station.daemon_reads = true;
  station.asks_again = false;
  station.daemon_writes = false;
  links_[station.link] = &station;
  session::Identity identity;
  identity.kind = session::Identity::Kind::unix_user;
  identity.uid = station.uid;
  sessions_.accepted(local_now(), station.link, identity);
  station.client->connect(kKeepMs, station.shares);
  plan_service();
}

void SessionClients::cut(Station& station, bool tells_daemon) {
  const session::ConnectionId link = std::exchange(station.link, 0);
  if (link != 0) {
    links_.erase(link);
    if (tells_daemon) sessions_.closed(local_now(), link);
  }
  station.client->cut();
}

/// Moves random numbers of bytes in both directions between the client and the daemon.
void SessionClients::serve(Station& station) {
  const auto amount = [this](std::size_t most) {
    const std::size_t bound = std::min(most, kRecordsUnder);
    return random_.chance(0.3) ? 1 + random_.below(bound) : bound;
  };
  const session::ConnectionId link = station.link;
  const ByteView said = station.client->output();
  if (station.daemon_reads && (!said.empty() || station.asks_again)) {
    station.asks_again = false;
    const ByteView part = said.empty() ? said : said.first(amount(said.size()));
    const std::size_t taken = sessions_.received(local_now(), link, part);
    if (taken < part.size()) station.daemon_reads = false;
    station.client->took(taken);
  }
  if (!station.daemon_writes || station.reads_from > process_.world.now()) return;
  std::vector<std::byte> heard;
  for (const ByteView piece : sessions_.output(link)) {
    heard.insert(heard.end(), piece.begin(), piece.end());
  }
  if (heard.empty()) {
    station.daemon_writes = false;
    return;
  }
  heard.resize(amount(heard.size()));
  if (const auto at = regions_.find(sessions_.region_of(link)); at != regions_.end()) {
    station.client->share(std::as_bytes(std::span(at->second)));
  }
  sessions_.written(local_now(), link, heard.size());
  station.client->hear(heard);
  if (station.client->state() == SimClient::State::over && station.link != 0) cut(station, true);
}

void SessionClients::serve() {
  service_planned_.reset();
  for (auto& [name, station] : stations_) {
    if (station.link != 0) {
      serve(station);
    } else if (station.client->state() == SimClient::State::apart &&
               station.back_at <= process_.world.now()) {
      connect(station);
    }
  }
  std::erase_if(stations_, [this](const auto& entry) {
    const bool over = entry.second.client->state() == SimClient::State::over;
    if (!over || entry.second.link != 0) return false;
    judge_.remove(entry.first);
    return true;
  });
}

void SessionClients::take_wanted() {
  sessions_.take_wanted(wanted_);
  for (const session::ConnectionId link : wanted_.write) {
    if (const auto at = links_.find(link); at != links_.end()) at->second->daemon_writes = true;
  }
  for (const session::ConnectionId link : wanted_.read) {
    if (const auto at = links_.find(link); at != links_.end()) {
      at->second->daemon_reads = true;
      at->second->asks_again = true;
    }
  }
  for (const session::ConnectionId link : wanted_.close) {
    if (const auto at = links_.find(link); at != links_.end()) {
      at->second->back_at = process_.world.now();
      cut(*at->second, false);
    }
  }
}

void SessionClients::work() {
  if (std::exchange(ordered_, false)) sessions_.on_room(local_now());
  sessions_.work(local_now());
  doom_those_who_miss();
  take_wanted();
  plan_service();
  if (node_waits_ && sessions_.room_bytes() > 0) {
    node_waits_ = false;
    process_.inputs.room_grew = true;
  }
}

std::uint64_t SessionClients::room_bytes() const {
  const std::uint64_t room = sessions_.room_bytes();
  if (room == 0) node_waits_ = true;
  return room;
}

/// Ends the reports to the oracle about clients that miss messages: such a client has no guarantees
/// from the first missing message on. After the events queued for the client, a gap event reports
/// the loss, and the client ends its session.
void SessionClients::doom_those_who_miss() {
  const std::uint64_t left_out = sessions_.counters().left_out;
  if (std::exchange(left_out_, left_out) == left_out) return;
  for (const session::SessionStatus& session : sessions_.status(local_now()).sessions) {
    const bool misses =
        std::any_of(session.memberships.begin(), session.memberships.end(),
                    [](const session::MembershipStatus& each) { return each.left_out > 0; });
    const std::string client = client_of(session);
    if (misses && stations_.contains(client)) judge_.doom(client);
  }
}

/// Plans the next time at which a client, a connection or the daemon has work.
void SessionClients::plan_service() {
  const Instant here = process_.world.now();
  std::optional<Instant> at;
  const auto want = [&](Instant time) { at = at ? std::min(*at, time) : time; };
  for (const auto& [name, station] : stations_) {
    if (station.link == 0) {
      if (station.client->state() == SimClient::State::apart) want(std::max(here, station.back_at));
      continue;
    }
    if (station.daemon_reads && (station.asks_again || !station.client->output().empty()))
      want(here);
    if (station.daemon_writes) want(std::max(here, station.reads_from));
  }
  if (at) *at = *at + microseconds(random_.between(1, 100));
  if (const auto deadline = sessions_.next_deadline()) {
    want(std::max(here, process_.clock.world(*deadline)));
  }
  if (!at || (service_planned_ && *service_planned_ <= *at)) return;
  service_planned_ = at;
  process_.world.driver().wake_clients(process_, *at);
}

}  // namespace peal::sim
