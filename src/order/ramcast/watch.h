// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "order/ramcast/domain_state.h"
#include "order/ramcast/leader_log.h"
#include "order/ramcast/links.h"
#include "order/ramcast/log_reader.h"

namespace peal::order::ramcast {

/// Signs of life between the servers of a domain: each writes its state into a cell at all others,
/// at every beat and when others wait for it. So each server knows who lives, what all members have
/// delivered, and who may lead.
class Watch {
 public:
  Watch(const Parts& parts, Links& links, DomainState& state, LogReader& reader);

  void start(Instant now);
  /// Reads the cells of the others. True if anything was new.
  bool read(Instant now, LeaderLog& log);
  /// Writes this server's cell if a beat is due, or if the others wait for it. `full`: the
  /// application takes nothing.
  void write(Instant now, bool full);
  bool beat_is_due(Instant now) const { return now >= next_; }
  Instant deadline() const { return next_; }
  void on_renewed(Instant now, NodeIndex node);
  /// This server has delivered a view.
  void on_view();
  /// The process did not run for a while: nobody is suspected for that.
  void on_pause(Instant now);
  /// A write to the server could not be delivered: it has died, or its connection broke. It is
  /// suspected at once, and counts as gone if it gives no sign of life within a few beats.
  void on_down(Instant now, NodeIndex node);

  bool trusts(Instant now, Place place) const;
  /// The server has been silent for so long that a view excludes it.
  bool is_gone(Instant now, Place place) const;
  /// The server says that it does not hear this one.
  bool is_deaf(Place place) const {
    return ((peers_[place].control.missing >> parts_.place) & 1U) != 0;
  }
  /// It has been deaf for so long that a view excludes it, if this server leads: it gets no log.
  bool stays_deaf(Instant now, Place place) const {
    return is_deaf(place) && now - peers_[place].deaf_since >= parts_.options.exclude();
  }
  /// The server says that it has no order yet.
  bool has_no_order(Place place) const {
    const wire::Control& control = peers_[place].control;
    return control.outside && control.delivered == 0;
  }
  /// The member at this place, in the incarnation that counts, gives signs of life.
  bool lives(Instant now, Place place) const;
  /// This server takes part in the order as a member, and was not left behind. It tells the others
  /// if it may not lead.
  bool may_lead(Instant now) const;
  /// The same for a server that is outside, or was left behind: it leads if no other server can.
  /// README.md, *Views*.
  bool may_lead_at_last(Instant now) const;
  /// This server is the one to take over now.
  bool must_take_over(Instant now) const;
  /// A view with this number excludes this server: it does not lead in the present one, while any
  /// server lives that has delivered that view.
  void set_unfit(Instant now, Seq number);
  /// The candidate of this round asked with a view that is over: it does not know that this server
  /// counts. It cannot lead, and answers another candidate.
  void set_outdated(const wire::Round& round) { outdated_ = round; }
  /// The highest round of this server's order that it or another server has promised.
  wire::Round highest_promised() const;
  /// Another server has promised a higher round than this one.
  bool is_overtaken() const { return highest_promised() > parts_.standing.promised; }
  /// Key up to which all members have delivered, as they say themselves or as any of them knows; 0
  /// until all of them have delivered the view.
  Seq delivered_by_all() const;
  /// What the node at this place has delivered, as far as it has told.
  Seq delivered_by(Place place) const;
  /// A key up to which this member knows, as it has told, that all members have delivered. It keeps
  /// what is behind it.
  Seq released_by(Place place) const {
    return std::max(peers_[place].released, peers_[place].joined);
  }
  /// All members know that all members have delivered up to this key.
  bool is_released_everywhere(Seq key) const;
  /// The view with which the member came in, if this server has delivered that one; else 0.
  Seq joined(Place place) const { return peers_[place].joined; }
  /// The server at this place takes each entry of the log that is in its memory. One that is not in
  /// the view, or does not deliver in it yet, may have no space: its senders do not wait for it.
  bool takes_at_once(Place place) const {
    return state_.is_member(place) && delivered_by(place) >= peers_[place].joined;
  }
  /// A server that is not waited for has lagged behind this key for a while: it may lack messages
  /// that the others have released. Or a member can keep no more messages, and has not delivered
  /// the present view.
  bool lags(Instant now, Place place, Seq released) const;
  void on_regrant(Instant now, Place place) { peers_[place].moved = now; }
  const wire::Control& control(Place place) const { return peers_[place].control; }
  /// The last mark of the leader.
  const wire::Control* leader_cell() const;

 private:
  struct Peer {
    wire::Control control;
    Instant heard{};
    Instant deaf_since{};
    Instant moved{};  ///< when it had delivered more than before
    /// A leader that says that it hears no majority: since when it has said so without a break.
    std::optional<Instant> deaf_leader_since{};
    Seq released{};  ///< the largest one that it has told
    Seq joined{};    ///< the view with which it became a member
    bool seen = false;
  };
  NodeIndex node_at(Place place) const { return parts_.layout.servers(parts_.domain)[place]; }
  bool is_last_resort(Instant now) const;
  bool is_unfit(Instant now) const;
  bool can_go_on_leading(Instant now) const;
  std::uint16_t missing(Instant now) const;
  Seq heard_from_all() const;
  wire::Round current_round(Instant now) const;
  bool leader_is_missed(Instant now) const;

  const Parts& parts_;
  Links& links_;
  DomainState& state_;
  LogReader& reader_;
  BadRecords& bad_;
  std::vector<Peer> peers_;  ///< by place
  std::uint64_t beat_ = 0;
  ViewId unfit_in_{};
  Seq unfit_by_ = 0;
  Instant unfit_until_{};  ///< at least
  Duration unfit_for_{};
  wire::Round outdated_{};
  Instant next_{};
  wire::Control told_;  ///< as it was written last
};

}  // namespace peal::order::ramcast
