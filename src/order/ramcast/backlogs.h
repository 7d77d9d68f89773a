// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "order/ramcast/domain_state.h"
#include "order/ramcast/links.h"
#include "order/ramcast/log_reader.h"
#include "order/ramcast/messages.h"
#include "order/ramcast/outlet.h"
#include "order/ramcast/watch.h"

namespace peal::order::ramcast {

/// What the last view of an excluded member still owes to it: the messages up to the view without
/// it, and the views. All other servers of the domain that deliver that view retain them for the
/// process, also those outside, until it has delivered them or has restarted. Once it is back it
/// asks for them, one server after the other.
///
/// A view may exclude a member that has not delivered the former one yet. So a server that is not a
/// member of two views in a row retains up to the second one for all that were members of the
/// first.
///
/// A member is waited for until it is excluded. So these are at most the messages in the slots of
/// all senders.
class Backlogs {
 public:
  Backlogs(const Parts& parts, Links& links, Messages& messages, DomainState& state, Outlet& outlet,
           const Watch& watch, const LogReader& reader);

  // A member that goes on.

  /// This server has delivered a view behind `before`.
  void retain(const wire::DomainView& before);
  void on_request(const MemberId& from, NodeIndex node, const wire::BacklogRequest& request,
                  Effects& out) const;
  /// Drops what nobody needs any more.
  void tidy();

  // The excluded member.

  /// A view without this server, which is not active, is known to exist.
  void expect(Instant now);
  /// The leader has been silent for long, and others may hear it: asks them whether a view has
  /// excluded this server. Only a member of such a view answers.
  void doubt(Instant now);
  /// The leader is heard.
  void trust() { doubts_ = false; }
  void on_timer(Instant now, Effects& out);
  std::optional<Instant> deadline() const;
  void on_backlog(Instant now, const wire::Backlog& backlog, const BufferRef& unit, Effects& out);
  void on_view(Instant now, const wire::BacklogView& backlog, Effects& out);

  /// A view has left out this server, which has not delivered yet what the domain had ordered
  /// before.
  bool is_owed() const { return expects_ && state_.is_member(); }

 private:
  struct Item {
    Seq key{};
    wire::MessageId id{};
    wire::MessageHead head{};
    BufferRef unit{};  ///< empty for a view, or if this server lacks the unit
  };
  struct Retained {
    MemberId member{};  ///< none: nothing is retained
    Seq begin = 0;      ///< the items follow this key, without a gap
    std::vector<Item> items;
    std::vector<wire::DomainView> views;  ///< those among the items, at most three

    void add(const wire::DomainView& view);
    const wire::DomainView* view_at(Seq key) const;
    /// The key of the last view; 0 if nothing is retained.
    Seq last() const { return views.empty() ? 0 : views.back().id.number; }
  };

  void retain_for(Place place, const wire::DomainView* before);
  void send(NodeIndex node, const Retained& retained, std::size_t item, Effects& out) const;
  bool asks() const { return expects_ || doubts_; }
  bool awaits(Seq before, Seq key) const;
  /// The base of the round that this server has promised is complete here.
  bool has_base() const { return parts_.standing.in_step() && reader_.is_based(); }
  void believe();
  void on_taken(Instant now, Effects& out);
  void ask_next(Instant now);
  void request(Instant now, Effects& out);

  const Parts& parts_;
  Links& links_;
  Messages& messages_;
  DomainState& state_;
  Outlet& outlet_;
  const Watch& watch_;
  const LogReader& reader_;
  std::vector<Retained> retained_;  ///< by place
  bool expects_ = false;
  bool doubts_ = false;
  Instant next_{};
  Duration gap_{};      ///< from a request to the next one, should nothing come
  Place asked_ = 0;     ///< the place that was asked last
  unsigned taken_ = 0;  ///< items since the last request
};

}  // namespace peal::order::ramcast
