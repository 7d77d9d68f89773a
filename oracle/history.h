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

// The data that the checker keeps of a history: members, messages, views and spans. The items of
// each kind are numbered from 0, without holes. A *span* has the events of one member in one
// regular view and in the transitional view after this view.
//
// Members of a view nearly always deliver the same sequence. So View::log keeps this sequence once,
// and a span keeps only the length of the prefix that its member delivered. If a member's
// deliveries differ from the log, its span keeps a list of the deliveries from the first difference
// on.

namespace peal::oracle {

/// With Options::companies: whether messages of this service have a place in the order.
constexpr bool has_place(Service service) {
  return service == Service::agreed || service == Service::safe;
}

struct Place {
  Seq seq = 0;
  std::uint32_t index = 0;
  Index message = kNone;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Messages that were decided together.
struct DecidedSet {
  std::uint64_t number = 0;    ///< its number in the view, from 1
  std::uint32_t messages = 0;  ///< delivered so far
  friend bool operator==(const DecidedSet&, const DecidedSet&) = default;
};

struct MessageRecord {
  std::uint64_t hash = 0;
  std::uint64_t number = 0;
  Seq seq = 0;
  std::uint32_t index = 0;
  Index sender = kNone;
  Index view = kNone;         ///< where the message was originated
  std::uint32_t ordinal = 0;  ///< the message's index in View::order
  /// Number of the sender's regular deliveries in `view` before the origination. With
  /// Options::companies: in `known_in`, before the submission.
  std::uint32_t known = 0;
  Index known_in = kNone;  ///< the view where the sender was when it submitted the message
  std::uint32_t nth = 0;   ///< index among the sender's messages in `view`
  Index slot = kNone;      ///< the sender's index in View::spans; kNone: not known
  Service service = Service::agreed;
  bool submitted = false;
  bool originated = false;
  bool has_hash = false;
  bool witnessed = true;  ///< false: the origination is known only from a delivery
};

struct Span {
  Index member = kNone;
  Index view = kNone;
  Index came_from = kNone;   ///< the member's previous regular view
  Index transition = kNone;  ///< the transitional view after `view`; kNone: not installed yet
  Index slot = kNone;        ///< the member's index in View::spans
  Index went_to = kNone;     ///< the member's next regular view
  bool hole_reported = false;
  std::int64_t installed_at = 0;
  std::int64_t transition_at = 0;

  std::uint32_t common = 0;  ///< length of the prefix of View::log that the member delivered
  std::vector<Index> apart;  ///< regular deliveries from the first difference on
  std::vector<Index> tail;   ///< transitional deliveries
  Seq last_seq = 0;          ///< position of the last delivery
  std::uint32_t last_index = 0;
  /// With Options::companies, by message: the places at this member that differ from the place in
  /// MessageRecord.
  std::unordered_map<Index, Place> elsewhere;
  /// With Options::companies: the delivered sets of messages that were decided together.
  std::vector<DecidedSet> sets;

  std::vector<Index> sent;           ///< own messages originated in `view`
  std::vector<std::uint32_t> heard;  ///< by sender's slot: number of deliveries from this sender
  /// If History::counts_units: the number of own originated units and, by sender, the number of
  /// delivered units.
  std::uint32_t units_placed = 0;
  std::unordered_map<Index, std::uint32_t> units_taken;
  std::uint32_t verified = 0;  ///< E6: length of the prefix of View::log already checked
  /// E6: pairs of a sender's span and the length of the prefix of Span::apart already checked.
  std::vector<std::pair<Index, std::uint32_t>> verified_apart;

