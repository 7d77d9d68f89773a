// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "sim/baselines/frame.h"

namespace peal::sim::genuine {

/// The incarnations that are the members of a domain, for ever. The first node of the domain names
/// them once it has heard all nodes of the domain; the others take its word from any beat.
class Roster {
 public:
  Roster(const Layout& layout, MemberId self) : self_(self), domain_(layout.domain_of(self.node)) {
    if (domain_ != 0) nodes_ = layout.nodes(domain_);
    if (domain_ != 0) heard_[self.node] = self;
    if (leads()) name_members();
  }

  DomainId domain() const { return domain_; }
  const std::vector<NodeId>& nodes() const { return nodes_; }
  bool known() const { return !members_.empty(); }
  const std::vector<MemberId>& members() const { return members_; }
  /// True if this incarnation is a member.
  bool is_member(const MemberId& who) const {
    for (const MemberId& each : members_) {
      if (each == who) return true;
    }
    return false;
  }
  ViewId view() const { return {1, members_.front()}; }

  /// Installs the domain's only view. The members must be known.
  void install(order::Effects& out) const {
    order::View view;
    view.id = this->view();
    view.members = members_;
    view.primary = order::Primary::yes;
    out.install(view);
    out.report({.kind = &order::event::view_installed, .view = view.id, .a = members_.size()});
  }

  /// Another node of the domain sent a beat that named `members`.
  void heard(const MemberId& from, const std::vector<MemberId>& members) {
    if (known()) return;
    if (members.size() == nodes_.size()) {
      members_ = members;
      return;
    }
    MemberId& last = heard_[from.node];
    if (from.epoch > last.epoch) last = from;
    if (leads()) name_members();
  }
  /// Nodes of the domain that were not heard yet.
  std::vector<MemberId> awaited() const {
    std::vector<MemberId> awaited;
    for (const NodeId node : nodes_) {
      if (!heard_.contains(node)) awaited.push_back({node, 0});
    }
    return awaited;
  }

  void write(wire::Writer& out) const {
    out.count(members_.size(), wire::kMembersMax);
    out.members(members_);
  }
  std::vector<MemberId> read(wire::ByteReader& in) const {
    std::vector<MemberId> members;
    wire::read_members(in, in.u<std::uint16_t>(), wire::kMembersMax, members);
    bool right = members.empty() || members.size() == nodes_.size();
    for (std::size_t i = 0; right && i < members.size(); ++i) right = members[i].node == nodes_[i];
    in.require(right, wire::Drop::bad_value);
    return members;
  }

 private:
  bool leads() const { return !nodes_.empty() && nodes_.front() == self_.node; }
  void name_members() {
    if (heard_.size() != nodes_.size()) return;
    for (const auto& [node, member] : heard_) members_.push_back(member);
  }

  MemberId self_;
  DomainId domain_;
  std::vector<NodeId> nodes_;  ///< of the domain
  std::map<NodeId, MemberId> heard_;
  std::vector<MemberId> members_;  ///< empty: not known yet
};

}  // namespace peal::sim::genuine
