// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/domain_set.h"
#include "base/ids.h"

// Events of ordering that an application can see. They are the only interface between nodes, the
// simulator and the oracle (ARCHITECTURE.md, "Traces").

namespace peal::trace {

enum class Layer : std::uint8_t {
  unit,   ///< the units of an engine: each position of a view's order is one unit
  order,  ///< the messages that applications submit to nodes
};

enum class Kind : std::uint8_t {
  start,
  crash,
  leave,
  submit,
  originate,
  view,
  deliver,
  early,  ///< optimistic delivery, before the message has a place; only at layer order
  lost,   ///< lines are missing here, so the trace is not a complete history
};

/// The engine of a trace that names no engine.
inline constexpr std::string_view kUnnamedEngine = "ring";
/// Maximum length of an engine's name, in bytes. A name has lower-case letters, digits and '-'.
inline constexpr std::size_t kEngineNameMax = 32;

enum class Claim : std::uint8_t { absent, yes, no };  ///< whether a view claims to be primary

struct MessageId {
  MemberId sender{};
  std::uint64_t number{};  ///< counts the sender's submissions (layer unit: units), from 1
  friend constexpr auto operator<=>(const MessageId&, const MessageId&) = default;
};

/// One event at one process. Fields that a kind does not use are zero.
struct Event {
  Kind kind{};
  Layer layer = Layer::order;
  std::int64_t at_ns{};  ///< nanoseconds since a fixed origin, which may be any time
  MemberId node{};       ///< the member where the event happened

  /// start: the engine's name, which selects the guarantees that the oracle checks in the process's
  /// history; empty means kUnnamedEngine.
  std::string engine;
  bool optimistic = false;  ///< start: the application gets optimistic deliveries

  /// start: the domains that the process is in. submit, originate, deliver and early: the domains
  /// that learn the message; empty: all nodes.
  DomainSet domains{};

  // For submit, originate, deliver and early:
  MessageId message{};
  Service service = Service::agreed;
  /// Hash of the payload. For submit, deliver and early; at layer unit also for originate.
  std::uint64_t hash{};
  std::uint64_t bytes{};  ///< size of the payload; for submit

  // originate, deliver: the regular view in which the message got its place; number 0 in originate:
  // the sender does not deliver the message. early: the regular view in which the message will
  // probably get its place. view: the regular view that is installed, or that follows.
  ViewId view{};
  /// originate, deliver: position in `view`, or 0 if the message has none; early: a guess
  Seq seq{};
  std::uint32_t index{};  ///< originate, deliver, early: place within one position, from 0

  bool as_guessed = false;  ///< deliver: the optimistic delivery named the same place
  /// deliver: number, in `view`, of the set of messages that were decided together; 0: none
  std::uint64_t set{};
  bool transitional = false;      ///< view: a transitional view; deliver: in a transitional view
  ViewId old{};                   ///< transitional view: the regular view that ends
  std::vector<MemberId> members;  ///< view: its members, sorted
  Claim primary = Claim::absent;  ///< view: whether it claims to be primary
  std::uint64_t lines{};          ///< lost: number of missing lines
};

}  // namespace peal::trace
