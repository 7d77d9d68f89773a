// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "order/inspection/inspection.h"
#include "sim/judge/genuineness_feed.h"
#include "sim/judge/history_recorder.h"
#include "sim/world/packet.h"

namespace peal::sim {

/// Observes every packet sent, every event that a node reports and every message. A watcher may
/// plan events, but must not run the world.
class Watcher {
 public:
  virtual ~Watcher() = default;
  virtual void on_send(const Packet& packet, MemberId from) = 0;
  virtual void on_event(MemberId who, const order::Event& event) = 0;
  /// A message of `who` got its position in the order.
  virtual void on_originate(MemberId /*who*/) {}
  /// `who` delivered a message at `at`: now, plus the processor time of this step so far.
  virtual void on_message(Instant /*at*/, MemberId /*who*/, const node::Message& /*message*/) {}
  /// `who` delivered a message optimistically, before the message had its position in the order.
  virtual void on_early(Instant /*at*/, MemberId /*who*/, const node::Message& /*message*/) {}
};

/// Everything that observes a world.
struct Observers {
  HistoryRecorder& recorder;
  Watcher* watcher = nullptr;  ///< may be null
  /// Checks the run with more knowledge than any node has. Null if not wanted, or if the engine has
  /// no ghost.
  std::unique_ptr<order::Ghost> ghost;
  /// Checks whom messages concern; null unless the engine is genuine.
  std::unique_ptr<GenuinenessFeed> genuineness;

  void originated(MemberId who) {
    if (watcher != nullptr) watcher->on_originate(who);
  }
  void reported(Instant now, MemberId who, const order::Event& event) {
    recorder.reported(now, who, event);
    if (watcher != nullptr) watcher->on_event(who, event);
  }
};

}  // namespace peal::sim
