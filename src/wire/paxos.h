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

// The frames of engines with acceptors, as structs. They have the header of frames.h, and obey its
// rules: little-endian integers, decoders that accept any bytes, and one encoding for each frame.

namespace peal::wire {

enum class PaxosKind : std::uint8_t {
  state = kPaxosKindFirst,  ///< the sender's status and heartbeat; it can carry a vote
  submit = 33,              ///< a member sends its unit to the coordinator
  propose = 34,             ///< Phase 2a: a value for an instance
  prepare = 35,             ///< Phase 1a: a coordinator asks for promises
  promise = 36,             ///< Phase 1b: a promise, with the sender's earlier votes
  fetch = 37,               ///< asks an acceptor for the value that it voted for
  fetched = 38,             ///< the answer to FETCH
  repeat = 39,              ///< asks for decided instances
  /// One decided instance. Answers REPEAT, RECALL and FETCH; can also be sent without a request.
  decided = 40,
  checkpoint_get = 41,  ///< asks for a checkpoint to start from
  checkpoint = 42,
  relay = 43,       ///< Phase 2a, forwarded from acceptor to acceptor
  distribute = 44,  ///< a decided value that the receiver forwards to other nodes
  lacks = 45,       ///< NACK: asks a member for its own units that did not arrive
  pass = 46,        ///< asks a coordinator to advance the keys of its ensemble
  lives = 47,       ///< proposes acceptor incarnations to bootstrap an order
  /// Tests the data lane of a link. Large link checks show that the link carries large packets.
  link_check = 48,
  recall = 49,  ///< asks an acceptor for its votes in decided instances
  word = 50,    ///< the answer to RECALL for one instance: a vote, or no vote
  /// Tells a restarted acceptor up to which position other nodes knew its log to be durable.
  log_heard = kPaxosKindLast,
};

/// Whether a node's log is its latest one or an older copy, as the node itself reports.
enum class LogWord : std::uint8_t {
  /// The log is the latest one, as far as is known; or the node has no log.
  sure = 0,
  asks = 1,  ///< the node still asks all acceptors what they know of its log
  /// The log is an older copy: some node knows of more records than the log holds. The reporting
  /// node does not vote any more.
  put_back = 2,
};

/// A set of nodes, each given by its index in the active list of nodes.
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

/// How well a node could coordinate, derived from the links between the nodes and from the node's
/// disk (order/paxos/company.h).
enum class Fitness : std::uint8_t {
  none,  ///< the node does not hear a majority of the acceptors
  /// The node hears a majority of the acceptors. A node whose disk hangs has at most this fitness
  /// if the disks of enough other nodes do not hang.
  hears,
  /// The node is in a set of nodes that have working links between all of them. The set has a
  /// majority of the acceptors and a majority of the nodes.
  connected,
  chosen,  ///< the node is in the set of nodes that should be in one view
};

/// The number of a consensus instance, from 1; 0: no instance.
using Instance = std::uint64_t;

/// A round of Phase 1 and 2. Two coordinators never share a round. A coordinator that restarts does
/// not reuse an earlier round, because each round contains its coordinator's incarnation. All zero:
/// no round. The comment of kListShift explains `count`.
struct Round {
  std::uint64_t count{};
  MemberId coordinator{};
  friend constexpr auto operator<=>(const Round&, const Round&) = default;
};

/// Each round belongs to one list of nodes (see Nodes); the high bits of the round's count are the
/// number of that list. So a later list has higher rounds, and votes of a round are never counted
/// with the acceptors of another list.
inline constexpr unsigned kListShift = 40;
inline constexpr std::uint64_t kListMax = (1ULL << (63 - kListShift)) - 1;
constexpr std::uint64_t list_of(const Round& round) { return round.count >> kListShift; }
/// The lowest count of a round of list `number`.
constexpr std::uint64_t first_count(std::uint64_t number) { return (number << kListShift) + 1; }

enum class ValueKind : std::uint8_t {
  unit = 1,     ///< a member's unit
  nothing = 2,  ///< empty: fills an instance, and advances the keys of its ensemble
  view = 3,     ///< the members from this instance on
  nodes = 4,    ///< the configured nodes and the acceptors from this instance on
};

/// The header in front of every value's bytes.
struct ValueHead {
  ValueKind kind = ValueKind::nothing;
  Service service = Service::agreed;  ///< agreed or safe for a unit, else agreed
  /// Unit: number of the view that the unit is for. View: its own number. Nodes: number of the
  /// list, at most kListMax. These numbers are at least 1. Nothing: 0.
  std::uint64_t view{};
  MemberId origin{};  ///< unit: its sender; else the coordinator that made the value
  /// Unit: number of the unit among its sender's units in this view, from 1. Nothing and view:
  /// lower bound of the value's key, or 0; see Placing. Nodes: 0.
  std::uint64_t number{};
  friend bool operator==(const ValueHead&, const ValueHead&) = default;
};

/// SUBMIT, PROPOSE and DECIDED: this header, then the value's bytes from kDataHeaderBytes on.
/// SUBMIT carries a unit. The bytes of a unit are not interpreted here. The bytes of a view are its
/// members, and the bytes of a list are its nodes. A value of kind nothing has no bytes.
struct ValueFrame {
  /// PROPOSE: count of the round, whose coordinator is the packet's sender. SUBMIT: the unit's
  /// timestamp, 1 to kEarlyStampMax, with optimistic delivery; otherwise 0. DECIDED: 0.
  std::uint64_t count{};
  Instance instance{};  ///< PROPOSE, DECIDED: at least 1. SUBMIT: 0
  /// PROPOSE: less than `instance`; all instances below instance - behind are decided. SUBMIT and
  /// DECIDED: 0.
  std::uint32_t behind{};
  ValueHead head;
  friend bool operator==(const ValueFrame&, const ValueFrame&) = default;
};

/// Precedes a unit's bytes if the engine has several ensembles. Each ensemble gives its values
/// ascending keys, and learners merge the ensembles' orders by key. The key of a unit is its
/// timestamp, and the key of an empty value or a view is ValueHead::number. If such a key is not
/// above the key of the ensemble's previous value, the previous key plus 1 is used instead.
struct Placing {
  /// The sender's clock in microseconds, but always above all timestamps that the sender has seen.
  std::uint64_t stamp{};
  /// Number of the view that the unit is for; all ensembles share this view. At least 1.
  std::uint64_t view{};
  std::uint64_t number{};  ///< number among its sender's units in that view, from 1
  friend bool operator==(const Placing&, const Placing&) = default;
};
inline constexpr std::size_t kPlacingBytes = 24;
/// Largest timestamp of a unit with optimistic delivery, in nanoseconds.
inline constexpr std::uint64_t kEarlyStampMax = kCounterMax / 2;
/// A timestamp above kStampMax does not set the key of its value: the key is then the previous key
/// plus 1. So there are always higher keys.
inline constexpr std::uint64_t kStampMax = kCounterMax >> 6;
inline constexpr std::uint64_t kKeyMax = kStampMax + kStampMax / 2;

/// A member of the next view, and the number of its previous view; 0: the member had none.
struct ViewMember {
  MemberId member{};
  std::uint64_t came_from{};
  friend bool operator==(const ViewMember&, const ViewMember&) = default;
};
inline constexpr std::size_t kViewMemberBytes = 20;

/// A list of nodes, and its place among the lists of its cluster.
struct Nodes {
  std::uint64_t number{};  ///< number of earlier lists; at most kListMax
  /// Identifies the order: hash of the order's first list, see first_of().
  std::uint64_t first{};
  std::uint64_t hash{};           ///< equal for equal lists; not 0
  std::vector<NodeId> all;        ///< sorted; 1 to kMembersMax
  std::vector<NodeId> acceptors;  ///< sorted; a subset of `all`; at least one
  /// For each acceptor, in the order of `acceptors`, the id of the incarnation whose votes count.
  /// With votes on disk, this is the id of the acceptor's log; with votes in memory, the epoch of
  /// its process. No id is 0. Empty until an order has begun.
  std::vector<std::uint64_t> lives{};
  friend bool operator==(const Nodes&, const Nodes&) = default;
};
/// This bit is set in the id of every log, and in no epoch.
inline constexpr std::uint64_t kLogBit = 1ULL << 63;
/// The value of Nodes::first if `nodes` is the first list of its order.
std::uint64_t first_of(const Nodes& nodes);
/// The number of the first view of an order that begins with `nodes`. An order with votes in memory
/// can be lost and replaced. The new order's incarnations have later epochs, so its view numbers
/// are higher.
std::uint64_t first_view_of(const Nodes& nodes);

/// LIVES: the sender knows of no order and hears all acceptors of its list. The sender proposes the
/// acceptor incarnations `lives` to bootstrap an order.
struct Lives {
  std::uint64_t list{};                ///< the hash of the sender's list; not 0
  std::vector<std::uint64_t> lives{};  ///< as Nodes::lives: 1 to kMembersMax
  friend bool operator==(const Lives&, const Lives&) = default;
};

/// RELAY and DISTRIBUTE: this header, then the value's bytes from kRelayHeaderBytes on.
struct Relay {
  Round round{};  ///< the round in which the value was proposed
  Instance instance{};
  /// Less than `instance`. All instances below instance - behind are decided.
  std::uint32_t behind{};
  /// In a chain: bit i is set if the acceptor with index i, in the order of the nodes, should vote.
  /// In a ring: number of the ring within the round. At least 1.
  std::uint16_t chain{};
  ValueHead head;
  bool own = false;  ///< the value is a unit of the receiver, so its bytes are omitted
  friend bool operator==(const Relay&, const Relay&) = default;
};
inline constexpr std::size_t kRelayHeaderBytes = kHeaderBytes + 20 + 8 + 4 + 2 + 1 + 30;
/// The largest number of acceptors that a chain can name.
inline constexpr std::size_t kChainMax = 16;

struct State {
  Round round{};          ///< the highest round that the sender has seen or promised
  bool leading = false;   ///< the sender coordinates `round`, and Phase 1 is done
  bool leaving = false;   ///< the sender is leaving
  bool joined = false;    ///< the sender is in view `view`
  bool visiting = false;  ///< the sender must not be taken into a view yet
  /// Lower bound of the keys of views that admit the sender. The sender has all values of the other
  /// ensembles with keys above this one: see Placing.
  std::uint64_t from{};
  /// Round of the sender's last votes, at most `round`; no round: the sender has no votes.
  Round voted_round{};
  /// Last instance for which the sender voted in `voted_round`. The sender has also voted for all
  /// earlier undecided instances.
  Instance voted_upto{};
  /// Up to this instance, a majority voted in `voted_round`; at most `voted_upto`.
  Instance decided_upto{};
  /// The sender has consumed the decided values of all lower instances; 0: the sender has no
  /// starting point yet.
  Instance next{};
  /// Oldest decided instance that the sender can retransmit; at most `next`.
  Instance oldest{};
  std::uint64_t view{};  ///< number of the last view that the sender was in; 0: none
  std::uint64_t list{};  ///< number of the sender's active list of nodes; 0 if next is 0
  /// Hash of the first list of the order that the sender knows. If next is 0, hash of the sender's
  /// configured list.
  std::uint64_t first_list{};
  std::uint64_t next_list{};  ///< hash of the sender's pending list of nodes; 0: none
  /// The sender has asked for decided instances since its previous heartbeat.
  bool asks = false;
  /// The coordinator of the sender's last round does not serve the sender. For example, the sender
  /// does not hear the coordinator, the coordinator has not led for a long time, or the coordinator
  /// is less fit than the sender.
  bool misses = false;
  bool disk_hangs = false;  ///< the sender's log writes have not become durable for a long time
  bool app_full = false;    ///< the sender's application accepts nothing at the moment
  /// Counts the sender's heartbeats on the control lane; 0: this STATE is no heartbeat.
  std::uint32_t beat{};
  Fitness fitness = Fitness::none;
  /// Id of the sender's acceptor incarnation, see Nodes::lives; 0: the sender is never an acceptor.
  std::uint64_t life{};
  /// Position up to which the sender's log is durable; 0: no log on disk.
  std::uint64_t log{};
  LogWord log_word = LogWord::sure;
  /// Nodes of `list` whose packets the sender does not receive; empty if next is 0.
  NodeSet unheard{};
  friend bool operator==(const State&, const State&) = default;
};

/// A report of one incarnation: its log is durable up to a position.
struct LogHeard {
  std::uint64_t epoch{};     ///< epoch of the incarnation; not 0
  std::uint64_t position{};  ///< not 0
  friend bool operator==(const LogHeard&, const LogHeard&) = default;
};

/// LOG_HEARD: the durable positions of the receiver's log that the sender knows from reports.
struct LogAnswer {
  std::uint64_t asker{};  ///< epoch of the incarnation that asked; not 0
  std::uint64_t life{};   ///< id of the log of `asker`: kLogBit is set
  /// Reports of incarnations before `asker`, by ascending epoch; at most kLogsHeardMax.
  std::vector<LogHeard> heard;
  friend bool operator==(const LogAnswer&, const LogAnswer&) = default;
};
inline constexpr std::size_t kLogsHeardMax = 2;

/// LINK_CHECK: this header, then zeros up to the size under test.
struct LinkCheck {
  std::uint32_t number{};  ///< counts the sender's checks; at least 1
  std::uint32_t bytes{};   ///< size of the packet: at least kLinkCheckHeaderBytes
  friend bool operator==(const LinkCheck&, const LinkCheck&) = default;
};
inline constexpr std::size_t kLinkCheckHeaderBytes = kHeaderBytes + 4;

struct Prepare {
  std::uint64_t count{};  ///< count of the round, whose coordinator is the packet's sender
  Instance from{};        ///< asks for votes from this instance on; at least 1
  friend bool operator==(const Prepare&, const Prepare&) = default;
};

/// Votes for consecutive instances in one round.
struct VoteRun {
  Instance first{};
  std::uint32_t length{};  ///< 1 to kVotesMax; first + length <= kCounterMax
  Round round{};
  friend bool operator==(const VoteRun&, const VoteRun&) = default;
};
inline constexpr std::size_t kVoteRunsMax = 1'024;
inline constexpr std::uint32_t kVotesMax = 1U << 20;  ///< votes in one run

struct Promise {
  Round round{};    ///< the promised round
  Instance next{};  ///< as State::next
  /// The sender's votes for instances from `next` on, in rounds up to `round`. The runs ascend and
  /// do not overlap. Adjacent runs of one round are merged.
  std::vector<VoteRun> runs;
  friend bool operator==(const Promise&, const Promise&) = default;
};

struct Fetch {
  Round round{};  ///< round of the receiver's vote
  Instance instance{};
  friend bool operator==(const Fetch&, const Fetch&) = default;
};

/// FETCHED: this header, then the value's bytes from kFetchedHeaderBytes on.
struct Fetched {
  Round round{};
  Instance instance{};
  ValueHead head;
  friend bool operator==(const Fetched&, const Fetched&) = default;
};
inline constexpr std::size_t kFetchedHeaderBytes = kHeaderBytes + 20 + 8 + 30;

struct Repeat {
  Instance first{};
  std::uint16_t count{};  ///< 1 to kRepeatMax; first + count <= kCounterMax
  bool again = false;     ///< an earlier request failed, so the answer uses the control lane
  friend bool operator==(const Repeat&, const Repeat&) = default;
};
inline constexpr std::uint16_t kRepeatMax = 64;

/// Asks an acceptor for its votes in decided instances.
struct Recall {
  Instance first{};
  std::uint16_t count{};  ///< 1 to kRecallMax; first + count <= kCounterMax
  friend bool operator==(const Recall&, const Recall&) = default;
};
inline constexpr std::uint16_t kRecallMax = 64;

/// WORD: this header, then the value's bytes from kWordHeaderBytes on. The sender copies the value,
/// because the headroom in front of a unit may be too small for this header. A frame without a vote
/// is kNoVoteBytes long, and has no round and no value.
struct Word {
  Instance instance{};
  Round round{};     ///< round of the sender's vote; no round: the sender did not vote
  ValueHead head{};  ///< head of the value that the sender voted for
  friend bool operator==(const Word&, const Word&) = default;
};
inline constexpr std::size_t kNoVoteBytes = kHeaderBytes + 8 + 1;
inline constexpr std::size_t kWordHeaderBytes = kNoVoteBytes + 20 + 30;
static_assert(kWordHeaderBytes >= kFetchedHeaderBytes);

/// The receiver's units that the sender, a coordinator, is missing.
struct Lacks {
  std::uint64_t view{};   ///< the view that the units are for; at least 1
  std::uint64_t first{};  ///< the number of the first unit; at least 1
  std::uint16_t count{};  ///< 1 to kLacksMax; first + count <= kCounterMax
  friend bool operator==(const Lacks&, const Lacks&) = default;
};
inline constexpr std::uint16_t kLacksMax = 64;

/// PASS: the sender has values of other ensembles. It cannot merge them until the keys of the
/// receiver's ensemble have advanced.
struct Pass {
  std::uint64_t key{};  ///< lower bound for the next keys; 1 to kStampMax
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// The state of the order before instance `next`. A node that was in no view may start from this
/// state.
struct Checkpoint {
  Instance next{};      ///< at least 1
  std::uint64_t key{};  ///< key of the value before `next`, at most kKeyMax; see Placing
  Nodes nodes;
  ViewId view{};                       ///< number 0: no view yet
  std::vector<ViewMember> members;     ///< of `view`; sorted
  std::vector<std::uint64_t> numbers;  ///< for each member: number of its ordered units
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Decoding and encoding, with the rules of frames.h. The caller picks the decoder by the packet's
// kind. The decoders of ValueFrame, State, LinkCheck, Prepare, Fetch, Fetched, Repeat, Recall,
// Word, Lacks, Pass and Relay do not allocate.
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
/// Decodes the bytes of a value of kind view: 1 to kMembersMax members, sorted, no node twice.
[[nodiscard]] Drop decode_view_members(ByteView bytes, std::vector<ViewMember>& out);
/// Decodes the bytes of a value of kind nodes. They do not contain Nodes::number and Nodes::first,
/// which stay unchanged in `out`.
[[nodiscard]] Drop decode_nodes(ByteView bytes, Nodes& out);

/// Decodes the Placing at the start of a unit's bytes. bad_value: view or number is 0, or a field
/// is above kCounterMax.
[[nodiscard]] Drop decode_placing(ByteView unit, Placing& out);
/// Overwrites the first kPlacingBytes of `unit`.
void encode_placing_in_place(const Placing& in, ByteSpan unit);

/// Writes the header into the first kDataHeaderBytes of `packet`; the value's bytes are already
/// behind the header. `kind` is submit, propose or decided.
void encode_value_in_place(const Header& header, PaxosKind kind, const ValueFrame& in,
                           ByteSpan packet);
/// As encode_value_in_place(), with a header of kFetchedHeaderBytes.
void encode_fetched_in_place(const Header& header, const Fetched& in, ByteSpan packet);
/// As encode_value_in_place(), with a header of kWordHeaderBytes; `in` has a vote.
void encode_word_in_place(const Header& header, const Word& in, ByteSpan packet);
/// As encode_value_in_place(), with a header of kRelayHeaderBytes; `kind` is relay or distribute.
void encode_relay_in_place(const Header& header, PaxosKind kind, const Relay& in, ByteSpan packet);
[[nodiscard]] std::size_t encode_state(const Header& header, const State& in, ByteSpan out);
/// Returns 0 if `out` is smaller than in.bytes.
[[nodiscard]] std::size_t encode_link_check(const Header& header, const LinkCheck& in,
                                            ByteSpan out);
[[nodiscard]] std::size_t encode_prepare(const Header& header, const Prepare& in, ByteSpan out);
[[nodiscard]] std::size_t encode_promise(const Header& header, const Promise& in, ByteSpan out);
[[nodiscard]] std::size_t encode_fetch(const Header& header, const Fetch& in, ByteSpan out);
[[nodiscard]] std::size_t encode_repeat(const Header& header, const Repeat& in, ByteSpan out);
[[nodiscard]] std::size_t encode_recall(const Header& header, const Recall& in, ByteSpan out);
/// Encodes a WORD without a vote: `in.round` must be no round.
[[nodiscard]] std::size_t encode_no_vote(const Header& header, const Word& in, ByteSpan out);
[[nodiscard]] std::size_t encode_lacks(const Header& header, const Lacks& in, ByteSpan out);
[[nodiscard]] std::size_t encode_pass(const Header& header, const Pass& in, ByteSpan out);
[[nodiscard]] std::size_t encode_lives(const Header& header, const Lives& in, ByteSpan out);
[[nodiscard]] std::size_t encode_log_answer(const Header& header, const LogAnswer& in,
                                            ByteSpan out);
[[nodiscard]] std::size_t encode_checkpoint_get(const Header& header, ByteSpan out);
[[nodiscard]] std::size_t encode_checkpoint(const Header& header, const Checkpoint& in,
                                            ByteSpan out);
/// Returns 0 if `out` is too small or there are more than kMembersMax members.
[[nodiscard]] std::size_t encode_view_members(const std::vector<ViewMember>& in, ByteSpan out);
/// Returns 0 if `out` is too small or there are more than kMembersMax nodes.
[[nodiscard]] std::size_t encode_nodes(const Nodes& in, ByteSpan out);

// The fields of values and rounds. They have the same form in packets and in an acceptor's log.
class ByteReader;
class Writer;
Round read_round(ByteReader& in);  ///< rejects "no round": count is at least 1
ValueHead read_value_head(ByteReader& in);
void write_round(Writer& out, const Round& round);
void write_value_head(Writer& out, const ValueHead& head);
void read_nodes(ByteReader& in, Nodes& out);  ///< reads what decode_nodes() decodes
void write_nodes(Writer& out, const Nodes& in);
void read_checkpoint(ByteReader& in, Checkpoint& out);
void write_checkpoint(Writer& out, const Checkpoint& in);

}  // namespace peal::wire
