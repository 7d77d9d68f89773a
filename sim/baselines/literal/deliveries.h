// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/baselines/literal/parts.h"
#include "sim/baselines/sender.h"

namespace peal::sim::genuine::literal {

/// Task 6 of the paper, and what clients are told.
class Deliveries {
 public:
  explicit Deliveries(const Parts& parts) : p_(parts) {}

  /// Delivers the next message. False if none can be delivered.
  bool deliver(Instant now, order::Host& host, Sender& sender, order::Effects& out);
  /// Tells clients which of their slots are free. `released`: all servers that count have delivered
  /// up to this key.
  void release(Instant now, Key released);

 private:
  Key lowest(const Message& message) const;
  Message* next();
  void reply(Instant now, const Message& message);

  const Parts& p_;
};

}  // namespace peal::sim::genuine::literal
