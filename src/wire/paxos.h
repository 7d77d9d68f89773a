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

// The frames of engines with acceptors, as checked structs. They have the header and the rules of
// frames.h: little-endian, total decoders, one encoding for each frame.

namespace peal::wire {

enum class PaxosKind : std::uint8_t {
  state = kPaxosKindFirst,  ///< the sender's status and heartbeat; it can carry a vote
  submit = 33,              ///< a member sends its unit to the coordinator
  propose = 34,             ///< Phase 2a: a value for an instance
  prepare = 35,             ///< Phase 1a: a coordinator asks for promises
  promise = 36,             ///< Phase 1b: a promise, with the sender's earlier votes
  fetch = 37,               ///< asks an acceptor for the value it voted for
  fetched = 38,             ///< answers fetch
  repeat = 39,              ///< asks for decided instances
  decided = 40,             ///< one decided instance: answers repeat, recall or fetch, or is sent
                            ///< unasked
  checkpoint_get = 41,      ///< asks for a checkpoint to start from
  checkpoint = 42,
  relay = 43,       ///< Phase 2a, forwarded from acceptor to acceptor
  distribute = 44,  ///< a decided value that the receiver forwards to other nodes
  lacks = 45,       ///< NACK: asks a member for its own units that did not arrive
  pass = 46,        ///< asks a coordinator to let other ensembles order first
  lives = 47,       ///< proposes acceptor incarnations to bootstrap an order
  link_check = 48,  ///< a large packet on the data lane, which shows that the link carries such
                    ///< packets
  recall = 49,      ///< asks an acceptor for its votes in decided instances
  word = 50,        ///< answers recall for one instance: a vote, or that there is no vote
  log_heard = kPaxosKindLast,  ///< tells a restarted acceptor up to which position its log was
                               ///< known to be durable
};

/// Whether a node's log is its latest one or an older copy, as the node itself reports.
enum class LogWord : std::uint8_t {
  sure = 0,      ///< the log is the latest, as far as any node knows; or the node has no log
  asks = 1,      ///< some acceptors have not yet reported what they know of the log
  put_back = 2,  ///< the log is an older copy: some node knows of more records than the log holds.
                 ///< The reporting node votes no more
};

/// A set of nodes, by their index in the active list of nodes.
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

/// How well a node could coordinate, judged by the links between the nodes and by its disk
/// (order/paxos/company.h).
enum class Fitness : std::uint8_t {
  none,       ///< it does not hear a majority of the acceptors
  hears,      ///< it hears a majority of the acceptors; at most this if its disk hangs and the
              ///< disks of enough other nodes do not
  connected,  ///< it is in a set of nodes with working links between all of them: a majority of the
              ///< acceptors and a majority of the nodes
  chosen,     ///< it is in the set of nodes that should be in one view
};

/// Numbers one consensus instance, from 1; 0 means none.
using Instance = std::uint64_t;

/// A round of Phase 1 and 2. Two coordinators never share a round. A coordinator that restarts does
/// not reuse an earlier round, because each round contains its coordinator's incarnation. All zero:
/// no round. kListShift explains `count`.
struct Round {
  std::uint64_t count{};
  MemberId coordinator{};
  friend constexpr auto operator<=>(const Round&, const Round&) = default;
};

/// Each round belongs to one list of nodes (see Nodes); the high bits of the round's count are the
/// number of that list. So rounds of a later list are higher, and votes of a round are never
/// counted with the acceptors of another list.
inline constexpr unsigned kListShift = 40;
inline constexpr std::uint64_t kListMax = (1ULL << (63 - kListShift)) - 1;
constexpr std::uint64_t list_of(const Round& round) { return round.count >> kListShift; }
/// The lowest count of a round of list `number`.
constexpr std::uint64_t first_count(std::uint64_t number) { return (number << kListShift) + 1; }

enum class ValueKind : std::uint8_t {
  unit = 1,     ///< a member's unit
  nothing = 2,  ///< fills an instance, and advances the keys of its ensemble
  view = 3,     ///< the members from this instance on
  nodes = 4,    ///< the configured nodes and the acceptors from this instance on
};

/// The header in front of every value's bytes.
struct ValueHead {
  ValueKind kind = ValueKind::nothing;
  Service service = Service::agreed;  ///< agreed or safe for a unit, else agreed
  /// Unit: the number of the view it is for. View: its own number. Nodes: the list's number, at
  /// most kListMax. Each at least 1. Nothing: 0
  std::uint64_t view{};
  MemberId origin{};  ///< unit: its sender; else the coordinator that made the value
  /// Unit: counts its sender's units in this view, from 1. Nothing, view: lower bound of the
  /// value's key, or 0; see Placing. Nodes: 0
  std::uint64_t number{};
  friend bool operator==(const ValueHead&, const ValueHead&) = default;
};

/// SUBMIT, PROPOSE and DECIDED: this header, then the value's bytes from kDataHeaderBytes on.
/// SUBMIT carries a unit. The bytes of a unit are opaque here; those of a view are its members, and
/// those of a list are its nodes. A value of kind nothing has no bytes.
struct ValueFrame {
  /// PROPOSE: count of the round, whose coordinator is the packet's sender. SUBMIT: the unit's
  /// timestamp with optimistic delivery, 1 to kEarlyStampMax, else 0. DECIDED: 0
  std::uint64_t count{};
  Instance instance{};     ///< PROPOSE, DECIDED: at least 1. SUBMIT: 0
  std::uint32_t behind{};  ///< PROPOSE: all instances below instance - behind are decided; less
                           ///< than `instance`. SUBMIT, DECIDED: 0
  ValueHead head;
  friend bool operator==(const ValueFrame&, const ValueFrame&) = default;
};

/// Precedes a unit's bytes where several ensembles order. Each ensemble gives its values ascending
/// keys, and learners merge the ensembles' orders by key. The key of a unit is its timestamp, and
/// the key of a nothing or a view is ValueHead::number; but each key is at least one more than the
/// key of the ensemble's previous value.
struct Placing {
  std::uint64_t stamp{};   ///< the sender's clock in microseconds, but above all timestamps that
                           ///< the sender has seen
  std::uint64_t view{};    ///< number of the view that the unit is for: the view that all ensembles
                           ///< share; at least 1
  std::uint64_t number{};  ///< counts its sender's units in that view, from 1
  friend bool operator==(const Placing&, const Placing&) = default;
};
inline constexpr std::size_t kPlacingBytes = 24;
/// Largest timestamp of a unit with optimistic delivery, in nanoseconds.
inline constexpr std::uint64_t kEarlyStampMax = kCounterMax / 2;
/// Values with larger timestamps do not set a key, so that keys can always ascend.
inline constexpr std::uint64_t kStampMax = kCounterMax >> 6;
inline constexpr std::uint64_t kKeyMax = kStampMax + kStampMax / 2;

/// A member of the next view, and the number of its previous view; 0: it had none.
struct ViewMember {
  MemberId member{};
  std::uint64_t came_from{};
  friend bool operator==(const ViewMember&, const ViewMember&) = default;
};
inline constexpr std::size_t kViewMemberBytes = 20;

/// A list of nodes, and its place among the lists of its cluster.
struct Nodes {
  std::uint64_t number{};         ///< how many lists preceded it; at most kListMax
  std::uint64_t first{};          ///< identifies the cluster's order: hash of its first list, see
                                  ///< first_of()
  std::uint64_t hash{};           ///< equal for equal lists; not 0
  std::vector<NodeId> all;        ///< sorted; 1 to kMembersMax
  std::vector<NodeId> acceptors;  ///< sorted; a subset of `all`; at least one
  /// For each acceptor, in the order of `acceptors`, the id of the incarnation whose votes count:
  /// the id of its log on disk, or the epoch of the process where votes are in memory. Not 0. Empty
  /// until an order has begun.
  std::vector<std::uint64_t> lives{};
  friend bool operator==(const Nodes&, const Nodes&) = default;
};
/// Set in the id of a log, never in an epoch.
inline constexpr std::uint64_t kLogBit = 1ULL << 63;
/// The value of `first` if `nodes` is the first list of its order.
std::uint64_t first_of(const Nodes& nodes);
/// The number of the first view of an order that begins with `nodes`. Where votes are in memory, an
/// order that replaces a lost one has incarnations with later epochs, and so higher view numbers.
std::uint64_t first_view_of(const Nodes& nodes);

/// LIVES: the sender knows of no order and hears all acceptors of its list. It proposes the
/// acceptor incarnations `lives` to bootstrap an order with votes in memory.
struct Lives {
  std::uint64_t list{};                ///< the hash of the sender's list; not 0
  std::vector<std::uint64_t> lives{};  ///< as Nodes::lives: 1 to kMembersMax
  friend bool operator==(const Lives&, const Lives&) = default;
};

/// RELAY and DISTRIBUTE: this header, then the value's bytes from kRelayHeaderBytes on.
struct Relay {
  Round round{};  ///< the round in which the value was proposed
  Instance instance{};
  std::uint32_t behind{};  ///< all instances below instance - behind are decided; less than
                           ///< `instance`
  /// Chain: bit i set means that the acceptor with index i, in the order of the nodes, is asked for
  /// its vote. Ring: the number of the ring within the round. At least 1.
  std::uint16_t chain{};
  ValueHead head;
  bool own = false;  ///< the packet omits the value's bytes: the value is a unit of the receiver
  friend bool operator==(const Relay&, const Relay&) = default;
};
inline constexpr std::size_t kRelayHeaderBytes = kHeaderBytes + 20 + 8 + 4 + 2 + 1 + 30;
/// The largest number of acceptors that a chain can name.
inline constexpr std::size_t kChainMax = 16;

struct State {
  Round round{};            ///< the highest round that the sender has seen or promised
  bool leading = false;     ///< the sender coordinates that round, and Phase 1 is done
  bool leaving = false;     ///< the sender is leaving
  bool joined = false;      ///< the sender is in view `view`
  bool visiting = false;    ///< the sender must not be taken into a view yet
  std::uint64_t from{};     ///< of the other ensembles, the sender has all values with keys above
                            ///< this key: see Placing
  Round voted_round{};      ///< round of the sender's last votes, at most `round`; no round: no
                            ///< votes
  Instance voted_upto{};    ///< last instance of those votes; the sender also voted for all earlier
                            ///< undecided instances
  Instance decided_upto{};  ///< up to this instance a majority voted in `voted_round`; at most
                            ///< `voted_upto`
  Instance next{};          ///< all lower instances were decided and consumed; 0: no starting point
                            ///< yet
  Instance oldest{};        ///< oldest decided instance that the sender can retransmit; at most
                            ///< `next`
  std::uint64_t view{};     ///< number of the last view that the sender was in; 0: none
  std::uint64_t list{};     ///< number of the sender's active list of nodes; 0 if next is 0
  /// Hash of the first list of the order that the sender knows; if next is 0, of its configured
  /// list.
  std::uint64_t first_list{};
  std::uint64_t next_list{};  ///< hash of the sender's pending list of nodes; 0: none
  bool asks = false;          ///< the sender has asked for decided instances since its previous
                              ///< STATE
  /// The coordinator of `round` does not serve the sender: the sender does not hear the
  /// coordinator, the coordinator does not hear the sender, or the coordinator is less fit than the
  /// sender.
  bool misses = false;
  bool disk_hangs = false;  ///< the sender's log writes have not become durable for a long time
  bool app_full = false;    ///< the sender's application accepts nothing at the moment
  std::uint32_t beat{};     ///< counts the sender's heartbeats on the control lane; 0: this STATE
                            ///< is no heartbeat
  Fitness fitness = Fitness::none;
  std::uint64_t life{};  ///< id of the sender's acceptor incarnation, see Nodes::lives; 0: never an
                         ///< acceptor
  std::uint64_t log{};   ///< position up to which the sender's log is durable; 0: no log on disk
  LogWord log_word = LogWord::sure;
  NodeSet unheard{};  ///< nodes of `list` whose packets the sender does not receive; empty if next
                      ///< is 0
  friend bool operator==(const State&, const State&) = default;
};

/// One incarnation reported that its log was durable up to a position.
struct LogHeard {
  std::uint64_t epoch{};     ///< of the incarnation; not 0
  std::uint64_t position{};  ///< not 0
  friend bool operator==(const LogHeard&, const LogHeard&) = default;
};

/// LOG_HEARD: tells a node which durable positions of its log the sender has heard of.
struct LogAnswer {
  std::uint64_t asker{};        ///< epoch of the incarnation that asked; not 0
  std::uint64_t life{};         ///< id of the log of `asker`: kLogBit is set
  std::vector<LogHeard> heard;  ///< reports of incarnations before `asker`, by ascending epoch; at
                                ///< most kLogsHeardMax
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
  std::uint64_t count{};  ///< count of the round; its coordinator is the packet's sender
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
inline constexpr std::uint32_t kVotesMax = 1U << 20;  ///< in one run

struct Promise {
  Round round{};    ///< the promised round
  Instance next{};  ///< as in State
  /// Ascending and disjoint; instances from `next` on, and rounds up to `round`. Adjacent runs of
  /// one round are merged.
  std::vector<VoteRun> runs;
  friend bool operator==(const Promise&, const Promise&) = default;
};

struct Fetch {
  Round round{};  ///< of the receiver's vote
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
  bool again = false;     ///< an earlier request failed: the answer takes the control lane
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
/// because the headroom in front of a unit may be too small for this header. Without a vote, the
/// frame has kNoVoteBytes, and neither round nor value.
struct Word {
  Instance instance{};
  Round round{};     ///< of the sender's vote; no round: it did not vote
  ValueHead head{};  ///< of the value that the sender voted for
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

/// The sender cannot merge the values that it has of other ensembles until the keys of the
/// receiver's ensemble have advanced.
struct Pass {
  std::uint64_t key{};  ///< lower bound for the next keys; 1 to kStampMax
  friend bool operator==(const Pass&, const Pass&) = default;
};

/// The state of the order before an instance: where a node that was in no view may start.
struct Checkpoint {
  Instance next{};      ///< at least 1
  std::uint64_t key{};  ///< of the value before `next`, at most kKeyMax; see Placing
  Nodes nodes;
  ViewId view{};                       ///< number 0: no view yet
  std::vector<ViewMember> members;     ///< of that view; sorted
  std::vector<std::uint64_t> numbers;  ///< for each member, how many of its units have been ordered
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
/// The bytes of a value of kind view: 1 to kMembersMax members, sorted, no node twice.
[[nodiscard]] Drop decode_view_members(ByteView bytes, std::vector<ViewMember>& out);
/// The bytes of a value of kind nodes. They do not contain Nodes::number and Nodes::first, which
/// stay unchanged in `out`.
[[nodiscard]] Drop decode_nodes(ByteView bytes, Nodes& out);

/// Decodes the Placing at the start of a unit's bytes. bad_value: view or number is 0, or a field
/// is above kCounterMax.
[[nodiscard]] Drop decode_placing(ByteView unit, Placing& out);
/// Overwrites the first kPlacingBytes of `unit`.
void encode_placing_in_place(const Placing& in, ByteSpan unit);

/// Writes the header into the first kDataHeaderBytes of `packet`; the value's bytes are already
/// behind it. `kind` is submit, propose or decided.
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

// An acceptor's durable log stores values and rounds in the same form.
class ByteReader;
class Writer;
Round read_round(ByteReader& in);  ///< never "no round": count at least 1
ValueHead read_value_head(ByteReader& in);
void write_round(Writer& out, const Round& round);
void write_value_head(Writer& out, const ValueHead& head);
void read_nodes(ByteReader& in, Nodes& out);  ///< as decode_nodes()
void write_nodes(Writer& out, const Nodes& in);
void read_checkpoint(ByteReader& in, Checkpoint& out);
void write_checkpoint(Writer& out, const Checkpoint& in);

}  // namespace peal::wire
