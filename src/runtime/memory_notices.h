// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "trace/names.h"

namespace peal::io::fabric {
class Fabric;
struct Offence;
}  // namespace peal::io::fabric

namespace peal::runtime {

/// What the log says of a node's memory (src/io/fabric): each problem once.
class MemoryNotices {
 public:
  /// The next line for the log, or nothing. `is_keyed`: the cluster has a key. Costs little if
  /// there is nothing to say, so it can be called in each turn.
  std::optional<std::string> next(io::fabric::Fabric& memory, const trace::Names& names,
                                  bool is_keyed);

 private:
  std::string problem_;  ///< the last one that was said
  bool said_verbs_ = false;
};

/// A line for the log: who did what, what this node did, and the remedy.
std::string offence_text(const io::fabric::Offence& offence, const trace::Names& names,
                         bool is_keyed);

}  // namespace peal::runtime
