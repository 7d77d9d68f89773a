// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

// What an application can see of ordering, as events: the only language between nodes, the
// simulator and the oracle (ARCHITECTURE.md, "Traces").

namespace peal::trace {

enum class Layer : std::uint8_t {
  unit,   ///< an engine's units: every position of a view's order is one unit
  order,  ///< the messages of applications, at node level
};

enum class Kind : std::uint8_t {
  start,
  crash,
  leave,
  submit,
  originate,
  view,
  deliver,
  early,  ///< the application is told of a message before it has its place; layer order only
  lost,   ///< lines of the trace are missing here: it is no history
};

/// The engine of traces that do not name one.
inline constexpr std::string_view kUnnamedEngine = "ring";
/// Bytes of the name of an engine: lower-case letters, digits and '-'.
inline constexpr std::size_t kEngineNameMax = 32;

/// Domains are numbered from 1 to this.
inline constexpr std::uint32_t kDomainMax = 15;

enum class Claim : std::uint8_t { absent, yes, no };  ///< of being the primary view

struct MessageId {
  MemberId sender{};
  std::uint64_t number{};  ///< counts that incarnation's submissions (layer unit: units), from 1
  friend constexpr auto operator<=>(const MessageId&, const MessageId&) = default;
};

/// One event at one process. Fields that a kind does not use are zero.
struct Event {
  Kind kind{};
  Layer layer = Layer::order;
  std::int64_t at_ns{};  ///< since any fixed origin
  MemberId node{};       ///< where it happened

  /// start: the name of the engine that orders, which decides which promises the process's history
  /// is held to; kUnnamedEngine if it is empty.
  std::string engine;
  bool optimistic = false;    ///< start: the application is told of messages early
  std::uint16_t domains = 0;  ///< start: bit i is set if it is in domain i, from 1

  // submit, originate, deliver, early
  MessageId message{};
  Service service = Service::agreed;
  std::uint8_t domain = 0;  ///< who learns it; 0: all nodes
  std::uint64_t hash{};   ///< of the payload: submit, deliver, early; at layer unit also originate
  std::uint64_t bytes{};  ///< of the payload: submit

  // originate, deliver, early: the regular view in which the message got its place; view: the
  // regular view that is installed, or, for a transitional one, the new view
  ViewId view{};
  Seq seq{};              ///< originate, deliver: position in `view`; early: what it should be
  std::uint32_t index{};  ///< the same three: order of messages within one position, from 0

  bool as_guessed = false;        ///< deliver: the member said early that it comes there
  bool transitional = false;      ///< view: which kind; deliver: in the transitional view
  ViewId old{};                   ///< view, transitional: the regular view left
  std::vector<MemberId> members;  ///< view; sorted
  Claim primary = Claim::absent;  ///< view
  std::uint64_t lines{};          ///< lost: how many
};

}  // namespace peal::trace
