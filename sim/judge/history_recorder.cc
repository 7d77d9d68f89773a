// SPDX-License-Identifier: Apache-2.0
#include "sim/judge/history_recorder.h"

#include <algorithm>
#include <utility>

namespace peal::sim {
namespace {

constexpr std::size_t kLastEvents = 64;
/// kUnknownUnit plus a position is the number of a unit that no node originated. The oracle does
/// not know such units.
constexpr std::uint64_t kUnknownUnit = 1ULL << 62;

oracle::Options checker_options(trace::Layer layer, const HistoryRecorder::Options& options,
                                const trace::Names* names) {
  oracle::Options out;
  out.layer = layer;
  out.universe = options.lists_change ? 0 : options.nodes;
  out.quorum = options.engine->traits.quorum;
  out.companies = options.engine->traits.companies;
  out.genuine = options.engine->traits.genuine;
  out.domains = options.domains;
  out.violations_max = 8;
  out.names = names;
  return out;
}

trace::Claim claim_of(order::Primary primary) {
  switch (primary) {
    case order::Primary::yes: return trace::Claim::yes;
    case order::Primary::no: return trace::Claim::no;
    case order::Primary::unclaimed: break;
  }
  return trace::Claim::absent;
}

}  // namespace

HistoryRecorder::HistoryRecorder(const Options& options)
    : options_(options),
      unit_checker_(checker_options(trace::Layer::unit, options, &names_)),
      order_checker_(checker_options(trace::Layer::order, options, &names_)),
      group_checker_({100, &names_, !options.sessions, options.engine->traits.companies,
                      options.engine->traits.crash_stop}) {
  for (std::uint32_t n = 1; n <= options.nodes; ++n) {
    const bool named = names_.set(NodeId{n}, "n" + std::to_string(n));
    PEAL_ASSERT(named);
  }
  last_.reserve(kLastEvents);
}

trace::Event& HistoryRecorder::fresh(trace::Kind kind, trace::Layer layer, Instant now,
                                     MemberId who) {
  std::vector<MemberId> members = std::move(event_.members);
  members.clear();
  event_ = trace::Event{};
  event_.members = std::move(members);
  event_.kind = kind;
  event_.layer = layer;
  event_.at_ns = now.ns;
  event_.node = who;
  return event_;
}

void HistoryRecorder::publish(const trace::Event& event) {
  const bool of_process = event.kind == trace::Kind::start || event.kind == trace::Kind::crash ||
                          event.kind == trace::Kind::leave;
  if (of_process || event.layer == trace::Layer::unit) unit_checker_.add(event);
  if (of_process || event.layer == trace::Layer::order) order_checker_.add(event);
  digest_.add(static_cast<std::uint64_t>(event.kind) ^ event.seq << 8 ^ event.hash);
  digest_.add(static_cast<std::uint64_t>(event.at_ns));
  if (last_.size() < kLastEvents) {
    last_.push_back(event);
  } else {
    last_[last_at_] = event;
    last_at_ = (last_at_ + 1) % kLastEvents;
  }
  if (options_.keep_history && event.layer == trace::Layer::order) history_.push_back(event);
  if (options_.trace != nullptr || options_.echo != nullptr) {
    std::string line;
    trace::append_json(line, event, names_);
    for (std::FILE* file : {options_.trace, options_.echo}) {
      if (file != nullptr) std::fwrite(line.data(), 1, line.size(), file);
    }
  }
}

void HistoryRecorder::started(Instant now, MemberId who) {
  trace::Event& event = fresh(trace::Kind::start, trace::Layer::order, now, who);
  event.engine = options_.engine->name;
  event.optimistic = options_.optimistic;
  for (std::size_t i = 0; i < options_.domains.size(); ++i) {
    const std::vector<NodeId>& nodes = options_.domains[i];
    const bool here = std::binary_search(nodes.begin(), nodes.end(), who.node);
    if (here) event.domains.add(static_cast<DomainId>(i + 1));
  }
  publish(event);
}
void HistoryRecorder::crashed(Instant now, MemberId who) {
  publish(fresh(trace::Kind::crash, trace::Layer::order, now, who));
}
void HistoryRecorder::left(Instant now, MemberId who) {
  publish(fresh(trace::Kind::leave, trace::Layer::order, now, who));
}

void HistoryRecorder::submitted(Instant now, const trace::MessageId& message, std::uint64_t hash,
                                std::uint64_t bytes, Service service, DomainSet domains) {
  trace::Event& event = fresh(trace::Kind::submit, trace::Layer::order, now, message.sender);
  event.message = message;
  event.hash = hash;
  event.bytes = bytes;
  event.service = service;
  event.domains = domains;
  publish(event);
}

void HistoryRecorder::originated(Instant now, MemberId who, const node::Origination& placed) {
  trace::Event& event = fresh(trace::Kind::originate, trace::Layer::order, now, who);
  event.message = {who, placed.number};
  event.view = placed.view;
  event.seq = recorded(placed.seq);
  event.index = placed.index;
  event.service = placed.service;
  event.domains = placed.domains;
  publish(event);
}

void HistoryRecorder::delivered(Instant now, MemberId who, const node::Message& message) {
  trace::Event& event = of_message(trace::Kind::deliver, now, who, message);
  event.transitional = message.transitional;
  event.as_guessed = message.as_guessed;
  event.set = message.set;
  ++figures_.deliveries_checked;
  publish(event);
}

void HistoryRecorder::told_early(Instant now, MemberId who, const node::Message& message) {
  ++figures_.told_early;
  publish(of_message(trace::Kind::early, now, who, message));
}

trace::Event& HistoryRecorder::of_message(trace::Kind kind, Instant now, MemberId who,
                                          const node::Message& message) {
  trace::Event& event = fresh(kind, trace::Layer::order, now, who);
  event.message = {message.sender, message.number};
  event.view = message.view;
  event.seq = recorded(message.seq);
  event.index = message.index;
  event.service = message.service;
  event.domains = message.domains;
  event.hash = digest_of(message.payload);
  return event;
}

void HistoryRecorder::installed(Instant now, MemberId who, const order::View& view) {
  trace::Event& event = fresh(trace::Kind::view, trace::Layer::unit, now, who);
  event.view = view.id;
  event.old = view.transitional ? view.old : ViewId{};
  event.transitional = view.transitional;
  event.members.assign(view.members.begin(), view.members.end());
  event.primary = claim_of(view.primary);
  if (!view.transitional) {
    ++figures_.views_installed;
    if (views_seen_.emplace(view.id, true).second) ++figures_.view_changes;
  }
  publish(event);
  event.layer = trace::Layer::order;
  publish(event);
}

HistoryRecorder::UnitsOfView& HistoryRecorder::units_of(const ViewId& view) {
  if (units_cache_.second == nullptr || units_cache_.first != view) {
    units_cache_ = {view, &units_[view]};
  }
  return *units_cache_.second;
}

/// Positions are recorded as if the count had begun at 1. A causal unit has the position 0.
Seq HistoryRecorder::recorded(Seq seq) const { return seq == 0 ? 0 : seq - options_.first_count; }

void HistoryRecorder::unit_originated(Instant now, MemberId who, const ViewId& view, Seq seq,
                                      Service service, DomainSet domains, ByteView unit) {
  ++figures_.units_originated;
  seq = recorded(seq);
  trace::Event& event = fresh(trace::Kind::originate, trace::Layer::unit, now, who);
  event.message = {who, originated_number(who, view, seq)};
  event.view = view;
  event.seq = seq;
  event.service = service;
  event.hash = digest_of(unit);
  event.domains = domains;
  publish(event);
}

/// The number of the unit that the member places at this position.
std::uint64_t HistoryRecorder::originated_number(MemberId who, const ViewId& view, Seq seq) {
  // A position does not identify a unit at all members, so the oracle counts units itself.
  if (options_.engine->traits.companies) return 0;
  // A position is the same in all domains, and identifies the unit.
  if (options_.engine->traits.genuine) return seq;
  UnitsOfView& units = units_of(view);
  UnitRecord& record = units.by_seq[seq];
  units.last = std::max(units.last, seq);
  const bool known = options_.engine->traits.quorum && record.number != 0 && record.origin == who;
  const std::uint64_t number = known ? record.number : ++units_originated_[who];
  if (record.number == 0) {
    record = {who, number};
  } else if (!known) {
    units.again.emplace(std::pair{seq, who}, number);
  }
  return number;
}

std::uint64_t HistoryRecorder::unit_number(const order::Delivery& delivery, Seq seq) {
  if (options_.engine->traits.companies) return 0;
  if (options_.engine->traits.genuine) return seq;
  UnitsOfView& units = units_of(delivery.view);
  // With acceptors, a member may deliver a unit before the unit's sender knows the position. Then
  // the first delivery registers the unit. With domains, `last` may be a later position of another
  // domain.
  const bool next = options_.domains.empty() ? seq == units.last + 1 : !units.by_seq.contains(seq);
  if (options_.engine->traits.quorum && next) {
    units.by_seq[seq] = {delivery.origin, ++units_originated_[delivery.origin]};
    units.last = std::max(units.last, seq);
  }
  const auto at = units.by_seq.find(seq);
  if (at != units.by_seq.end()) {
    const UnitRecord& record = at->second;
    if (record.number != 0 && record.origin == delivery.origin) return record.number;
    const auto again = units.again.find({seq, delivery.origin});
    if (again != units.again.end()) return again->second;
  }
  return kUnknownUnit + seq;
}

void HistoryRecorder::unit_delivered(Instant now, MemberId who, const order::Delivery& delivery) {
  const Seq seq = recorded(delivery.seq);
  trace::Event& event = fresh(trace::Kind::deliver, trace::Layer::unit, now, who);
  event.message = {delivery.origin, unit_number(delivery, seq)};
  event.view = delivery.view;
  event.seq = seq;
  event.transitional = delivery.transitional;
  event.set = delivery.set;
  event.service = delivery.service;
  event.hash = digest_of(delivery.unit.view());
  event.domains = delivery.domains;
  ++figures_.deliveries_checked;
  publish(event);
}

void HistoryRecorder::reported(Instant now, MemberId who, const order::Event& event) {
  if (options_.echo == nullptr) return;
  std::string text(event.kind->name);
  if (event.reason != nullptr) {
    text += " because of " + std::string(event.reason->name);
  } else if (event.a != 0) {
    text += " " + std::to_string(event.a);
  }
  if (event.view.number != 0) text += " in view " + trace::text_of(event.view, names_);
  if (event.who.node.value != 0) text += " " + trace::text_of(event.who, names_);
  std::fprintf(options_.echo, "%.6f %s: %s\n", static_cast<double>(now.ns) / 1e9,
               names_.name(who.node).c_str(), text.c_str());
}

void HistoryRecorder::sent(Instant now, const std::string& packet) {
  if (options_.echo == nullptr) return;
  std::fprintf(options_.echo, "%.6f %s\n", static_cast<double>(now.ns) / 1e9, packet.c_str());
}

void HistoryRecorder::violation(Instant now, std::string property, std::string text) {
  violations_.push_back({std::move(property), std::move(text), now});
}

bool HistoryRecorder::broken() const {
  return !violations_.empty() || unit_checker_.violations_total() > 0 ||
         order_checker_.violations_total() > 0 || group_checker_.violations_total() > 0;
}

void HistoryRecorder::keep(const oracle::Report& report, const char* layer) {
  for (const oracle::Violation& violation : report.violations) {
    violations_.push_back({std::string(oracle::property_id(violation.property)),
                           std::string(layer) + ": " + violation.text, Instant{violation.at_ns}});
  }
}

void HistoryRecorder::finish() {
  keep(unit_checker_.finish(), "unit layer");
  keep(order_checker_.finish(), "order layer");
  for (const oracle::GroupViolation& each : group_checker_.finish().violations) {
    violations_.push_back(
        {std::string(oracle::group_property_id(each.property)), each.text, Instant{each.at_ns}});
  }
}

std::vector<std::string> HistoryRecorder::last_events() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < last_.size(); ++i) {
    std::string line;
    trace::append_json(line, last_[(last_at_ + i) % last_.size()], names_);
    if (!line.empty() && line.back() == '\n') line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace peal::sim
