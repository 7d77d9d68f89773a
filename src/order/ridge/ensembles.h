// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "order/member_set.h"
#include "order/paxos/ensemble.h"
#include "order/paxos/left_out.h"
#include "order/ridge/layout.h"
#include "order/ridge/merge.h"
#include "order/ridge/shared_log.h"

namespace peal::order::ridge {

/// Makes one ensemble: of this part of the configuration, for this host.
using MakeEnsemble = std::function<std::unique_ptr<paxos::Ensemble>(
    const paxos::Config& part, BufferPool& packets, Host& host)>;

/// Several ensembles, each with a coordinator of its own, as one engine. Each orders some of the
/// units, and their orders are merged by the keys of their values (merge.h). All nodes take part in
/// all ensembles, except those of domains, which only the nodes of the domain learn (layout.h). To
/// its node this is an engine like others: one view, one order, and the units of a member in the
/// order in which it handed them over, whichever ensembles they went to.
///
/// The views are those of the first ensemble. A node is in the views of the other ensembles before
/// it is admitted to one of these; the former only say which nodes may hand units to the ensemble.
///
/// ensembles.cc: inputs and status. ensembles_units.cc: this node's units. ensembles_order.cc: the
/// results of the merged order. ensembles_rotation.cc: the merge in rotation.
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
    /// `nothing`: only `excluded` is used.
    enum class Kind : std::uint8_t { unit, view, left_out, nothing } kind = Kind::unit;
    wire::Placing placing;
    MemberId origin{};
    Service service = Service::agreed;
    BufferRef bytes;  ///< of the unit, without its placing
    ViewId view{};
    MemberSet members;   ///< of the view
    MemberSet company;   ///< of the transitional view before it; empty if there is none
    MemberSet excluded;  ///< by the view, whether or not this node is in it
  };
  /// A unit of this node without a place, with its placing in front.
  struct Own {
    BufferRef bytes;
    Service service = Service::agreed;
    Domain domain = 0;
  };

  // ensembles.cc
  template <class Call>
  void each(Instant now, Effects& out, Call call);
  void pump();
  void make_ready();
  void let_others_pass();
  std::uint64_t last_of_others(const Inner& inner) const;
  std::uint64_t others_begin(const Inner& inner) const;
  void let_pass(Inner& inner, std::uint64_t last);
  void want_pass(Inner& inner, std::uint64_t last);
  bool first_to_learn(Domain one, Domain other) const;
  void feed();
  void add(std::uint8_t number, const paxos::Config& config, const MakeEnsemble& make);
  bool may_take(std::size_t ensemble) const;
  bool may_add() const;
  Domain next_domain() const;
  std::uint32_t backlog(std::size_t ensemble) const;
  bool next_unit(std::size_t ensemble, std::uint32_t unit_bytes_max, Unit& out);
  bool hand_again(std::size_t ensemble, std::uint32_t unit_bytes_max, Unit& out);
  std::uint32_t room(std::size_t ensemble) const;
  std::uint64_t key_now() const;
  void see_key(std::uint64_t key);
  void see_item(std::uint64_t key);
  void see_nothing(std::uint64_t key);
  void adopted(const Event& event);
  void stop(std::string_view reason);

  // ensembles_rotation.cc
  bool rotates() const { return layout_.merging == Merging::rotation; }
  std::uint64_t place_now() const;
  void skip_turns();
  std::size_t home_ring() const;

  // ensembles_order.cc
  bool merge_some();
  void take_unit(Item item);
  void place(const Item& item);
  Seq next_position() const;
  void place_deferred(std::size_t index);
  void install(Item item);
  void keep_for_excluded(const MemberSet& members);

  const MemberId self_;
  const std::uint64_t cluster_;
  const Layout layout_;
  const std::uint32_t waiting_max_;  ///< items of one ensemble that wait to be merged
  const std::uint32_t own_max_;      ///< units of one member without a place
  Host& host_;
  BufferPool& pool_;
  std::unique_ptr<SharedLog> log_;
  paxos::LeftOut left_out_;  ///< of all ensembles
  bool has_log_ = true;      ///< both logs could be read
  std::vector<std::unique_ptr<Inner>> inner_;
  Merge<Item> merge_;
  Effects* out_ = nullptr;  ///< during a call
  Instant now_{};
  bool stopped_ = false;
  bool more_ = false;   ///< the last call left work over
  bool ready_ = false;  ///< may be admitted to views, and takes no checkpoint from then on

  std::int64_t keys_ahead_ = 0;  ///< microseconds by which keys are ahead of this node's time

  // In rotation.
  std::int64_t places_ahead_ = 0;   ///< places by which the line is ahead of this node's time
  std::optional<Instant> last_at_;  ///< when a value was last ordered
  std::optional<Instant> skip_at_;  ///< the next tick; nothing: no tick is needed

  // The merged order.
  bool joined_ = false;  ///< is in view_
  ViewId view_{};        ///< the last view with this node in it
  MemberSet members_;
  std::vector<std::uint64_t> placed_;                    ///< units of each member
  std::vector<std::map<std::uint64_t, Item>> deferred_;  ///< units that came before earlier ones
  Seq seq_ = 0;
  std::uint64_t merged_ = 0;          ///< key of the last item
  std::size_t merged_from_ = 0;       ///< number of the ensemble that brought it
  std::size_t views_ahead_ = 0;       ///< views of the first ensemble that are not merged yet
  std::size_t exclusions_ahead_ = 0;  ///< of these, the ones that excluded members

  // This node's units.
  std::deque<Own> own_;  ///< from own_first_ on
  std::uint64_t own_first_ = 1;
  std::uint64_t stamped_ = 0;      ///< the last timestamp
  std::set<std::uint64_t> again_;  ///< numbers of units that an ensemble's view took back

  struct Counts {
    std::uint64_t originated = 0, delivered = 0, views = 0, passed = 0, asked = 0, deferred = 0,
                  ignored = 0;
  } counts_;
  mutable std::vector<Counter> counters_;
};

}  // namespace peal::order::ridge
