// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "oracle/checker.h"
#include "oracle/history.h"
#include "trace/event.h"

// The judge: takes events in an order in which every origination precedes its deliveries, except
// where `unwitnessed_ok` says that the origination will never come.

namespace peal::oracle {

class Core {
 public:
  explicit Core(const Options& options) : options_(options) {}

  void add(const trace::Event& event);
  /// While true, a delivery of a message that nobody was seen to originate stands for its
  /// origination, if its sender's events may be missing there.
  void set_unwitnessed_ok(bool ok) { unwitnessed_ok_ = ok; }
  Report finish();

  History& history() { return history_; }
  std::uint64_t violations_total() const { return report_.violations_total; }

 private:
  using Event = trace::Event;

  // core.cc
  void start(Process& process, const Event& event);
  void end(Process& process, const Event& event);
  bool alive(Index member, const Event& event);

  // messages.cc
  void submit(Index member, const Event& event);
  void originate(Index member, const Event& event);
  bool originate_order(Index member, const MessageRecord& record, Index message,
                       const Event& event);
  void place(Index message, View& view, const Event& event);
  void check_barrier(Index message, Index view, const Event& event);

  // deliveries.cc
  void deliver(Index member, const Event& event);
  bool delivery_belongs(Index member, Index message, const Event& event);
  bool accept_unwitnessed(Index message, const Event& event);
  void stand_for_origination(Index message, const Event& event);
  void check_same_message(Index member, Index message, const Event& event);
  void check_position(Index member, Span& span, Index message, const Event& event);
  void check_causality(Index member, Span& span, Index message, const Event& event);
  void check_causality_apart(Index member, Span& span, Index message, const Event& event);
  void check_fifo(Index member, Span& span, Index message, const Event& event);
  void check_installed(const Span& span, Index message, const Event& event);
  void append(Span& span, Index message, const Event& event);

  // quorum.cc
  bool check_own(Index member, Index message, const Event& event);
  bool accept_voted(Index message, const Event& event);
  void confirm(Index member, Index message, const Event& event);
  void check_number(Index member, Index view, const Event& event);
  void finish_chain(const View& view);

  // early.cc
  void tell_early(Index member, const Event& event);
  bool check_sent(Index member, Index message, std::uint64_t hash, std::int64_t at_ns,
                  bool may_come);
  void check_told_early(Index member, Index message, const Event& event);
  void finish_early();

  // told.cc
  void finish_told();
  void finish_told(const Span& span);
  Index missed_since(Index member, const Span& other, Index since) const;

  // views.cc
  void install(Index member, const Event& event);
  void install_transitional(Index member, const Event& event);
  std::vector<Index> member_list(Index member, const Event& event);
  bool check_succession(Index member, Index view, const Event& event);
  void announce(Index member, Index view, std::vector<Index> members, const Event& event);
  void open_span(Index member, Index view, const Event& event);
  void close_span(Index member, Index next, const Event& event);
  void check_self_delivery(Index member, const Span& span, Index next, const Event& event);
  void check_atomicity(const Transition& transition, Index span, bool tails, const Event& event);
  void check_primary(Index member, Index view, const Event& event);
  std::uint32_t node_count(const View& view) const;
  bool share_a_node(const View& a, const View& b) const;

  // ending.cc
  void finish_views();
  void finish_installs(View& view);
  void finish_order(View& view);
  void finish_holes(const Transition& transition);
  void finish_holes(const Transition& transition, const Span& span);
  void finish_travel(const Transition& transition);
  void finish_safe(Index view);
  void finish_safe(const Transition& transition);
  bool expect_delivered(Index member, Index message, const Span& span, const std::string& where);
  bool expect_safe(Index member, Index message, const Span& span, const std::string& where);
  void finish_cycles();
  void finish_figures();
  bool ended_without(Index member, const View& view) const;

  // texts.cc
  std::string name(Index member) const;
  std::string view_text(Index view) const;
  std::string message_text(Index message) const;
  std::string position(Seq seq, std::uint32_t index) const;
  std::string transition_text(const Transition& transition) const;
  std::string members_text(const std::vector<Index>& members) const;
  std::string where_text(const Process& process) const;
  std::string difference(const Span& a, const Span& b, bool tails) const;

  template <class Text>
  void violate(Property property, Index member, std::int64_t at_ns, Text&& text) {
    ++report_.violations_total;
    ++report_.violations_of[static_cast<std::size_t>(property)];
    if (report_.violations.size() < options_.violations_max) {
      report_.violations.push_back({property, text(), at_ns, history_.processes[member].id});
    }
  }

  Options options_;
  History history_;
  Report report_;
  bool unwitnessed_ok_ = false;
  /// What was told early, and not seen to be submitted.
  struct Unsent {
    Index member;
    Index message;
    std::uint64_t hash;
    std::int64_t at_ns;
  };
  std::vector<Unsent> unsent_;
  std::unordered_map<std::uint64_t, Index> numbers_;  ///< of regular views, if Options::quorum
};

}  // namespace peal::oracle
