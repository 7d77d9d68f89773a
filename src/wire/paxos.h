// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "wire/frames.h"

// The frames of engines that order on quorums, as checked structs. They have the common header of
// frames.h, and its rules: little-endian, decoders are total, one encoding for each frame.

namespace peal::wire {

enum class PaxosKind : std::uint8_t {
  state = kPaxosKindFirst,  ///< what a node is and has; also its vote and its sign of life
  submit = 33,              ///< a member's unit, to the coordinator
  propose = 34,             ///< Phase 2a: a value for an instance
  prepare = 35,             ///< Phase 1a
  promise = 36,             ///< Phase 1b: what the sender voted for
  fetch = 37,               ///< asks for what somebody voted for
  fetched = 38,             ///< the answer
  repeat = 39,              ///< asks for decided instances
  decided = 40,             ///< the answer, one instance each
  checkpoint_get = 41,      ///< asks for a place to begin
  checkpoint = 42,
  relay = 43,       ///< Phase 2a from acceptor to acceptor
  distribute = 44,  ///< a decided value, for the receiver to send to others
  lacks = 45,       ///< asks a member for units of its own, which did not come
  pass = 46,        ///< asks a coordinator to let other ensembles go ahead of it
  lives = 47,       ///< of the acceptors that begin an order with their votes in memory
  link_check = 48,  ///< a large packet on the data lane, which tells that it arrives
  recall = 49,      ///< asks an acceptor what it has to say of instances that are decided
  word = 50,        ///< the answer, one instance each: its vote, or that it did not vote
  log_heard = kPaxosKindLast,  ///< to an acceptor that started: what was heard of its log before
};

/// What a node says of its log: is it the one that it had last, or an older copy?
enum class LogWord : std::uint8_t {
  sure = 0,      ///< it is, as far as anybody knows; or the node has none
  asks = 1,      ///< not all acceptors have said yet what they heard of it
  put_back = 2,  ///< somebody heard of more than it holds: it says nothing of votes any more
};

/// A set of nodes, by their index in the list that counts.
class NodeSet {
 public:
  static constexpr std::size_t kWords = kMembersMax / 64;

  bool has(std::size_t index) const { return (words_[index / 64] >> (index % 64) & 1U) != 0; }
  void add(std::size_t index) { words_[index / 64] |= std::uint64_t{1} << (index % 64); }
  void remove(std::size_t index) { words_[index / 64] &= ~(std::uint64_t{1} << (index % 64)); }
  bool empty() const { return *this == NodeSet{}; }
  std::size_t size() const {
    std::size_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::size_t>(std::popcount(word));
    return count;
  }
  std::array<std::uint64_t, kWords>& words() { return words_; }
  const std::array<std::uint64_t, kWords>& words() const { return words_; }
  friend bool operator==(const NodeSet&, const NodeSet&) = default;

