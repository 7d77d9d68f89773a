// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "order/member_set.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/left_out.h"
#include "order/ridge/key_clock.h"
#include "order/ridge/layout.h"
#include "order/ridge/merge.h"
#include "order/ridge/own_units.h"
#include "order/ridge/rotation_line.h"
#include "order/ridge/sender_order.h"
#include "order/ridge/shared_log.h"

namespace peal::order::ridge {

/// Makes one ensemble from `part`, its part of the configuration. `host` hands units to it.
using MakeEnsemble = std::function<std::unique_ptr<paxos::Ensemble>(
    const paxos::Config& part, BufferPool& packets, Host& host)>;

/// Combines several ensembles, each with its own coordinator, into one engine. Each ensemble orders
/// some of the units, and their orders are merged by the keys of their values (merge.h). All nodes
/// take part in all ensembles, except in the ensembles of domains: only the nodes of a domain learn
/// its ensemble (layout.h). The node sees one engine with one view and one order. In this order the
/// units of a member keep the order in which the member handed them over, whichever ensembles
/// ordered them.
///
/// The engine installs the views of the first ensemble. A node enters views of all other ensembles
/// before a view of the first ensemble admits the node. A view of another ensemble only determines
/// which nodes may hand units to that ensemble.
///
/// ensembles.cc: inputs. ensembles_units.cc: this node's units. ensembles_passing.cc: empty values,
/// so that ensembles need not wait for others. ensembles_order.cc: the results of the merged order.
/// ensembles_rotation.cc: the merge in rotation. ensembles_state.cc: status. The code for a single
/// ensemble is in Inner (ensembles_inner.h).
class Ensembles final : public Engine {
 public:
  Ensembles(const paxos::Config& config, const Layout& layout, BufferPool& packets, Host& host,
            const MakeEnsemble& make);
  ~Ensembles() override;

  void start(Instant now, Effects& out) override;
  void on_packet(Instant now, Lane lane, const BufferRef& packet, Effects& out) override;
  void on_timer(Instant now, Effects& out) override;
  void on_work(Instant now, Effects& out) override;
  void on_durable(Instant now, Effects& out) override;
  void on_pause(Instant now, Duration gap, Effects& out) override;
  void on_drained(Instant now, Effects& out) override;
  void leave(Instant now, Effects& out) override;
  void set_nodes(Instant now, const NodeList& nodes, Effects& out) override;
  NodesWait nodes_wait() const override;
  std::optional<Instant> next_deadline() const override;
  Lane preferred_lane() const override { return Lane::control; }
  MemberId self() const override { return self_; }
  WaitReason why() const override;
  std::span<const Counter> counters() const override;
  void check_invariants() const override;
  std::uint64_t digest() const override;

 private:
  class Inner;
  /// One element of an ensemble's order.
  struct Item {
    /// `left_out`: a view that lacks this node. `nothing`: the item has only `excluded`.
    enum class Kind : std::uint8_t { unit, view, left_out, nothing } kind = Kind::unit;
    wire::Placing placing;
    MemberId origin{};
    Service service = Service::agreed;
    BufferRef bytes;  ///< bytes of the unit, without the unit's placing
    ViewId view{};
    MemberSet members;  ///< members of `view`
    MemberSet company;  ///< members of the transitional view before `view`; empty if there is none
    /// Members that a view of the first ensemble excluded, even if this node is not in that view.
    MemberSet excluded;
  };

  // ensembles.cc
  template <class Call>
  void each(Instant now, Effects& out, Call call);
  void pump();
  void make_ready();
  void feed();
  void add(std::uint8_t number, const paxos::Config& config, const MakeEnsemble& make);
  void adopted(const Event& event);
  void stop(std::string_view reason);

  // ensembles_units.cc
  bool may_add() const;
  Domain next_domain() const;

  // ensembles_passing.cc
  void let_others_pass();
  bool first_to_learn(Domain one, Domain other) const;

  // ensembles_rotation.cc
  bool rotates() const { return layout_.merging == Merging::rotation; }
  void skip_turns();
  std::size_t home_ring() const;

  // ensembles_order.cc
  bool merge_some();
  void take_unit(Item item);
  void place(const Item& item);
  Seq next_position() const;
  void install(Item item);
  void keep_for_excluded(const MemberSet& members);

  const MemberId self_;
  const Layout layout_;
  const std::uint32_t waiting_max_;  ///< limit of items of one ensemble that wait to be merged
  Host& host_;
  BufferPool& pool_;
  std::unique_ptr<SharedLog> log_;
  paxos::LeftOut left_out_;  ///< retained values of all ensembles
  bool has_log_ = true;      ///< false: the log of votes or of retained values could not be read
  std::vector<std::unique_ptr<Inner>> inner_;
  Merge<Item> merge_;
  Effects* out_ = nullptr;  ///< set during a call
  Instant now_{};
  bool stopped_ = false;
  bool more_ = false;   ///< the last call did not finish its work
  bool ready_ = false;  ///< views may admit this node, so this node takes no checkpoint

  KeyClock keys_;      ///< not used in rotation
  RotationLine line_;  ///< used only in rotation
  OwnUnits own_;

  // The merged order.
  bool joined_ = false;  ///< this node is in view_
  ViewId view_{};        ///< the last view with this node in it
  MemberSet members_;
  SenderOrder<Item> senders_;
  Seq seq_ = 0;
  std::uint64_t merged_ = 0;     ///< key of the last merged item
  std::size_t merged_from_ = 0;  ///< number of the ensemble of the last merged item
  std::size_t views_ahead_ = 0;  ///< number of views that are not merged yet
  /// Number of views of the first ensemble that excluded members and are not merged yet.
  std::size_t exclusions_ahead_ = 0;

  struct Counts {
    std::uint64_t originated = 0, delivered = 0, views = 0, passed = 0, asked = 0, deferred = 0,
                  ignored = 0;
  } counts_;
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::ridge
