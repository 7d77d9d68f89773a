// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>

#include "io/fabric/verbs_pair.h"

namespace peal::io::fabric {

/// The regions of one writer, registered with the device.
///
/// All of them, and the writer's bell, are in a protection domain of this connection: other
/// writers' queue pairs cannot reach them, and this writer's cannot reach others' regions.
class VerbsPages final : public VerbsGrants {
 public:
  static Result<std::unique_ptr<VerbsPages>, std::string> make(const VerbsDevice& device,
                                                               const Endpoint& peer, ByteSpan bell);

  Result<VerbsOffer, std::string> offer(const Regions::Exposure& exposure) override;
  Joined join(std::uint8_t number, port::Epoch epoch, const VerbsEnd& writer) override;
  bool revoke(std::uint8_t number) override;
  void drop(std::uint8_t number) override;

 private:
  struct Grant {
    port::Epoch epoch{};
    VerbsOwned<ibv_mr> memory;
    QueuePair pair;
    bool is_joined = false;
  };

  VerbsPages(const VerbsDevice& device, const Endpoint& peer, VerbsOwned<ibv_pd> domain,
             VerbsOwned<ibv_cq> completions, VerbsOwned<ibv_mr> bell)
      : device_(device),
        peer_(peer),
        domain_(std::move(domain)),
        completions_(std::move(completions)),
        bell_(std::move(bell)) {}
  void end_right(Grant& grant);

  const VerbsDevice& device_;
  Endpoint peer_;
  VerbsOwned<ibv_pd> domain_;
  VerbsOwned<ibv_cq> completions_;  ///< none come: the owner starts no operations
  VerbsOwned<ibv_mr> bell_;
  std::array<std::unique_ptr<Grant>, 256> grants_;  ///< by number
};

}  // namespace peal::io::fabric
