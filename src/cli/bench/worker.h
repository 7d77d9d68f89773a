// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "cli/bench/check.h"
#include "cli/bench/clock.h"
#include "cli/bench/head.h"
#include "cli/bench/plan.h"

namespace peal::cli {

/// The result of a worker's attempt to send a message.
enum class BenchSent : std::uint8_t { taken, full, refused };

/// A delivered message, as the Link passes it to the worker.
struct BenchMessage {
  std::string_view sender;
  std::uint64_t number{};    ///< counts the sender's messages from 1
  std::uint64_t position{};  ///< 0: the message has no place in the order
  ByteView payload;
  bool own = false;  ///< this node sent the message
};

// A Link has these functions:
//   BenchSent submit(ByteView payload, Service service);
//   template <class W> bool take(W& worker);   passes the next event to the worker; false: none
//   template <class W> void wait(W& worker, std::int64_t until_ns);  waits for an event or until
//                                              `until_ns`; may call worker.on_woken() and then
//                                              pass an event to the worker
//   void begin(std::int64_t from_ns, std::int64_t to_ns);  the measured time is known
//   void poll(std::int64_t now_ns);            called often after begin()
//   void finish(BenchResult& result);          adds counters, if there are any
//   std::string waits_for() const;             what the next delivery waits for; may be empty
//   std::uint64_t placed() const;              how many messages have their places, for a node that
//                                              delivers nothing
//   double cpu_seconds() const;                CPU time used so far, including the daemon's

/// Own messages that have no place yet: when each was due; 0: it is no data.
class BenchUnplaced {
 public:
  void push(std::int64_t due) { due_.push_back(due); }
  /// The oldest message got its place.
  std::int64_t pop() {
    const std::int64_t due = due_.front();
    due_.pop_front();
    ++placed_;
    return due;
  }
  bool empty() const { return due_.empty(); }
  std::uint64_t placed() const { return placed_; }

 private:
  std::deque<std::int64_t> due_;
  std::uint64_t placed_ = 0;
};

/// One sender and receiver of a benchmark. `Link` connects it to a member or to a client.
template <class Link>
class BenchWorker {
 public:
  /// For node `index` of the plan, counted from 0. `link` must outlive this object.
  BenchWorker(Link& link, const BenchPlan& plan, std::uint32_t index)
      : link_(link),
        plan_(plan),
        index_(index),
        role_(role_of(plan, index)),
        payload_(plan.payload_bytes) {
    result_.domain = role_.domain;
    if (plan.rate > 0) interval_ns_ = static_cast<double>(kSecondNs) / plan.rate;
  }

  BenchResult run() {
    deadline_ns_ = now_ns() + kGatherNs;
    while (result_.problem.empty() && !finished()) {
      const std::int64_t now = now_ns();
      if (now > deadline_ns_) {
        result_.problem = begin_ns_ == 0 ? "the nodes did not find each other in 20 s"
                                         : "messages were not delivered 30 s after the end";
        result_.problem += "; the view has " + std::to_string(members_) + " of " +
                           std::to_string(role_.domain_nodes) + " nodes";
        if (const std::string what = link_.waits_for(); !what.empty()) {
          result_.problem += "; it waits for " + what;
        }
        break;
      }
      note_time(now);
      const bool sent = send(now);
      if (!receive() && !sent) sleep(now);
    }
    note_time(now_ns());
    if (result_.problem.empty()) result_.problem = check_.problem();
    if (!result_.problem.empty() && later_views_ > 0) explain_views();
    link_.finish(result_);
    if (begin_ns_ != 0) result_.due = interval_ns_ > 0 ? count_due() : result_.sent;
    for (BenchView& view : views_) result_.views.push_back(std::move(view));
    return std::move(result_);
  }

  // The link calls these functions in take() and wait().
  void on_woken() { received_ns_ = now_ns(); }
  void on_view(std::string id, std::size_t members) {
    views_.push_back({std::move(id), {}});
    members_ = members;
    if (begin_ns_ != 0) ++later_views_;
  }
  void on_closed(const std::string& text) { result_.problem = text; }
  void on_message(const BenchMessage& message) {
    const ByteView payload = message.payload;
    if (payload.size() != payload_.size()) {
      result_.problem = "a message of another size was delivered";
      return;
    }
    const std::int64_t now = received_ns_;
    const BenchHead head = BenchHead::read(payload.data(), now);
    const bool has_place = message.position != 0;
    if (!has_place && is_ordered(service_of(head.kind))) {
      result_.problem = "an agreed or safe message was delivered without a place";
    }
    // Only the header is hashed: it identifies the message, and only the order is compared.
    if (!views_.empty() && head.kind != BenchHead::bye) {
      const ByteView head_bytes = payload.first(BenchHead::kBytes);
      views_.back().add(message.sender, message.number, has_place, head_bytes);
      result_.all.add(message.sender, message.number, has_place, head_bytes);
    }
    if (head.number != BenchHead::number_of(message.number)) {
      result_.problem = "a message was delivered with the number of another";
    }
    check_.on_message(message.sender, message.number);
    if (head.kind == BenchHead::start) {
      begin(head.time_ns);
    } else if (head.kind == BenchHead::done) {
      ++done_;
    } else if (head.kind == BenchHead::bye) {
      ++byes_;
    } else {
      if (message.own) ++own_delivered_;
      note_delivery(now, payload.size());
      // Its sender delivers a message without a place while it sends the message. That is no time
      // which a user waits for.
      if (has_place || !message.own) note_latency(result_.latency, head.time_ns);
      if (has_place && message.own) note_latency(result_.own, head.time_ns);
    }
  }
  /// A message was announced by optimistic delivery. on_message() follows when the message is
  /// ordered.
  void on_early(ByteView payload) {
    if (begin_ns_ == 0 || payload.size() != payload_.size()) return;
    const BenchHead head = BenchHead::read(payload.data(), received_ns_);
    if (head.kind == BenchHead::data) note_latency(result_.early, head.time_ns);
  }

