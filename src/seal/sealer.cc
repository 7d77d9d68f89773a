// SPDX-License-Identifier: Apache-2.0
#include "seal/sealer.h"

#include "base/assert.h"

namespace peal::seal {

Sealer::Sealer(const Keys& keys, std::uint64_t cluster, const Incarnation& self)
    : cluster_(cluster), self_(self) {
  set_keys(keys);
}

void Sealer::set_keys(const Keys& keys) {
  KeySchedule schedule(keys.to_send(), cluster_);
  key_ = schedule.id();
  badge_ = schedule.badge_of(self_);
  cipher_ = std::make_unique<GcmSealer>(schedule.subkey_of(self_));
}

bool Sealer::seal(Lane lane, NodeId to, ByteView plain, ByteSpan out) {
  PEAL_ASSERT(out.size() == plain.size() + overhead(lane));
  PEAL_ASSERT(to.value == 0 || introduces(lane));
  std::uint64_t& sealed = sealed_[static_cast<std::size_t>(lane)];
  if (sealed >= kCounterMax) return false;
  ++sealed;  // raised before use: whatever happens, no other packet gets this counter
  Header header;
  header.lane = lane;
  header.from = self_.member.node;
  header.to = to;
  header.key = key_;
  header.counter = sealed;
  header.badge = badge_;
  header.mark = mark_;
  header.epoch = self_.member.epoch;
  header.salt = self_.salt;
  const ByteSpan head = out.first(headroom(lane));
  write_header(header, head);
  cipher_->seal(nonce_of(lane, sealed), head, plain, out.subspan(head.size(), plain.size()),
                out.last(kTagBytes));
  return true;
}

void Sealer::skip_to(Lane lane, std::uint64_t counter) {
  std::uint64_t& sealed = sealed_[static_cast<std::size_t>(lane)];
  PEAL_ASSERT(counter >= sealed && counter <= kCounterMax);
  sealed = counter;
}

}  // namespace peal::seal