  std::uint32_t regular_count() const { return common + static_cast<std::uint32_t>(apart.size()); }
};

struct View {
  ViewId id{};
  bool announced = false;      ///< true: a member installed the view; false: only mentioned
  std::vector<Index> members;  ///< as in the first view event; sorted by id
  trace::Claim primary = trace::Claim::absent;
  Index first_at = kNone;        ///< the first member that installed the view
  std::vector<Index> strangers;  ///< members that installed the view, but are not in `members`
  std::vector<Index> spans;      ///< by slot (members, then strangers); kNone: no span
  std::uint32_t missing = 0;     ///< number of members that have not installed the view
  std::vector<Index> log;        ///< the common deliveries: see the top of this file
  std::vector<Place> order;      ///< originated messages; see sort_order()
  bool sorted = true;            ///< originations came in the order of their positions
  bool barrier_reported = false;
  bool stable_reported = false;
  Index barrier_message = kNone;  ///< the first message originated in the view
  Index stable_message = kNone;   ///< the first message delivered as safe before a transition
  std::unordered_map<Seq, Index> unnumbered;  ///< units without a number, by position
  /// If History::counts_units: units by sender (upper half) and by number in the view, from 0.
  std::unordered_map<std::uint64_t, Index> counted;
};

struct Transition {
  Index old = kNone;
  Index next = kNone;
  std::vector<Index> members;
  Index first_span = kNone;  ///< span of the first member that installed this view
  std::vector<Index> spans;  ///< spans of all members that installed this view
};

enum class Stage : std::uint8_t { named, alive, crashed, left };

/// The place of a message as announced by optimistic delivery.
struct EarlyPlace {
  Seq seq = 0;
  std::uint32_t index = 0;
  friend auto operator<=>(const EarlyPlace&, const EarlyPlace&) = default;
};

struct Process {
  MemberId id{};
  Stage stage = Stage::named;
  Index view = kNone;  ///< current or last regular view
  ViewId view_id{};    ///< the id of `view`
  Index span = kNone;
  bool transitional = false;                    ///< in the transitional view after `view`
  bool optimistic = false;                      ///< uses optimistic delivery
  std::unordered_map<Index, EarlyPlace> early;  ///< optimistic deliveries in `view`
  EarlyPlace early_last;                        ///< the last place announced in `view`
  std::unordered_map<Index, std::uint64_t> early_numbers;  ///< by sender: last number in `early`
  std::int64_t last_at = 0;
  /// The highest number of an own message that this member originated, or that another member
  /// delivered before.
  std::uint64_t last_originated = 0;
  /// With Options::companies: the highest number of an own message that this member originated.
  std::uint64_t last_placed = 0;
  std::uint64_t last_submitted = 0;
  std::vector<Index> spans;                              ///< in the order of installation
  std::vector<Index> by_number;                          ///< own messages by number; kNone: unknown
  std::unordered_map<std::uint64_t, Index> far_numbers;  ///< own messages not in `by_number`
  std::vector<std::uint64_t> last_number;                ///< by sender: last number delivered
  std::vector<std::uint64_t> delivered;                  ///< one bit for each message

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

/// The processes, messages, views, transitional views and spans of a history, and the number of
/// each id. An id that events only mention gets a number, too.
class History {
 public:
  std::vector<Process> processes;
  std::vector<MessageRecord> messages;
  std::vector<View> views;
  std::vector<Transition> transitions;
  std::vector<Span> spans;
  /// True: units are identified by counting, since their events have no numbers that all members
  /// know. The n-th unit of a sender that a member delivers in a view is the n-th unit that the
  /// sender sent in the view.
  bool counts_units = false;

  Index member(const MemberId& id);
  Index view(const ViewId& id);
  /// The transitional view between two regular views; kNone if no member installed it.
  Index find_transition(Index old, Index next) const;
  Index add_transition(Index old, Index next);
  /// The message of a submit, originate, deliver or early event. If counts_units: all earlier
  /// events of the event's member must have been judged.
  Index message(const trace::Event& event);
  /// If counts_units: counts the unit of an originate or deliver event that has been judged.
  void count_unit(const trace::Event& event);

  /// The member's index in View::spans, or kNone.
  Index slot_of(const View& view, Index member) const;
  /// The member's span in the view, or kNone.
  Index span_in(Index view, Index member) const;
  /// The place of a message at the member of a span.
  Place place_in(const Span& span, Index message) const;
  /// Unless View::sorted is true: sorts View::order by position, and sets the messages' ordinals.
  void sort_order(View& view);
  /// The k-th regular delivery of a span.
  Index regular(const Span& span, std::uint32_t k) const {
    return k < span.common ? views[span.view].log[k] : span.apart[k - span.common];
  }
  /// The k-th delivery of a span; regular deliveries come first.
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
  Index counted_unit(Index sender, const trace::Event& event);

  std::vector<Newest> newest_;  ///< by node: the incarnation looked up last
  std::unordered_map<MemberId, Index, HashId> members_;
  std::unordered_map<ViewId, Index, HashId> views_;
  std::unordered_map<std::uint64_t, Index> transitions_;
};

}  // namespace peal::oracle