 private:
  /// True once this node has delivered the last message of every node. Also true if this node has
  /// sent its own last message and another node has left: the other node had delivered the last
  /// message of every node. A node does not leave earlier, because the other nodes would then wait
  /// for the next view, and the measurement would include this wait.
  bool finished() const {
    if (!delivers()) return done_sent_ && unplaced_.empty();
    return byes_ == receivers() || (bye_sent_ && members_ < role_.domain_nodes);
  }
  bool delivers() const { return role_.domain != 0; }
  /// The number of nodes that deliver.
  std::uint32_t receivers() const { return plan_.nodes - (plan_.outside ? 1 : 0); }
  std::int64_t measure_from() const {
    return begin_ns_ + static_cast<std::int64_t>(plan_.warm_up_s * 1e9);
  }
  std::int64_t end() const {
    return measure_from() + static_cast<std::int64_t>(plan_.seconds * 1e9);
  }
  /// When message `i` of this node is due. The nodes' due times are spread evenly over the
  /// interval.
  std::int64_t due_at(std::uint64_t i) const {
    const double place =
        static_cast<double>(i) + static_cast<double>(index_) / static_cast<double>(plan_.nodes);
    return begin_ns_ + static_cast<std::int64_t>(place * interval_ns_);
  }
  /// The number of messages that are due in the measured time.
  std::uint64_t count_due() const {
    const auto before = [this](std::int64_t time) {
      auto i = static_cast<std::uint64_t>(static_cast<double>(time - begin_ns_) / interval_ns_);
      while (i > 0 && due_at(i - 1) >= time) --i;
      while (due_at(i) < time) ++i;
      return i;
    };
    return before(end()) - before(measure_from());
  }

  /// Calls the link's poll(), and reads the CPU time at both ends of the measured time.
  void note_time(std::int64_t now) {
    if (begin_ns_ == 0) return;
    link_.poll(now);
    if (cpu_from_ < 0 && now >= measure_from()) cpu_from_ = link_.cpu_seconds();
    if (cpu_from_ >= 0 && result_.cpu_s == 0 && now >= end()) {
      result_.cpu_s = link_.cpu_seconds() - cpu_from_;
    }
  }

  /// Adds the number of view changes to the problem. View changes can explain missing messages: a
  /// node outside a view need not deliver the messages of that view.
  void explain_views() {
    result_.problem += "; this node was in " + std::to_string(later_views_) +
                       " more views since the start: with more work than the machine has "
                       "processors for, a node that does not run for long is taken for dead, and "
                       "misses what is delivered until it is back. Fewer nodes, or less load";
  }

  /// Each node's last message is safe. So a node that has delivered the last message of every node
  /// may leave: the other nodes have received these messages too.
  Service service_of(BenchHead::Kind kind) const {
    return kind == BenchHead::bye ? Service::safe : plan_.service;
  }

  bool submit(BenchHead::Kind kind, std::int64_t time) {
    BenchHead{time, kind, BenchHead::number_of(submitted_ + 1)}.write(payload_.data());
    const BenchSent sent = link_.submit(payload_, service_of(kind));
    blocked_ = sent == BenchSent::full;
    if (sent == BenchSent::taken) ++submitted_;
    if (sent == BenchSent::taken && !delivers()) {
      unplaced_.push(kind == BenchHead::data ? time : 0);
    }
    if (sent == BenchSent::refused) result_.problem = "no more messages are taken";
    return sent == BenchSent::taken;
  }

