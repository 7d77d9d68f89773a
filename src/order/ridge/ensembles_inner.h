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

/// One ensemble, and the interface between its engine and everything else: all requests and effects
/// of the engine pass through here. Its order goes to the merge; packets pass unchanged.
class Ensembles::Inner final : public Host, public Effects, public paxos::Merger {
 public:
  /// `index` among those of this node, `number` among all.
  Inner(Ensembles& all, std::size_t index, std::uint8_t its_number, Domain its_domain)
      : number(its_number), domain(its_domain), all_(all), index_(index) {}

  // Host
  std::uint32_t backlog_units() const override { return all_.backlog(index_); }
  bool next_unit(std::uint32_t unit_bytes_max, Unit& out) override {
    return all_.next_unit(index_, unit_bytes_max, out);
  }
  std::uint32_t receive_room_units() const override { return all_.room(index_); }

  // Effects
  void send(NodeId to, Lane lane, const BufferRef& packet) override {
    all_.out_->send(to, lane, packet);
  }
  void multicast(Lane lane, const BufferRef& packet) override;
  void originate(const ViewId& /*view*/, Seq /*seq*/) override { handed.pop_front(); }
  void deliver(const Delivery& delivery) override;
  void install(const View& view) override;
  void report(const Event& event) override;
  void fatal(std::string_view reason) override { all_.stop(reason); }

  // paxos::Merger
  void on_key(std::uint64_t key, bool nothing) override {
    key_ = key;
    if (nothing) return all_.see_nothing(key);
    last_item = key;
    all_.see_item(key);
  }
  /// In rotation. The ensemble may begin elsewhere than behind the value that it consumed last.
  void see_where_it_begins();
  void may_learn(const std::vector<NodeId>& nodes);
  bool needs_all() const override {
    // Until the end of its last view is merged, this node owes the application what belongs before
    // it.
    return index_ != 0 && (all_.ready_ || all_.joined_ || all_.views_ahead_ > 0);
  }
  std::uint64_t merged() const override { return all_.merged_; }
  bool has_room() const override { return all_.host_.receive_room_units() > 0; }
  void on_left_out() override;
  void on_excluded(std::span<const MemberId> members) override;
  /// Exclusions by other ensembles' views end nothing.
  bool exclusions_ahead() const override { return index_ == 0 && all_.exclusions_ahead_ > 0; }
  void on_pass_wanted(std::uint64_t key) override {
    if (all_.rotates()) return;  // rotation uses no requests
    wanted = std::max(wanted, key);
    all_.see_key(key);
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

  /// A unit of this node that the ensemble was handed and has not placed.
  struct Handed {
    std::uint64_t view{};
    std::uint64_t number{};
  };
  const std::uint8_t number;
  const Domain domain;         ///< the domain whose nodes learn it
  std::vector<NodeId> others;  ///< of a domain: the other nodes that may learn it
  std::deque<Handed> handed;
  std::uint64_t last_item = 0;  ///< key of the last value that was not empty
  std::uint64_t wanted = 0;     ///< a node needs keys above this one
  std::uint64_t passing = 0;    ///< key of the last proposed empty value
  std::uint64_t skip_to = 0;    ///< in rotation, at the last tick: where its turn should be
  Instant passing_at{};
  std::optional<Instant> want_at;  ///< when to ask for an empty value; nothing: no need
  bool starved = false;            ///< there was no space for its results
  std::uint64_t adopted_list = 0;  ///< hash of its last active list of nodes
  std::unique_ptr<paxos::Ensemble> engine;

 private:
  void take_back();

  Ensembles& all_;
  const std::size_t index_;
  std::uint64_t key_ = 0;
  MemberSet company_;     ///< of the last transitional view
  bool in_view_ = false;  ///< its last view contains this node
};

}  // namespace peal::order::ridge