 private:
  std::array<std::uint64_t, kWords> words_{};
};

/// How well a node could coordinate, as it judges by what it and others hear (order/paxos/links.h).
enum class Fitness : std::uint8_t {
  none,       ///< it does not hear a majority of the acceptors
  hears,      ///< it hears a majority of the acceptors
  connected,  ///< nodes whose links all work, most of both kinds, hold it
  chosen,     ///< it is of those that are to be together
};

/// Numbers one agreement; the first is 1, and 0 means nothing.
using Instance = std::uint64_t;

/// A round of Phase 1 and 2. No two coordinators have the same, and none after it restarted, since
/// its incarnation is part of it. Count 0 with nobody: no round. See list_of() for the count.
struct Round {
  std::uint64_t count{};
  MemberId coordinator{};
  friend constexpr auto operator<=>(const Round&, const Round&) = default;
};

/// Each round is for one list of nodes (see Nodes), whose number its count begins with: so rounds
/// of a later list are higher, and nobody counts votes of a round with the acceptors of another.
inline constexpr unsigned kListShift = 40;
inline constexpr std::uint64_t kListMax = (1ULL << (63 - kListShift)) - 1;
constexpr std::uint64_t list_of(const Round& round) { return round.count >> kListShift; }
/// The lowest count of a round of list `number`.
constexpr std::uint64_t first_count(std::uint64_t number) { return (number << kListShift) + 1; }

enum class ValueKind : std::uint8_t {
  unit = 1,     ///< a member's unit
  nothing = 2,  ///< fills an instance, and says how far its ensemble's keys have come
  view = 3,     ///< the members from here on
  nodes = 4,    ///< the configured nodes and the acceptors from here on
};

/// What every value says of itself, in front of its bytes.
struct ValueHead {
  ValueKind kind = ValueKind::nothing;
  Service service = Service::agreed;  ///< agreed or safe; agreed if it is no unit
  /// Unit: the view it is for. View: its number. Nodes: the list's, at most kListMax. At least 1.
  /// Nothing: 0
  std::uint64_t view{};
  MemberId origin{};  ///< unit: its sender. Else: the coordinator that made it
  /// Unit: counts its sender's in this view, from 1. Nothing, view: what its key is to be at least,
  /// or 0; see Placing. Nodes: 0
  std::uint64_t number{};
  friend bool operator==(const ValueHead&, const ValueHead&) = default;
};

/// SUBMIT, PROPOSE and DECIDED: this, and then the value's bytes, from kDataHeaderBytes on. SUBMIT
/// has a unit. A unit's bytes are anything, a view's are its members, a list's its nodes, and
/// nothing has none.
struct ValueFrame {
  /// PROPOSE: of the round, whose coordinator is the packet's sender. SUBMIT: with optimistic
  /// delivery the unit's stamp, 1 to kEarlyStampMax, else 0. DECIDED: 0
  std::uint64_t count{};
  Instance instance{};     ///< PROPOSE, DECIDED. SUBMIT: 0
  std::uint32_t behind{};  ///< PROPOSE: everything below instance - behind is decided; less than
                           ///< instance. Else 0
  ValueHead head;
  friend bool operator==(const ValueFrame&, const ValueFrame&) = default;
};

/// Where several ensembles order, this stands in front of a unit's bytes. Each ensemble gives its
/// values ascending keys, by which the orders of all of them become one: of a unit its stamp, of
/// nothing and of a view its number, but always at least one more than that of the value before.
struct Placing {
  std::uint64_t stamp{};   ///< the sender's clock, in microseconds, ahead of all that it has seen
  std::uint64_t view{};    ///< of all ensembles together, for which the unit is; at least 1
  std::uint64_t number{};  ///< counts its sender's units in that view, from 1
  friend bool operator==(const Placing&, const Placing&) = default;
};
inline constexpr std::size_t kPlacingBytes = 24;
/// A unit's stamp with optimistic delivery, in nanoseconds.
inline constexpr std::uint64_t kEarlyStampMax = kCounterMax / 2;
/// What claims more says nothing of its key: so keys always have room to ascend.
inline constexpr std::uint64_t kStampMax = kCounterMax >> 6;
inline constexpr std::uint64_t kKeyMax = kStampMax + kStampMax / 2;

/// Of the members of a view that is to come: who, and its last view's number; 0: it had none.
struct ViewMember {
  MemberId member{};
  std::uint64_t came_from{};
  friend bool operator==(const ViewMember&, const ViewMember&) = default;
};
inline constexpr std::size_t kViewMemberBytes = 20;

/// The list of nodes that counts, and which one of its cluster it is.
struct Nodes {
  std::uint64_t number{};   ///< how many there were before it; at most kListMax
  std::uint64_t first{};    ///< hash of the first one, which tells this cluster's order from others
  std::uint64_t hash{};     ///< by which equal lists are known; not 0
  std::vector<NodeId> all;  ///< sorted; 1 to kMembersMax
  std::vector<NodeId> acceptors;  ///< sorted, of these; at least one
  /// For each acceptor, in their order, the life whose votes count: the id of its log, or, where
  /// votes are in memory, the epoch of its incarnation. Not 0. None as long as no order has begun.
  std::vector<std::uint64_t> lives{};
  friend bool operator==(const Nodes&, const Nodes&) = default;
};
/// Of an id of a log; epochs do not have it.
inline constexpr std::uint64_t kLogBit = 1ULL << 63;
/// What `first` is where `nodes` is the first list of its order.
std::uint64_t first_of(const Nodes& nodes);
/// The number of the first view of an order that begins with these nodes. Where votes are in
/// memory, an order that begins after another one was lost has lives of later epochs, and higher
/// numbers.
std::uint64_t first_view_of(const Nodes& nodes);

/// LIVES: an acceptor knows of no order, hears all acceptors of its list of nodes, and takes these
/// lives of them for those that are to begin one.
struct Lives {
  std::uint64_t list{};                ///< the hash of that list; not 0
  std::vector<std::uint64_t> lives{};  ///< as Nodes::lives: 1 to kMembersMax
  friend bool operator==(const Lives&, const Lives&) = default;
};

/// RELAY and DISTRIBUTE: this, and then the value's bytes, from kRelayHeaderBytes on.
struct Relay {
  Round round{};  ///< in which the value was proposed
  Instance instance{};
  std::uint32_t behind{};  ///< everything below instance - behind is decided; less than instance
  /// Bit i: the acceptor with index i, in the order of the nodes, is asked for its vote. In a ring:
  /// which ring of the round this is. At least 1.
  std::uint16_t chain{};
  ValueHead head;
  bool own = false;  ///< a unit of the receiver's, which has its bytes: they are left out
  friend bool operator==(const Relay&, const Relay&) = default;
};
inline constexpr std::size_t kRelayHeaderBytes = kHeaderBytes + 20 + 8 + 4 + 2 + 1 + 30;
/// The largest number of acceptors that a chain can name.
inline constexpr std::size_t kChainMax = 16;
/// The most that any engine writes in front of a unit.
inline constexpr std::size_t kUnitHeadroomBytes = kRelayHeaderBytes + kPlacingBytes;

struct State {
  Round round{};            ///< the highest that the sender has seen, or promised
  bool leading = false;     ///< that round is the sender's, and Phase 1 is done
  bool leaving = false;     ///< a goodbye
  bool joined = false;      ///< is in the view that it has
  bool visiting = false;    ///< is not to be taken into a view yet
  std::uint64_t from{};     ///< it has all values with keys above this one: see Placing
  Round voted_round{};      ///< an acceptor's last vote, at most `round`; no round: none
  Instance voted_upto{};    ///< and for which instances: none is left out that is not decided
  Instance decided_upto{};  ///< up to there a majority voted in that round; at most voted_upto
  Instance next{};          ///< everything below was decided and consumed; 0: begins nowhere yet
  Instance oldest{};        ///< of the decided instances that it can give away; at most `next`
  std::uint64_t view{};     ///< the last view that it was in; 0: none
  std::uint64_t list{};     ///< number of the list of nodes that counts for it; 0 if next is 0
  /// Hash of the first list of the order that it knows; of the one it was given if next is 0.
  std::uint64_t first_list{};
  std::uint64_t next_list{};  ///< hash of the list that it was given to go over to; 0: none
  bool asks = false;          ///< it has asked for what was decided since it said this last
  /// The coordinator of `round` does not serve it: it is not heard, does not hear the sender, or is
  /// less fit than the sender.
  bool misses = false;
  bool disk_hangs = false;  ///< what it wrote to its log has not become durable for long
  bool app_full = false;    ///< its application takes nothing at the moment
  std::uint32_t beat{};     ///< counts its signs of life on the control lane; 0: this is none
  Fitness fitness = Fitness::none;
  std::uint64_t life{};  ///< by which it votes, see Nodes::lives; 0: it is never an acceptor
  std::uint64_t log{};   ///< position up to which its log is durable; 0: it has none on disk
  LogWord log_word = LogWord::sure;
  NodeSet unheard{};  ///< nodes of `list` whose packets do not arrive; empty if next is 0
  friend bool operator==(const State&, const State&) = default;
};

/// So much of a log was durable, as one incarnation of its node said.
struct LogHeard {
  std::uint64_t epoch{};     ///< of the incarnation; not 0
  std::uint64_t position{};  ///< not 0
  friend bool operator==(const LogHeard&, const LogHeard&) = default;
};

/// LOG_HEARD, to the node whose log it is.
struct LogAnswer {
  std::uint64_t asker{};        ///< epoch of the incarnation that is answered; not 0
  std::uint64_t life{};         ///< of its log: kLogBit is set
  std::vector<LogHeard> heard;  ///< of incarnations before; at most kLogsHeardMax
  friend bool operator==(const LogAnswer&, const LogAnswer&) = default;
};
inline constexpr std::size_t kLogsHeardMax = 2;

/// LINK_CHECK: this, and then zeros up to the size that is to be checked.
struct LinkCheck {
  std::uint32_t number{};  ///< counts the sender's; at least 1
  std::uint32_t bytes{};   ///< of the packet: at least kLinkCheckHeaderBytes
  friend bool operator==(const LinkCheck&, const LinkCheck&) = default;
};
inline constexpr std::size_t kLinkCheckHeaderBytes = kHeaderBytes + 4;

struct Prepare {
  std::uint64_t count{};  ///< of the round; its coordinator is the packet's sender
  Instance from{};        ///< votes below are not asked for; at least 1
  friend bool operator==(const Prepare&, const Prepare&) = default;
};

/// Votes for consecutive instances in one round.
struct VoteRun {
  Instance first{};
  std::uint32_t length{};  ///< 1 to kVotesMax; first + length is a counter too
  Round round{};
  friend bool operator==(const VoteRun&, const VoteRun&) = default;
};
inline constexpr std::size_t kVoteRunsMax = 1'024;
inline constexpr std::uint32_t kVotesMax = 1U << 20;  ///< in one run

struct Promise {
  Round round{};    ///< that is promised
  Instance next{};  ///< as in State
  /// Ascending, apart, all at `next` or above and in no higher round. Neighbours of one round are
  /// one run.
  std::vector<VoteRun> runs;
  friend bool operator==(const Promise&, const Promise&) = default;
};

struct Fetch {
  Round round{};  ///< of the vote
  Instance instance{};
  friend bool operator==(const Fetch&, const Fetch&) = default;
};

/// FETCHED: this, and then the value's bytes, from kFetchedHeaderBytes on.
struct Fetched {
  Round round{};
  Instance instance{};
  ValueHead head;
  friend bool operator==(const Fetched&, const Fetched&) = default;
};
inline constexpr std::size_t kFetchedHeaderBytes = kHeaderBytes + 20 + 8 + 30;

struct Repeat {
  Instance first{};
  std::uint16_t count{};  ///< 1 to kRepeatMax; first + count is a counter too
  bool again = false;     ///< it was asked for in vain: the answer is to take the control lane
  friend bool operator==(const Repeat&, const Repeat&) = default;
};
inline constexpr std::uint16_t kRepeatMax = 64;

/// Asks an acceptor what it has to say of instances that are decided.
struct Recall {
  Instance first{};
  std::uint16_t count{};  ///< 1 to kRecallMax; first + count is a counter too
  friend bool operator==(const Recall&, const Recall&) = default;
};
inline constexpr std::uint16_t kRecallMax = 64;

/// WORD: this, and then a copy of the value's bytes, from kWordHeaderBytes on: the headroom in
/// front of a unit may be too small. Without a vote kNoVoteBytes, with neither round nor value.
struct Word {
  Instance instance{};
  Round round{};     ///< of the sender's vote; no round: it did not vote
  ValueHead head{};  ///< of what it voted for
  friend bool operator==(const Word&, const Word&) = default;
};
inline constexpr std::size_t kNoVoteBytes = kHeaderBytes + 8 + 1;
inline constexpr std::size_t kWordHeaderBytes = kNoVoteBytes + 20 + 30;
static_assert(kWordHeaderBytes >= kFetchedHeaderBytes);

/// What a coordinator lacks of the receiver's units.
struct Lacks {
  std::uint64_t view{};   ///< for which they are; at least 1
  std::uint64_t first{};  ///< the number of the first; at least 1
  std::uint16_t count{};  ///< 1 to kLacksMax; first + count is a counter too
  friend bool operator==(const Lacks&, const Lacks&) = default;
};
inline constexpr std::uint16_t kLacksMax = 64;

/// What the sender has of other ensembles waits for this one: it is to say how far it has come.
struct Pass {
  std::uint64_t key{};  ///< that its keys are to be above; 1 to kStampMax
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// Where somebody may begin who was in no view: the state of the order before an instance.
struct Checkpoint {
  Instance next{};      ///< at least 1
  std::uint64_t key{};  ///< of the value before, at most kKeyMax; see Placing
  Nodes nodes;
  ViewId view{};                       ///< number 0: none yet
  std::vector<ViewMember> members;     ///< of that view; sorted
  std::vector<std::uint64_t> numbers;  ///< of each member's units: those that have had their place
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Decoding and encoding, with the rules of frames.h. A decoder of a kind is for packets of it.
// Those of ValueFrame, State, LinkCheck, Prepare, Fetch, Fetched, Repeat, Recall, Word, Lacks, Pass
// and Relay do not allocate.
[[nodiscard]] Drop decode_value(ByteView packet, ValueFrame& out);
[[nodiscard]] Drop decode_state(ByteView packet, State& out);
[[nodiscard]] Drop decode_link_check(ByteView packet, LinkCheck& out);
[[nodiscard]] Drop decode_prepare(ByteView packet, Prepare& out);
[[nodiscard]] Drop decode_promise(ByteView packet, Promise& out);
[[nodiscard]] Drop decode_fetch(ByteView packet, Fetch& out);
[[nodiscard]] Drop decode_fetched(ByteView packet, Fetched& out);
[[nodiscard]] Drop decode_repeat(ByteView packet, Repeat& out);
[[nodiscard]] Drop decode_recall(ByteView packet, Recall& out);
[[nodiscard]] Drop decode_word(ByteView packet, Word& out);
[[nodiscard]] Drop decode_lacks(ByteView packet, Lacks& out);
[[nodiscard]] Drop decode_pass(ByteView packet, Pass& out);
[[nodiscard]] Drop decode_relay(ByteView packet, Relay& out);
[[nodiscard]] Drop decode_lives(ByteView packet, Lives& out);
[[nodiscard]] Drop decode_log_answer(ByteView packet, LogAnswer& out);
[[nodiscard]] Drop decode_checkpoint_get(ByteView packet);
[[nodiscard]] Drop decode_checkpoint(ByteView packet, Checkpoint& out);
/// The bytes of a value of kind view: 1 to kMembersMax members, sorted, no node twice.
[[nodiscard]] Drop decode_view_members(ByteView bytes, std::vector<ViewMember>& out);
/// The bytes of a value of kind nodes: all but number and first, which are left as they are.
[[nodiscard]] Drop decode_nodes(ByteView bytes, Nodes& out);

/// The beginning of a unit's bytes. bad_value: the view or the number is 0, or anything is above
/// kCounterMax.
[[nodiscard]] Drop decode_placing(ByteView unit, Placing& out);
/// Writes it over the first kPlacingBytes.
void encode_placing_in_place(const Placing& in, ByteSpan unit);

/// Writes the kDataHeaderBytes in front of a value that already stands in `packet` behind them.
/// `kind` is submit, propose or decided.
void encode_value_in_place(const Header& header, PaxosKind kind, const ValueFrame& in,
                           ByteSpan packet);
/// The same for kFetchedHeaderBytes.
void encode_fetched_in_place(const Header& header, const Fetched& in, ByteSpan packet);
/// The same for kWordHeaderBytes, with a vote.
void encode_word_in_place(const Header& header, const Word& in, ByteSpan packet);
/// The same for kRelayHeaderBytes; `kind` is relay or distribute.
void encode_relay_in_place(const Header& header, PaxosKind kind, const Relay& in, ByteSpan packet);
[[nodiscard]] std::size_t encode_state(const Header& header, const State& in, ByteSpan out);
/// 0 if `out` is smaller than in.bytes.
[[nodiscard]] std::size_t encode_link_check(const Header& header, const LinkCheck& in,
                                            ByteSpan out);
[[nodiscard]] std::size_t encode_prepare(const Header& header, const Prepare& in, ByteSpan out);
[[nodiscard]] std::size_t encode_promise(const Header& header, const Promise& in, ByteSpan out);
[[nodiscard]] std::size_t encode_fetch(const Header& header, const Fetch& in, ByteSpan out);
[[nodiscard]] std::size_t encode_repeat(const Header& header, const Repeat& in, ByteSpan out);
[[nodiscard]] std::size_t encode_recall(const Header& header, const Recall& in, ByteSpan out);
/// Of a word without a vote: its round is none.
[[nodiscard]] std::size_t encode_no_vote(const Header& header, const Word& in, ByteSpan out);
[[nodiscard]] std::size_t encode_lacks(const Header& header, const Lacks& in, ByteSpan out);
[[nodiscard]] std::size_t encode_pass(const Header& header, const Pass& in, ByteSpan out);
[[nodiscard]] std::size_t encode_lives(const Header& header, const Lives& in, ByteSpan out);
[[nodiscard]] std::size_t encode_log_answer(const Header& header, const LogAnswer& in,
                                            ByteSpan out);
[[nodiscard]] std::size_t encode_checkpoint_get(const Header& header, ByteSpan out);
[[nodiscard]] std::size_t encode_checkpoint(const Header& header, const Checkpoint& in,
                                            ByteSpan out);
/// 0 if `out` is too small or there are more than kMembersMax.
[[nodiscard]] std::size_t encode_view_members(const std::vector<ViewMember>& in, ByteSpan out);
/// 0 if `out` is too small or there are more than kMembersMax.
[[nodiscard]] std::size_t encode_nodes(const Nodes& in, ByteSpan out);

// Records of an acceptor's durable log hold values and rounds in the same form.
class Reader;
class Writer;
Round read_round(Reader& in);  ///< one that has begun: count at least 1
ValueHead read_value_head(Reader& in);
void write_round(Writer& out, const Round& round);
void write_value_head(Writer& out, const ValueHead& head);
void read_nodes(Reader& in, Nodes& out);  ///< as decode_nodes()
void write_nodes(Writer& out, const Nodes& in);
void read_checkpoint(Reader& in, Checkpoint& out);
void write_checkpoint(Writer& out, const Checkpoint& in);

}  // namespace peal::wire
