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

/// Merges the orders of several ensembles into one. Each ensemble notifies the merger of every
/// value that the ensemble consumes.
class Merger {
 public:
  virtual ~Merger() = default;
  /// The ensemble consumes a value with this key, which is larger than all earlier keys. The value
  /// causes all deliveries and views of the ensemble until the next call. `nothing`: the value is
  /// empty.
  virtual void on_key(std::uint64_t key, bool nothing) = 0;
  /// The value of the last on_key() is a view without this node.
  virtual void on_left_out() = 0;
  /// The value of the last on_key() is a view that excludes these members. The ensemble itself
  /// retains, for these members, the values that were decided before this view.
  virtual void on_excluded(std::span<const MemberId> members) = 0;
  /// True if the merged order has not yet reached a view that on_excluded() reported. If this node
  /// restarts before that, it must consume the view again.
  virtual bool exclusions_ahead() const = 0;
  /// True: all values that are decided from now on are needed, whether or not this node is in the
  /// ensemble's view.
  virtual bool needs_all() const = 0;
  /// Key of the last value that the merged order has reached.
  virtual std::uint64_t merged() const = 0;
  /// Can the application take the next unit of the merged order?
  virtual bool has_room() const = 0;
  /// A node waits until keys of this ensemble exceed `key`, which is a timestamp.
  virtual void on_pass_wanted(std::uint64_t key) = 0;
  /// For the ensemble of all nodes: the parts (subsets of this list) that have ensembles of their
  /// own. Each view should also have a majority of the nodes and of the acceptors of each part.
  virtual std::vector<NodeList> parts(const NodeList& list) const = 0;
  /// Should the node be in the view of the ensemble of all nodes? Only the ensemble of a subset of
  /// the nodes asks this; for every other ensemble the answer is true.
  virtual bool in_company_of_all(NodeId node) const = 0;
  /// Is this node fully fit to coordinate the ensemble of all nodes? Only the ensemble of a subset
  /// of the nodes asks this; for every other ensemble the answer is true.
  virtual bool fit_for_all() const = 0;
  /// True if the log that all ensembles share hangs at this node.
  virtual bool disk_hangs() const = 0;
};

/// An engine that orders some of the units, as one of several ensembles (Config::merger). Delivers
/// each unit that has a place, even in views without this node.
class Ensemble : public Engine {
 public:
  /// Does this ensemble know the state of its order?
  virtual bool known() const = 0;
  /// Key of the last value that this ensemble consumed, or of the checkpoint that it took.
  virtual std::uint64_t key() const = 0;
  /// Is this node in the active view?
  virtual bool joined() const = 0;
  /// True if this node is close enough to the others to catch up without a checkpoint.
  virtual bool near() const = 0;
  /// So far, the ensemble has consumed all values with keys above this key, without gaps.
  virtual std::uint64_t from() const = 0;
  /// True if this node coordinates and has no proposal in progress.
  virtual bool idle() const = 0;
  /// If this node coordinates, the key of the last value that it proposed.
  virtual std::optional<std::uint64_t> tip_key() const = 0;
  /// Proposes an empty value whose key is at least `key`, so that the other ensembles need not wait
  /// for this one. False: not possible now.
  virtual bool pass(Instant now, std::uint64_t key, Effects& out) = 0;
  /// The coordinator, as far as this node knows; no member if unknown.
  virtual MemberId coordinated_by() const = 0;
  /// Asks the coordinator for keys above `key`, which is a timestamp.
  virtual void want_pass(std::uint64_t key, Effects& out) = 0;
  /// The merged order has reached a view without these members, which may return in the same
  /// incarnations: retains the values of this ensemble that they may lack.
  virtual void keep_for(std::span<const MemberId> left_out) = 0;
  /// Should the node be in the view, according to its links? See Company.
  virtual bool chooses(NodeId node) const = 0;
  /// True if this node is fully fit to coordinate.
  virtual bool fit() const = 0;
  /// Why this ensemble orders nothing, while another ensemble waits for it.
  virtual WaitReason why_awaited() const = 0;
  /// True if the log has records to write, but has made none durable for a long time.
  virtual bool disk_hangs() const = 0;
  /// `ready`: views may admit this node. `from`: lower bound of the keys of views that admit this
  /// node. Initially, views must not admit this node.
  virtual void set_ready(bool ready, std::uint64_t from) = 0;
};

/// If the ensemble is one of several, `config` has a merger.
std::unique_ptr<Ensemble> make_ensemble(const Config& config, BufferPool& packets, Host& host,
                                        MakeRoutes make_routes);

}  // namespace peal::order::paxos
