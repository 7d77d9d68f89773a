// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/udp.h"
#include "seal/opener.h"
#include "seal/random.h"
#include "seal/sealer.h"

namespace peal::io {

/// The Sealer and the Opener of a transport. References to both stay valid as long as
/// this object exists.
class Seals {
 public:
  Seals(const UdpConfig& config, const UdpSeal& with)
      : node_(config.self),
        cluster_(with.cluster),
        mark_(config.frame_header().mark()),
        keys_(with.keys),
        sealer_(new_sealer(with.epoch)),
        opener_(keys_, cluster_, {node_, with.epoch}, numbers_of(config.nodes)) {}

  void set_keys(const seal::Keys& keys) {
    keys_ = keys;
    sealer_.set_keys(keys);
    opener_.set_keys(keys);
  }
  void set_nodes(std::span<const Peer> nodes) { opener_.set_senders(numbers_of(nodes)); }
  void set_epoch(std::uint64_t epoch) {
    sealer_ = new_sealer(epoch);
    opener_.set_self({node_, epoch});
  }
  seal::Sealer& sealer() { return sealer_; }
  seal::Opener& opener() { return opener_; }

 private:
  seal::Sealer new_sealer(std::uint64_t epoch) const {
    seal::Sealer sealer(keys_, cluster_, {{node_, epoch}, seal::random_salt()});
    sealer.set_mark(mark_);
    return sealer;
  }
  static std::vector<NodeId> numbers_of(std::span<const Peer> nodes) {
    std::vector<NodeId> numbers;
    for (const Peer& node : nodes) numbers.push_back(node.node);
    return numbers;
  }

  NodeId node_;
  std::uint64_t cluster_;
  std::uint32_t mark_;
  seal::Keys keys_;
  seal::Sealer sealer_;
  seal::Opener opener_;
};

}  // namespace peal::io
