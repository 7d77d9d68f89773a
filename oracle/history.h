// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "oracle/index.h"
#include "trace/event.h"

// What the checker remembers of a history: members, messages, views and spans, all under dense
// numbers. A *span* is what one member did in one regular view, with the transitional view that
// follows it.
//
// Members of a view nearly always deliver the same sequence, so it is kept once, as the view's
// `log`, and a span only says how much of it the member delivered. A span that differs keeps its
// own list from there on.

namespace peal::oracle {

struct MessageRecord {
  std::uint64_t hash = 0;
  std::uint64_t number = 0;
  Seq seq = 0;
  std::uint32_t index = 0;
  Index sender = kNone;
  Index view = kNone;         ///< where it was originated
  std::uint32_t ordinal = 0;  ///< its place in View::order
  std::uint32_t known = 0;    ///< deliveries in `view` at the sender before it originated this
  std::uint32_t nth = 0;      ///< among the sender's messages in `view`, from 0
  Index slot = kNone;         ///< the sender's place in the view; kNone if not seen to originate
  Service service = Service::agreed;
  bool submitted = false;
  bool originated = false;
  bool has_hash = false;
  bool witnessed = true;  ///< false: its origination is known from a delivery only
};

struct Span {
  Index member = kNone;
  Index view = kNone;
  Index came_from = kNone;   ///< the member's regular view before
  Index transition = kNone;  ///< the transitional view that follows, once installed
  Index slot = kNone;        ///< the member's place in View::spans
  Index went_to = kNone;     ///< the member's regular view after
  bool hole_reported = false;
  std::int64_t installed_at = 0;
  std::int64_t transition_at = 0;

  std::uint32_t common = 0;  ///< regular deliveries that are the first ones of View::log
  std::vector<Index> apart;  ///< regular deliveries from the first one that is not
  std::vector<Index> tail;   ///< transitional deliveries
  Seq last_seq = 0;          ///< position of the last delivery
  std::uint32_t last_index = 0;

  std::vector<Index> sent;           ///< own messages
  std::vector<std::uint32_t> heard;  ///< by slot: how many of that member's messages were delivered
  std::uint32_t verified = 0;        ///< all of View::log's first ones are known to be delivered
  std::vector<std::pair<Index, std::uint32_t>> verified_apart;  ///< (span, so many of its `apart`)

  std::uint32_t regular_count() const { return common + static_cast<std::uint32_t>(apart.size()); }
};

struct Place {
  Seq seq = 0;
  std::uint32_t index = 0;
  Index message = kNone;
};

struct View {
  ViewId id{};
  bool announced = false;      ///< somebody installed it; else only named
  std::vector<Index> members;  ///< as first announced; sorted by id
  trace::Claim primary = trace::Claim::absent;
  Index first_at = kNone;        ///< the member that announced it first
  std::vector<Index> strangers;  ///< who installed it although it is not one of its members
  std::vector<Index> spans;      ///< by slot: of the members, then of the strangers; kNone if none
  std::uint32_t missing = 0;     ///< members that have not installed it yet
  std::vector<Index> log;        ///< see above
  std::vector<Place> order;      ///< what was originated; by position if `sorted`
  bool sorted = true;
  bool barrier_reported = false;
  bool stable_reported = false;
  Index barrier_message = kNone;  ///< the first one originated
  Index stable_message = kNone;   ///< the first safe one delivered before a transitional view
  std::unordered_map<Seq, Index> unnumbered;  ///< units whose ids have number 0, by position
};

struct Transition {
  Index old = kNone;
  Index next = kNone;
  std::vector<Index> members;
  Index first_span = kNone;  ///< of the member that announced it first
  std::vector<Index> spans;  ///< of all that announced it
};

enum class Stage : std::uint8_t { named, alive, crashed, left };

/// Where a message should come, as a member was told.
struct EarlyPlace {
  Seq seq = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const EarlyPlace&, const EarlyPlace&) = default;
};

struct Process {
  MemberId id{};
  Stage stage = Stage::named;
  Index view = kNone;  ///< current, or last, regular view
  ViewId view_id{};    ///< its id
  Index span = kNone;
  bool transitional = false;                    ///< in the transitional view after `view`
  bool optimistic = false;                      ///< is told of messages early
  std::unordered_map<Index, EarlyPlace> early;  ///< those of `view`
  EarlyPlace early_last;                        ///< of them, as the next one
  std::unordered_map<Index, std::uint64_t> early_numbers;  ///< the last one of each sender
  std::int64_t last_at = 0;
  std::uint64_t last_originated = 0;
  std::uint64_t last_submitted = 0;
  std::vector<Index> spans;                              ///< in order
  std::vector<Index> by_number;                          ///< own messages; kNone where unknown
  std::unordered_map<std::uint64_t, Index> far_numbers;  ///< those that leave a large hole
  std::vector<std::uint64_t> last_number;                ///< by sender: the last one delivered
  std::vector<std::uint64_t> delivered;                  ///< a bit for each message

  bool has_delivered(Index message) const {
    const std::size_t word = message / 64;
    return word < delivered.size() && ((delivered[word] >> (message % 64)) & 1U) != 0;
  }
  void set_delivered(Index message) {
    const std::size_t word = message / 64;
    if (word >= delivered.size()) delivered.resize(word + word / 2 + 16);
    delivered[word] |= std::uint64_t{1} << (message % 64);
  }
};

/// Everything above, and the dense numbers of ids. Ids that are only named get a number too.
class History {
 public:
  std::vector<Process> processes;
  std::vector<MessageRecord> messages;
  std::vector<View> views;
  std::vector<Transition> transitions;
  std::vector<Span> spans;

  Index member(const MemberId& id);
  Index view(const ViewId& id);
  /// The transitional view between two regular ones; kNone if nobody announced it.
  Index find_transition(Index old, Index next) const;
  Index add_transition(Index old, Index next);
  /// The message of a submit, originate or deliver event.
  Index message(const trace::Event& event);

  /// The member's place in View::spans, or kNone.
  Index slot_of(const View& view, Index member) const;
  /// The member's span in the view, or kNone.
  Index span_in(Index view, Index member) const;
  /// Sorts View::order and gives ordinals, if it is not sorted.
  void sort_order(View& view);
  /// The k-th regular delivery of a span.
  Index regular(const Span& span, std::uint32_t k) const {
    return k < span.common ? views[span.view].log[k] : span.apart[k - span.common];
  }
  /// The k-th delivery of a span, regular ones first.
  Index delivery(const Span& span, std::uint32_t k) const {
    const std::uint32_t count = span.regular_count();
    return k < count ? regular(span, k) : span.tail[k - count];
  }
  std::uint32_t delivery_count(const Span& span) const {
    return span.regular_count() + static_cast<std::uint32_t>(span.tail.size());
  }

 private:
  struct Newest {
    std::uint64_t epoch = 0;
    Index index = kNone;
  };
  struct HashId {
    std::size_t operator()(const MemberId& id) const;
    std::size_t operator()(const ViewId& id) const;
  };

  Index add_message(Index sender, std::uint64_t number);

  std::vector<Newest> newest_;  ///< by node: the incarnation last asked for
  std::unordered_map<MemberId, Index, HashId> members_;
  std::unordered_map<ViewId, Index, HashId> views_;
  std::unordered_map<std::uint64_t, Index> transitions_;
};

}  // namespace peal::oracle
