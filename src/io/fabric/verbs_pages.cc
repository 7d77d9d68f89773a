// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_pages.h"

#include <utility>

#include "base/assert.h"

namespace peal::io::fabric {

Result<std::unique_ptr<VerbsPages>, std::string> VerbsPages::make(const VerbsDevice& device,
                                                                  const Endpoint& peer,
                                                                  ByteSpan bell) {
  auto domain = device.make_domain();
  if (!domain) return unexpected(domain.error());
  auto completions = device.make_completions(1);
  if (!completions) return unexpected(completions.error());
  // The writer counts its writes there, and reads whether the owner sleeps.
  auto memory = device.register_memory(
      domain->get(), bell,
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  if (!memory) return unexpected(memory.error());
  return std::unique_ptr<VerbsPages>(new VerbsPages(device, peer, std::move(*domain),
                                                    std::move(*completions), std::move(*memory)));
}

Result<VerbsOffer, std::string> VerbsPages::offer(const Regions::Exposure& exposure) {
  const std::uint8_t number = exposure.region.number;
  drop(number);
  // Without relaxed ordering, which would let a later write be seen before an earlier one.
  auto memory = device_.register_memory(domain_.get(), exposure.memory,
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (!memory) return unexpected(memory.error());
  auto pair = QueuePair::make(device_, domain_.get(), completions_.get(),
                              {.sends = 1, .inline_bytes = 0, .takes_writes = true});
  if (!pair) return unexpected(pair.error());
  VerbsOffer offer;
  offer.address = reinterpret_cast<std::uintptr_t>(exposure.memory.data());
  offer.key = (*memory)->rkey;
  offer.bell_address = reinterpret_cast<std::uintptr_t>(bell_->addr);
  offer.bell_key = bell_->rkey;
  offer.end = pair->end();
  grants_[number] =
      std::make_unique<Grant>(Grant{exposure.epoch, std::move(*memory), std::move(*pair), false});
  return offer;
}

VerbsGrants::Joined VerbsPages::join(std::uint8_t number, port::Epoch epoch,
                                     const VerbsEnd& writer) {
  Grant* const grant = grants_[number].get();
  if (grant == nullptr || grant->epoch != epoch) return Joined::gone;
  if (std::exchange(grant->is_joined, true)) return Joined::unusable;
  return grant->pair.connect(writer, peer_) ? Joined::yes : Joined::unusable;
}

bool VerbsPages::revoke(std::uint8_t number) {
  Grant* const grant = grants_[number].get();
  if (grant == nullptr) return true;
  end_right(*grant);
  if (grant->is_joined) return true;
  grants_[number].reset();
  return false;
}

void VerbsPages::drop(std::uint8_t number) {
  Grant* const grant = grants_[number].get();
  if (grant == nullptr) return;
  end_right(*grant);
  grants_[number].reset();
}

/// The access flags stop the writer at once: the device answers it with an error. They do not stop
/// a write that the device is about to place, nor another queue pair of the writer, which could
/// have the key of this memory. So the memory is taken from the device, too. That call returns once
/// nothing is placed there any more.
void VerbsPages::end_right(Grant& grant) {
  if (grant.memory == nullptr) return;
  grant.pair.refuse_writes();
  const int failed = device_.library().dereg_mr(grant.memory.release());
  PEAL_ASSERT(failed == 0);
}

}  // namespace peal::io::fabric
