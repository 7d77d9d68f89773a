// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "order/paxos/options.h"
#include "order/paxos/routes.h"

namespace peal::order::paxos {

/// Merges the orders of several ensembles into one. It is told of every value that one of them
/// consumes.
class Merger {
 public:
  virtual ~Merger() = default;
  /// The next value has this key, larger than all before. It causes all deliveries and views of the
  /// engine until the next call. `nothing`: the value has no other content.
  virtual void on_key(std::uint64_t key, bool nothing) = 0;
  /// This value is a view without this node.
  virtual void on_left_out() = 0;
  /// The same value is a view that excludes these members. The engine itself retains for them what
  /// this ensemble decided before.
  virtual void on_excluded(std::span<const MemberId> members) = 0;
  /// The merged order has not reached such a view yet. Until then a restart must reach it again.
  virtual bool exclusions_ahead() const = 0;
  /// Needs all values that are decided from now on, whether or not this node is in the ensemble's
  /// view.
  virtual bool needs_all() const = 0;
  /// Key of the last value that the merged order has reached.
  virtual std::uint64_t merged() const = 0;
  /// Can the application take the next unit of the merged order?
  virtual bool has_room() const = 0;
  /// A node waits for keys of this ensemble above this one, which is a timestamp.
  virtual void on_pass_wanted(std::uint64_t key) = 0;
  /// For the ensemble of all nodes: the parts of this list that have ensembles of their own. Views
  /// should have majorities of the nodes and of the acceptors of each part, too.
  virtual std::vector<NodeList> parts(const NodeList& list) const = 0;
  /// For the ensemble of a part: has the ensemble of all nodes chosen the node? True in other
  /// ensembles.
  virtual bool in_company_of_all(NodeId node) const = 0;
  /// For the ensemble of a part: is this node fully fit to coordinate the ensemble of all nodes?
  /// True in other ensembles.
  virtual bool fit_for_all() const = 0;
  /// The log that all ensembles share hangs at this node.
  virtual bool disk_hangs() const = 0;
};

/// An engine that orders some of the units, as one of several ensembles (Config::merger). Delivers
/// each unit that has a place, even in views without this node.
class Ensemble : public Engine {
 public:
  /// Does it know the state of its order?
  virtual bool known() const = 0;
  /// Key of the last value that it consumed, or of the checkpoint that it took.
  virtual std::uint64_t key() const = 0;
  /// Is this node in the active view?
  virtual bool joined() const = 0;
  /// Not so far behind other nodes that taking a checkpoint is better.
  virtual bool near() const = 0;
  /// It has consumed all values with keys above this one.
  virtual std::uint64_t from() const = 0;
  /// Coordinates, and has no proposal in progress.
  virtual bool idle() const = 0;
  /// If it coordinates, the key of the last value that it proposed.
  virtual std::optional<std::uint64_t> tip_key() const = 0;
  /// Proposes an empty value with this key, so that others need not wait for this ensemble. False:
  /// not possible now.
  virtual bool pass(Instant now, std::uint64_t key, Effects& out) = 0;
  /// The coordinator, as far as this node knows; no member if unknown.
  virtual MemberId coordinated_by() const = 0;
  /// Asks the coordinator for keys above this one, which is a timestamp.
  virtual void want_pass(std::uint64_t key, Effects& out) = 0;
  /// The merged order has reached a view without these members, which may return in the same
  /// incarnations: retains the values of this ensemble that they may lack.
  virtual void keep_for(std::span<const MemberId> left_out) = 0;
  /// Is the node one of those that should be in one view, by their links? See Company.
  virtual bool chooses(NodeId node) const = 0;
  /// This node is fully fit to coordinate.
  virtual bool fit() const = 0;
  /// Why it orders nothing, while another ensemble waits for it.
  virtual WaitReason why_awaited() const = 0;
  /// It has something to write, but its log makes nothing durable.
  virtual bool disk_hangs() const = 0;
  /// May this node be admitted to views, and only with keys of at least `from`? Not at first.
  virtual void set_ready(bool ready, std::uint64_t from) = 0;
};

/// `config` has a merger.
std::unique_ptr<Ensemble> make_ensemble(const Config& config, BufferPool& packets, Host& host,
                                        MakeRoutes make_routes);

}  // namespace peal::order::paxos
