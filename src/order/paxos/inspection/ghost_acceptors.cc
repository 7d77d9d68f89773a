// SPDX-License-Identifier: Apache-2.0
#include "order/paxos/inspection/ghost_acceptors.h"

#include <algorithm>

#include "base/digest.h"

namespace peal::order::paxos {
namespace {

/// Maximum number of incarnations remembered for one log: as many as the log itself records.
constexpr std::size_t kEpochsMax = Record::kStartsMax;
constexpr LogPosition kEverything{~std::uint64_t{0}};

}  // namespace

std::uint64_t order_of(const wire::Lives& lives) {
  wire::Nodes nodes;
  nodes.hash = lives.list;
  nodes.lives = lives.lives;
  return wire::first_of(nodes);
}

std::uint64_t value_digest(const wire::ValueHead& head, ByteView bytes) {
  Digest digest;
  digest.add(static_cast<std::uint64_t>(head.kind) << 8 | static_cast<std::uint64_t>(head.service));
  digest.add(head.view);
  digest.add(head.origin.node.value);
  digest.add(head.origin.epoch);
  digest.add(head.number);
  digest.add(bytes);
  return digest.value();
}

std::string GhostAcceptors::name(const Life& life) const {
  return "n" + std::to_string(life.node.value);
}

GhostAcceptors::Life& GhostAcceptors::life(NodeId node, std::uint64_t id) {
  current_[node] = id;
  const auto at = std::find_if(lives_.begin(), lives_.end(), [&](const Life& each) {
    return each.id == id && each.node == node;
  });
  if (at != lives_.end()) return *at;
  if (lives_.size() == kLivesMax) lives_.pop_front();
  Life& fresh = lives_.emplace_back();
  fresh.id = id;
  fresh.node = node;
  return fresh;
}

GhostAcceptors::Life* GhostAcceptors::current(NodeId node) {
  const auto id = current_.find(node);
  return id == current_.end() ? nullptr : &life(node, id->second);
}

// ---- the log ----

void GhostAcceptors::opened(MemberId self, std::uint64_t id, LogPosition newest_segment,
                            bool put_back) {
  Life& of = life(self.node, id);
  // If the previous process crashed while it read its log, `before` keeps the content that an
  // earlier process left.
  if (!of.reading) of.before = std::exchange(of.log, {});
  of.log = {};
  of.epoch = self.epoch;
  of.told = false;
  if (put_back) {
    of.put_back = true;
    of.before = {};
    of.promise_said = {};
    orders_.lose_votes(self.node, id);
  }
  of.reading = true;
  of.any = false;
  of.newest_segment = newest_segment;
  of.highest_vote_read = {};
  of.voted = {};
  of.voted_upto = 0;
}

void GhostAcceptors::read(NodeId node, LogPosition position, const Record& record) {
  Life* of = current(node);
  if (of == nullptr || !of->reading) return;
  if (!std::exchange(of->any, true)) of->first_read = position;
  of->log.durable = std::max(of->log.durable, position);
  fold(*of, position, record, true);
}

void GhostAcceptors::replayed(NodeId node, LogPosition last) {
  Life* of = current(node);
  if (of == nullptr || !std::exchange(of->reading, false)) return;
  if (std::exchange(of->put_back, false)) {
    for (auto& [epoch, upto] : of->held) upto = std::min(upto, last);
  }
  if (of->held.size() == kEpochsMax) of->held.erase(of->held.begin());
  of->held[of->epoch] = kEverything;
  Log& log = of->log;
  log.promised_durable = log.promised;
  log.next_durable = log.next;
  log.taken_durable = log.taken;
  check_remembers(*of);
  of->before = {};
  if (!of->any) return;
  ++figures_.logs_read;
  if (of->first_read.value > 1) ++figures_.logs_cut;
  if (log.promised > of->highest_vote_read) ++figures_.promises_read;
  figures_.votes_needed += log.votes.count();
  log.votes.each_from(0, [&](Instance, const Vote& vote) {
    if (vote.at < of->newest_segment) ++figures_.older_votes_needed;
    return true;
  });
}

// The log must have all durable records, except those that a checkpoint replaced.
void GhostAcceptors::check_remembers(const Life& of) {
  const Log& before = of.before;
  const Log& now = of.log;
  const auto forgot = [&](const std::string& what) {
    report_("durable", name(of) + " has forgotten over a restart " + what);
  };
  if (before.promised_durable > now.promised) {
    forgot("that it promised " + text_of(before.promised_durable));
  }
  if (before.next_durable > now.next) forgot("a checkpoint");
  if (before.taken_durable != 0 && now.order == 0 && now.taken == 0) {
    forgot("whom it took for those that begin an order");
  }
  before.votes.each_from(now.next, [&](Instance instance, const Vote& vote) {
    const Vote* found = now.votes.find(instance);
    if (vote.at > before.durable || (found != nullptr && found->round >= vote.round)) return true;
    forgot("its vote for instance " + std::to_string(instance) + " in " + text_of(vote.round));
    return false;
  });
  before.decided.each_from(now.next, [&](Instance instance, const Noted& noted) {
    if (noted.at > before.durable || now.decided.find(instance) != nullptr) return true;
    forgot("what was decided for instance " + std::to_string(instance));
    return false;
  });
}

void GhostAcceptors::appended(NodeId node, LogPosition position, const Record& record) {
  if (Life* of = current(node)) fold(*of, position, record, false);
}

void GhostAcceptors::fold(Life& of, LogPosition position, const Record& record, bool reading) {
  Log& log = of.log;
  Pending pending;
  pending.at = position;
  // The durable checkpoint replaces records of instances below it, so such a record is not checked
  // again at each start.
  const bool over = reading && record.instance < of.before.next_durable;
  switch (record.kind) {
    case Record::Kind::promise:
      if (!reading) check_rights(of, record.round);
      fold_round(of, position, record.round);
      pending.round = record.round;
      break;
    case Record::Kind::vote:
      if (reading) {
        ++figures_.votes_read;
        of.highest_vote_read = std::max(of.highest_vote_read, record.round);
      } else {
        check_rights(of, record.round);
      }
      fold_round(of, position, record.round);
      if (over) break;
      pending.round = record.round;
      pending.instance = record.instance;
      pending.value = fold_vote(of, position, record, reading);
      break;
    case Record::Kind::decided: {
      if (!reading && log.order == 0) {
        report_("durable",
                name(of) + " notes what was decided in an order that its log does not know");
        break;
      }
      if (over || record.instance < log.next) break;
      const std::uint64_t value = value_digest(record.head, record.bytes);
      log.decided.put(record.instance, {value, position});
      if (!reading) orders_.claim(log.order, record.instance, value, {of.node});
      break;
    }
    case Record::Kind::checkpoint:
      fold_checkpoint(of, position, record, reading);
      pending.round = record.round;
      pending.next = log.next;
      if (!record.starts.empty()) pending.begun = record.starts.back().epoch;
      break;
    case Record::Kind::taken:
      log.taken = pending.taken = order_of(record.lives);
      log.taken_at = position;
      if (reading) of.took.insert(log.taken);
      break;
    case Record::Kind::started: pending.begun = record.epoch; break;
    case Record::Kind::put_back: of.told = true; break;
    case Record::Kind::kept: break;  // a copy of a vote proves no more than the vote
  }
  if (!reading) {
    log.pending.push_back(pending);
  } else if (pending.instance != 0 && position > of.before.durable) {
    // The vote was written before the restart, but was not known to be durable.
    became_durable(of, pending);
  }
}

void GhostAcceptors::fold_round(Life& of, LogPosition position, const Round& round) {
  if (round < of.log.promised) return;
  of.log.promised = round;
  of.log.promised_at = position;
}

/// Reports the error `what` if another acceptor has shown this process that its log is an older
/// copy. From then on, the acceptor must neither promise, nor vote, nor report votes.
void GhostAcceptors::check_silence(const Life& of, const std::string& what) {
  if (!of.told) return;
  report_("durable", name(of) + " " + what + ", and was told that its log is an older copy");
}

/// Reports an error if the acceptor must not promise or vote in this round.
void GhostAcceptors::check_rights(const Life& of, const Round& round) {
  check_silence(of, "promises or votes in " + text_of(round));
  const Log& log = of.log;
  if (round < log.promised) {
    report_("durable",
            name(of) + " goes back to " + text_of(round) + " from " + text_of(log.promised));
  }
  const std::uint64_t list = wire::list_of(round);
  if (log.order == 0 || list > log.list) {
    report_("durable",
            name(of) + " votes in " + text_of(round) + ", of a list that its log does not know");
  } else if (!orders_.names(log.order, list, of.node, of.id)) {
    report_("founded",
            name(of) + " votes in " + text_of(round) + ", and no list names it as it is now");
  }
}

std::uint64_t GhostAcceptors::fold_vote(Life& of, LogPosition position, const Record& record,
                                        bool reading) {
  Log& log = of.log;
  const std::uint64_t value = value_digest(record.head, record.bytes);
  if (!reading) orders_.vote(log.order, of.node, of.id, record.round, record.instance, value);
  if (record.instance >= log.next) log.votes.put(record.instance, {record.round, value, position});
  return value;
}

// From the oldest instance of the checkpoint on, the last record of each instance holds the decided
// value.
void GhostAcceptors::fold_checkpoint(Life& of, LogPosition position, const Record& record,
                                     bool reading) {
  Log& log = of.log;
  const wire::Checkpoint& state = record.state;
  const std::uint64_t first = state.nodes.first;
  const Instance next = std::max<Instance>(state.next, 1);
  fold_round(of, position, record.round);
  if (!reading) {
    said_checkpoint({of.node, 0}, state);
    if (log.order != 0 && log.order != first) {
      report_("founded", name(of) + " goes over to another order");
    }
    const Instance from = std::max({log.next, record.instance, Instance{1}});
    const auto claim = [&](Instance instance, std::uint64_t value) {
      if (instance < next) orders_.claim(first, instance, value, {of.node, true});
      return instance < next;
    };
    log.decided.each_from(
        from, [&](Instance instance, const Noted& noted) { return claim(instance, noted.value); });
    log.votes.each_from(from, [&](Instance instance, const Vote& vote) {
      return log.decided.find(instance) != nullptr || claim(instance, vote.value);
    });
  }
  if (next < log.next) report_("durable", name(of) + " goes back to an earlier checkpoint");
  log.order = first;
  log.list = state.nodes.number;
  log.next = next;
  log.checkpoint_at = position;
  log.votes.erase_below(next);
  log.decided.erase_below(next);
}

void GhostAcceptors::let_go(NodeId node, LogPosition keep_from) {
  const Life* of = current(node);
  if (of == nullptr) return;
  const Log& log = of->log;
  const auto lets_go = [&](const std::string& what) {
    report_("durable", name(*of) + " lets go of " + what);
  };
  if (log.promised.count != 0 && log.promised_at < keep_from) {
    lets_go("its promise of " + text_of(log.promised));
  }
  if (log.next != 0 && log.checkpoint_at < keep_from) lets_go("its last checkpoint");
  if (log.order == 0 && log.taken != 0 && log.taken_at < keep_from) {
    lets_go("whom it took for those that begin an order");
  }
  const auto needs = [&](const std::string& what) {
    return [&, what](Instance, const auto& each) {
      if (each.at >= keep_from) return true;
      lets_go(what);
      return false;
    };
  };
  log.votes.each_from(0, needs("a vote that is needed"));
  log.decided.each_from(0, needs("a decided value that is needed"));
}

void GhostAcceptors::durable(NodeId node, LogPosition upto) {
  Life* of = current(node);
  if (of == nullptr) return;
  Log& log = of->log;
  log.durable = std::max(log.durable, upto);
  while (!log.pending.empty() && log.pending.front().at <= upto) {
    const Pending pending = log.pending.front();
    log.pending.pop_front();
    log.promised_durable = std::max(log.promised_durable, pending.round);
    log.next_durable = std::max(log.next_durable, pending.next);
    if (pending.begun != 0) log.begun_durable = pending.begun;
    if (pending.taken != 0) {
      log.taken_durable = pending.taken;
      of->took.insert(pending.taken);
    }
    if (pending.instance != 0) became_durable(*of, pending);
  }
}

void GhostAcceptors::became_durable(Life& of, const Pending& vote) {
  if (of.log.order == 0) return;  // votes count only once a checkpoint names their order
  orders_.vote_durable(of.log.order, of.node, of.id, vote.round, vote.instance, vote.value);
}

}  // namespace peal::order::paxos
