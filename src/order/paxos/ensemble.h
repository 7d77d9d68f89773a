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

/// Makes one order of those of several ensembles, and is told of every value that one of them
/// consumes.
class Merger {
 public:
  virtual ~Merger() = default;
  /// The next value has this key, larger than all before. What the engine delivers or installs
  /// until the next call comes of it. `nothing`: it says no more than that.
  virtual void on_key(std::uint64_t key, bool nothing) = 0;
  /// This value is a view without this node.
  virtual void on_left_out() = 0;
  /// The same value is a view that left these out. What this ensemble has decided before it, the
  /// engine keeps for them by itself.
  virtual void on_excluded(std::span<const MemberId> members) = 0;
  /// The order of them all has not come to such a view yet. Until then a restart must come to it
  /// again.
  virtual bool exclusions_ahead() const = 0;
  /// Needs all that is decided from now on, whether this node is in the ensemble's view or not.
  virtual bool needs_all() const = 0;
  /// Key of the last value that the order of them all has come to.
  virtual std::uint64_t merged() const = 0;
  /// Does the application take what comes next in it?
  virtual bool has_room() const = 0;
  /// A node needs keys of this ensemble above this one, which is a stamp.
  virtual void on_pass_wanted(std::uint64_t key) = 0;
  /// Of the ensemble of all nodes: the parts of this list that have ensembles of their own. Views
  /// should have most nodes and most acceptors of each part, too.
  virtual std::vector<NodeList> parts(const NodeList& list) const = 0;
  /// Of the ensemble of such a part: has the ensemble of all nodes chosen the node? In other
  /// ensembles all are.
  virtual bool in_company_of_all(NodeId node) const = 0;
  /// Of the ensemble of such a part: is this node as fit as can be to coordinate that of all nodes?
  /// In other ensembles it is.
  virtual bool fit_for_all() const = 0;
  /// The log of all ensembles hangs at this node.
  virtual bool disk_hangs() const = 0;
};

/// An engine that orders a part of the units, as one of several: see Config::merger. Delivers
/// whatever has its place, also in views that this node is not in.
class Ensemble : public Engine {
 public:
  /// Does it know where its order stands?
  virtual bool known() const = 0;
  /// Of the last value that it consumed, or that a checkpoint stands behind.
  virtual std::uint64_t key() const = 0;
  /// Is this node in the view that counts?
  virtual bool joined() const = 0;
  /// Not so far behind others that it would rather begin where they are.
  virtual bool near() const = 0;
  /// It has consumed all with keys above this one.
  virtual std::uint64_t from() const = 0;
  /// Coordinates, and has nothing under way.
  virtual bool idle() const = 0;
  /// If it coordinates, the key of the last value that it proposed.
  virtual std::optional<std::uint64_t> tip_key() const = 0;
  /// Proposes nothing with this key, so that others need not wait for this ensemble. False: it
  /// cannot now.
  virtual bool pass(Instant now, std::uint64_t key, Effects& out) = 0;
  /// Who coordinates, as far as this node knows; nobody if it does not.
  virtual MemberId coordinated_by() const = 0;
  /// Asks whoever coordinates for keys above this one, which is a stamp.
  virtual void want_pass(std::uint64_t key, Effects& out) = 0;
  /// The order of all ensembles has come to a view without these, which may come back as they are:
  /// keeps what they may still lack of what this ensemble has decided so far.
  virtual void keep_for(std::span<const MemberId> left_out) = 0;
  /// Is the node of those that should go on together, by their links? See Company.
  virtual bool chooses(NodeId node) const = 0;
  /// It is as fit to coordinate as can be.
  virtual bool fit() const = 0;
  /// Why it orders nothing, if another ensemble waits for it.
  virtual WaitReason why_awaited() const = 0;
  /// It has something to write, and its log makes nothing durable.
  virtual bool disk_hangs() const = 0;
  /// May this node be taken into views, and with keys of at least `from`? Not at first.
  virtual void set_ready(bool ready, std::uint64_t from) = 0;
};

/// `config` has a merger.
std::unique_ptr<Ensemble> make_ensemble(const Config& config, BufferPool& packets, Host& host,
                                        MakeRoutes make_routes);

}  // namespace peal::order::paxos