  /// Sends due messages; true if any was sent.
  bool send(std::int64_t now) {
    if (begin_ns_ == 0) {
      const std::uint32_t expected = delivers() ? role_.domain_nodes : 0;
      if (!role_.starts || members_ != expected || start_sent_) return false;
      // Other domains may not be there yet.
      const bool alone = delivers() && plan_.domains == 1;
      const std::int64_t at = now + (alone ? kStartDelayNs : kLongStartDelayNs);
      start_sent_ = submit(BenchHead::start, at);
      if (start_sent_ && !delivers()) begin(at);
      return start_sent_;
    }
    if (!role_.sends) done_sent_ = true;
    if (done_ == senders_of(plan_) && delivers() && !bye_sent_ && now >= end()) {
      return bye_sent_ = submit(BenchHead::bye, now);
    }
    bool sent = false;
    for (int i = 0; i < kSendsPerTurn && !done_sent_; ++i) {
      const std::int64_t due = interval_ns_ > 0 ? due_at(sent_) : now;
      if (due >= end() || now >= end() + kGraceNs) {
        done_sent_ = submit(BenchHead::done, now);
        return true;
      }
      if (due > now || (interval_ns_ == 0 && sent_ - own_delivered_ >= plan_.under_way) ||
          !submit(BenchHead::data, due)) {
        break;
      }
      ++sent_;
      if (due >= measure_from()) ++result_.sent;
      sent = true;
    }
    return sent;
  }

  /// Handles events; true if there were any.
  bool receive() {
    int count = 0;
    for (; count < kEventsPerTurn; ++count) {
      if (count % kEventsPerClock == 0) received_ns_ = now_ns();
      if (!link_.take(*this)) break;
    }
    if (!delivers()) count += note_placed();
    return count > 0;
  }

  /// A node that delivers nothing is told of the places of its messages. Returns how many.
  int note_placed() {
    const std::uint64_t placed = link_.placed();
    if (placed == unplaced_.placed()) return 0;
    received_ns_ = now_ns();
    int count = 0;
    for (; unplaced_.placed() < placed; ++count) {
      const std::int64_t due = unplaced_.pop();
      if (due == 0) continue;
      ++own_delivered_;
      note_latency(result_.own, due);
    }
    return count;
  }

  void begin(std::int64_t time) {
    begin_ns_ = time;
    deadline_ns_ = end() + kFinishNs;
    link_.begin(measure_from(), end());
  }

  void note_delivery(std::int64_t now, std::size_t bytes) {
    if (now < measure_from() || now >= end()) return;
    ++result_.delivered;
    result_.delivered_bytes += bytes;
  }
  void note_latency(BenchLatency& latency, std::int64_t due) const {
    if (due < measure_from()) return;
    latency.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, received_ns_ - due)));
  }

  /// Sleeps until an event comes, or the next message is due.
  void sleep(std::int64_t now) {
    // If the member has no space, due messages wait; a short sleep avoids busy polling.
    std::int64_t time = blocked_ ? kSecondNs / 1'000 : kSecondNs / 100;
    if (!blocked_ && interval_ns_ > 0 && begin_ns_ != 0 && !bye_sent_) {
      const std::int64_t next = done_sent_ ? end() : due_at(sent_);
      if (!done_sent_ || next > now) time = std::clamp<std::int64_t>(next - now, 0, time);
    }
    link_.wait(*this, now + time);
  }

  static constexpr std::int64_t kGatherNs = 20 * kSecondNs;  // until all nodes have one view
  static constexpr std::int64_t kFinishNs =
      30 * kSecondNs;  // after the end, for messages in progress
  static constexpr std::int64_t kStartDelayNs = kSecondNs / 5;
  static constexpr std::int64_t kLongStartDelayNs = kSecondNs;
  static constexpr std::int64_t kGraceNs =
      kSecondNs / 10;  // after the end, for messages that were due before the end
  static constexpr int kEventsPerTurn = 1'024;
  static constexpr int kEventsPerClock =
      8;  // events for each reading of the clock, which takes longer than an event
  static constexpr int kSendsPerTurn = 64;

  Link& link_;
  const BenchPlan plan_;
  const std::uint32_t index_;
  const BenchRole role_;
  std::vector<std::byte> payload_;
  double interval_ns_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::int64_t begin_ns_ = 0;     ///< 0: not known yet
  std::int64_t received_ns_ = 0;  ///< when the latest events were read
  double cpu_from_ = -1;
  std::size_t members_ = 0;        ///< number of members of the newest view
  std::uint32_t later_views_ = 0;  ///< number of views after the nodes began to send
  bool start_sent_ = false;
  bool done_sent_ = false;
  bool blocked_ = false;  ///< the member had no space at the last submit()
  bool bye_sent_ = false;
  std::uint32_t done_ = 0;  ///< number of nodes that send no more data
  std::uint32_t byes_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t sent_ = 0;  ///< the data messages among `submitted_`
  std::uint64_t own_delivered_ = 0;
  BenchUnplaced unplaced_;  ///< used if this node delivers nothing
  DeliveryCheck check_;
  std::vector<BenchView> views_;
  BenchResult result_;
};

}  // namespace peal::cli
