// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

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
  /// The connection is over: ends the writes that have left and are not answered.
  virtual void finish(Ends& ends) = 0;
};

}  // namespace peal::io::fabric
