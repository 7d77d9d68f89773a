// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "io/fabric/verbs_device.h"

namespace peal::io::fabric {

/// One end of a reliable connection between two devices.
class QueuePair {
 public:
  struct Shape {
    std::uint32_t sends = 1;  ///< operations under way
    std::uint32_t inline_bytes = 0;
    bool takes_writes = false;  ///< the other end may write
  };
  /// The error is one line with the remedy.
  static Result<QueuePair, std::string> make(const VerbsDevice& device, ibv_pd* domain,
                                             ibv_cq* completions, const Shape& shape);

  VerbsEnd end() const;
  std::uint32_t number() const { return pair_->qp_num; }
  /// Connects with the other end, which is at `peer`. False if the device refuses it.
  bool connect(const VerbsEnd& other, const Endpoint& peer);
  /// The other end's operations are answered with an error from now on; those that have begun may
  /// go on. Nothing if the pair has failed already.
  void refuse_writes();
  /// False if the device refuses it.
  bool post(ibv_send_wr& work);

 private:
  QueuePair(const VerbsDevice& device, VerbsOwned<ibv_qp> pair, std::uint32_t first_packet)
      : device_(&device), pair_(std::move(pair)), first_packet_(first_packet) {}
  bool modify(ibv_qp_attr& attributes, int mask);

  const VerbsDevice* device_;
  VerbsOwned<ibv_qp> pair_;
  std::uint32_t first_packet_;
};

}  // namespace peal::io::fabric
