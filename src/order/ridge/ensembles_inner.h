// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "order/ridge/ensembles.h"

namespace peal::order::ridge {

/// One ensemble. All calls of the ensemble's engine to its host and all its effects go through this
/// class. The class passes the ensemble's deliveries and views to the merge, and passes packets
/// unchanged to the network.
class Ensembles::Inner final : public Host, public Effects, public paxos::Merger {
 public:
  /// `index`: the ensemble's index at this node. `its_number`: its number in the whole cluster.
  Inner(Ensembles& all, std::size_t index, std::uint8_t its_number, std::uint64_t its_cluster,
        Domain its_domain)
      : number(its_number), cluster(its_cluster), domain(its_domain), all_(all), index_(index) {}

  // Overrides of Host.
  std::uint32_t backlog_units() const override;
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override;
  std::uint32_t receive_room_units() const override;

  // Overrides of Effects.
  void send(NodeId to, Lane lane, const BufferRef& packet) override {
    all_.out_->send(to, lane, packet);
  }
  void multicast(Lane lane, const BufferRef& packet) override;
  void originate(const ViewId& /*view*/, Seq /*seq*/) override { handed.pop_front(); }
  void deliver(const Delivery& delivery) override;
  void install(const View& view) override;
  void report(const Event& event) override;
  void fatal(std::string_view reason) override { all_.stop(reason); }

  // Overrides of paxos::Merger.
  void on_key(std::uint64_t key, bool nothing) override {
    key_ = key;
    if (nothing) {
      if (all_.rotates()) all_.line_.see_nothing(all_.now_, key);
      return;
    }
    last_item = key;
    if (all_.rotates()) {
      all_.line_.see_item(all_.now_);
    } else {
      all_.keys_.see(all_.now_, key);
    }
  }
  bool needs_all() const override {
    // This node must deliver everything before the end of its last view. So it needs all values
    // until that end is merged.
    return index_ != 0 && (all_.ready_ || all_.joined_ || all_.views_ahead_ > 0);
  }
  std::uint64_t merged() const override { return all_.merged_; }
  bool has_room() const override { return all_.host_.receive_room_units() > 0; }
  void on_left_out() override;
  void on_excluded(std::span<const MemberId> members) override;
  /// Only a view of the first ensemble can exclude a member from the merged order.
  bool exclusions_ahead() const override { return index_ == 0 && all_.exclusions_ahead_ > 0; }
  void on_pass_wanted(std::uint64_t key) override {
    if (all_.rotates()) return;  // in rotation no node asks for empty values
    wanted_ = std::max(wanted_, key);
    all_.keys_.see(all_.now_, key);
  }
  std::vector<NodeList> parts(const NodeList& list) const override {
    std::vector<NodeList> parts;
    for (std::size_t i = 1; domain == 0 && i <= all_.layout_.domains.size(); ++i) {
      parts.push_back(part_of(all_.layout_, static_cast<Domain>(i), list));
    }
    return parts;
  }
  bool in_company_of_all(NodeId node) const override {
    return domain == 0 || all_.inner_.front()->engine->chooses(node);
  }
  bool fit_for_all() const override { return domain == 0 || all_.inner_.front()->engine->fit(); }
  bool disk_hangs() const override {
    return std::any_of(all_.inner_.begin(), all_.inner_.end(),
                       [](const auto& inner) { return inner->engine->disk_hangs(); });
  }

  void may_learn(const std::vector<NodeId>& nodes);
  /// For rotation. If the ensemble took its key from a checkpoint or from the log, moves the line
  /// up to this key.
  void see_where_it_begins();
  std::uint64_t last_of_others() const;
  std::uint64_t others_begin() const;
  void let_pass(std::uint64_t last);
  void want_pass(std::uint64_t last);

  /// A unit of this node that was handed to the ensemble, and that the ensemble has not ordered
  /// yet.
  struct Handed {
    std::uint64_t view{};
    std::uint64_t number{};
  };
  const std::uint8_t number;
  const std::uint64_t cluster;  ///< cluster field of the ensemble's packets
  const Domain domain;          ///< the domain whose nodes learn the ensemble
  std::vector<NodeId> others;   ///< for a domain: the other nodes that may learn the ensemble
  std::deque<Handed> handed;
  std::uint64_t last_item = 0;     ///< key of the last value that was not empty
  std::uint64_t skip_to = 0;       ///< in rotation: the place that the ensemble should reach
  std::optional<Instant> want_at;  ///< when to ask for an empty value; nullopt if none is needed
  mutable bool starved = false;    ///< receive_room_units() has returned 0 to the ensemble
  std::uint64_t adopted_list = 0;  ///< hash of the list of nodes that the ensemble adopted last
  std::unique_ptr<paxos::Ensemble> engine;

 private:
  bool may_take() const;
  bool hand_again(std::uint32_t unit_bytes_max, Unit& out);
  void take_back();

  Ensembles& all_;
  const std::size_t index_;
  std::uint64_t key_ = 0;
  std::uint64_t wanted_ = 0;   ///< greatest key that a node asked the ensemble to reach
  std::uint64_t passing_ = 0;  ///< key of the last proposed empty value
  Instant passing_at_{};
  MemberSet company_;     ///< members of the last transitional view
  bool in_view_ = false;  ///< the ensemble's last view contains this node
};

}  // namespace peal::order::ridge
