// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/time.h"
#include "io/fabric/channel.h"
#include "io/fabric/ends.h"
#include "io/fabric/records.h"
#include "io/fabric/staged_writes.h"

namespace peal::io::fabric {

/// How writes travel on one open connection to their owner.
class Route {
 public:
  virtual ~Route() = default;
  /// Takes a record of the owner. A record that breaks the rules ends the channel.
  virtual void on_record(const Record& record, Channel& channel) = 0;
  /// Lets the released writes at the front leave, as many as can. All are for the owner that is
  /// connected. False if the first one waits for the owner to say whether its region exists.
  virtual bool pump(StagedWrites& staged, Channel& channel, Ends& ends) = 0;
  /// Called in each turn, and before each pump().
  virtual void on_turn(Instant /*now*/, Channel& /*channel*/) {}
  /// When to call on_turn() without another reason.
  virtual std::optional<Instant> next_deadline() const { return std::nullopt; }
  /// True if writes have ended that pump() has to report, without a record of the owner. No system
  /// call.
  virtual bool has_news() { return false; }
  /// The loop is about to sleep: from now on, news wakes it up.
  virtual void arm() {}
  /// No write was acknowledged, so that it may be the fabric that fails, and not the owner.
  virtual bool is_untried() const { return false; }
  /// The connection is over: ends the writes that have left and are not answered.
  virtual void finish(Ends& ends) = 0;
};

}  // namespace peal::io::fabric
