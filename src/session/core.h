// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "session/draft.h"
#include "session/event_queue.h"
#include "session/rules.h"
#include "session/sessions.h"
#include "session/settlement.h"

namespace peal::session {

struct Session;

/// How many bytes of written records the buffer of a connection may keep.
inline constexpr std::size_t kControlKept = 64 * 1'024;

/// Memory that all clients with the same rights read, and the person that has these rights.
struct Shelf {
  Shelf(RegionId its_id, Person whose, ByteSpan memory)
      : id(its_id), person(std::move(whose)), region(memory) {}
  RegionId id;
  Person person;
  Region region;
  std::uint32_t sessions = 0;
};

/// Events that clients may still read in a region after their sessions ended.
struct Kept {
  Instant until;
  std::vector<ChunkRef> chunks;
};

/// A connection of a client, with or without a session.
struct Connection {
  enum class State : std::uint8_t { hello, open, closing };
  /// Why the daemon does not read from the connection.
  enum class Pause : std::uint8_t {
    none,
    node,       ///< the node's queue is full
    unsettled,  ///< too many messages or bytes of the session are not acknowledged
    input,      ///< the unfinished records of all connections take too many bytes
    output,     ///< the client does not read its replies
  };

  ConnectionId id{};
  Identity identity;
  State state = State::hello;
  Pause pause = Pause::none;
  Session* session = nullptr;
  std::vector<std::byte> input;    ///< of an unfinished record, or one whose handling is paused
  std::uint64_t record_bytes = 0;  ///< of that record in all; 0: unknown, or no record
  std::uint64_t reserved = 0;      ///< bytes of Options::input_bytes_max that it takes
  Instant record_begun{};
  Instant last_heard{};
  Instant deadline{};              ///< for the hello; when closing, for the last output
  std::vector<std::byte> control;  ///< unwritten records that are not events
  std::size_t control_offset = 0;
  ChunkRef tail;        ///< when closing: a partly written event, to be finished
  ByteView tail_rest;   ///< the rest of it
  RegionId region = 0;  ///< that the client may read; 0: none
  /// The bytes that output() gave: of a partly written event, and of `control` behind it.
  std::size_t planned_event = 0;
  std::size_t planned_control = 0;
  std::uint64_t acked_told = 0;
  std::uint64_t repeat = 0;  ///< next refusal to repeat; 0: none
  bool wants_write = false;  ///< listed in Wanted::write
};

/// One client, for as long as it may reconnect.
struct Session {
  Session(Spool& spool, SpoolId spool_id, ChunkPool& chunks) : events(spool, spool_id, chunks) {}
  bool waits() const { return events.pushed() > events.released(); }

  std::uint32_t id{};  ///< the client's connection in group::Groups
  std::string name;
  std::string private_name;
  Person person;
  ClientRule rule;
  std::optional<std::size_t> rule_index;  ///< in the options; none: no rule allows it
  wire::SessionToken token{};
  Duration keep{};  ///< 0: ends with its connection
  Connection* connection = nullptr;
  Instant detached_at{};  ///< when the connection was lost

  EventQueue events;
  Shelf* shelf = nullptr;                                    ///< the region for its events
  std::map<std::string, std::uint32_t, std::less<>> groups;  ///< slot in `events` for each group
  std::vector<std::uint32_t> block_slots;                    ///< slots with policy `block`
  std::uint64_t block_bytes_least = 0;                       ///< the smallest limit of these
  std::set<std::uint32_t> gaps;                              ///< slots that currently drop messages
  std::set<std::uint32_t> warned;  ///< slots whose limit the client was warned of
  Account account;                 ///< of the messages that the client sent
  std::int64_t quota_bytes = 0;    ///< that it may send now; negative: a debt
  Instant quota_at{};
  Instant next_ask{};  ///< see may_ask()

  bool leaving = false;                            ///< the client said goodbye
  wire::ClientCode ending = wire::ClientCode::ok;  ///< why it ends at the next work(); ok: not
  std::string ending_text;
};

/// Milliseconds as in records, clamped to a u32.
inline std::uint32_t milliseconds_of(Duration duration) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(duration.ns / 1'000'000, 0, std::int64_t{0xffffffff}));
}

/// A session that the daemon ended. It is kept so that a client that reconnects is told why: the
/// `closing` record follows everything that the client had not read, and may not have arrived.
struct Ended {
  wire::SessionToken token{};
  Person person;
  wire::ClientCode code{};
  std::string text;
};

/// How far new rules were applied: to all memberships up to and including this one.
struct Judged {
  std::uint32_t session = 0;
  std::string group;
};

/// Implements Sessions. core.cc has the life of connections and sessions; hello.cc, input.cc and
/// requests.cc handle the clients' records; deliver.cc, shelves.cc, slow.cc and output.cc what
/// clients are told.
class Sessions::Core final : public group::Effects {
 public:
  Core(const Options& options, Host& host, Spool& spool);
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  // core.cc
  void reconfigure(Instant now, const Options& options);
  void accepted(Instant now, ConnectionId id, const Identity& identity);
  void closed(Instant now, ConnectionId id);
  void on_view(Instant now, const order::View& view, MemberId self);
  void on_message(Instant now, const Delivered& message);
  void on_room(Instant now);
  void work(Instant now);
  std::optional<Instant> next_deadline() const;
  void stop(Instant now);
  bool evict(Instant now, std::string_view private_name);
  void take_wanted(Wanted& out);

  // input.cc
  std::size_t received(Instant now, ConnectionId id, ByteView bytes);
  // output.cc
  void tell_acked(Connection& to);
  void repeat_refusals(Connection& to);
  std::span<const ByteView> output(ConnectionId id);
  void written(Instant now, ConnectionId id, std::size_t bytes);
  // shelves.cc
  RegionId region_of(ConnectionId id);
  // slow.cc
  std::uint64_t room_bytes() const;
  // status.cc
  Status status(Instant now, std::string_view prefix) const;
  Counters counters() const;
  void check_invariants() const;

  const group::Groups& groups() const { return groups_; }
  void set_nodes(std::vector<NodeId> nodes) { groups_.set_nodes(std::move(nodes)); }
  std::size_t session_count() const { return sessions_.size(); }
  std::size_t connection_count() const { return connections_.size(); }
  bool idle() const;
  std::uint64_t digest() const { return outcome_.value(); }

 private:
  using Pause = Connection::Pause;
  using State = Connection::State;
  /// The result of handling a record.
  enum class Handled : std::uint8_t { done, paused, closed };

  // group::Effects: deliver.cc
  void deliver(std::span<const std::uint32_t> clients, const group::Received& message) override;
  void view(std::span<const std::uint32_t> clients, const group::GroupView& view) override;
  void transitional(std::uint32_t client, std::string_view group) override;
  void left(std::uint32_t client, std::string_view group) override;
  void gap(std::span<const std::uint32_t> clients, std::string_view group) override;
  Result<void, Errc> submit(ByteView message, Service service, order::Domain domain) override;
  void replace_control(ByteView message) override { host_.replace_control(message); }
  void block(bool blocked) override { host_.block(blocked); }
  void settled(const ViewId& view) override;

  // core.cc
  Connection* connection(ConnectionId id);
  Session* session(std::uint32_t id);
  void due(Instant deadline);
  void want_write(Connection& to);
  void pause(Connection& from, Pause reason);
  void resume(Connection& from);
  void resume_one(Connection& from);
  void set_pause(Connection& of, Pause reason);
  void resume_all(Pause reason);
  /// Sends a last record and closes the connection; its session stays as it is.
  void close_connection(Connection& it, wire::ClientCode code, std::string_view text);
  void forget_connection(Connection& it);
  /// Ends the session at the next work().
  void end_later(Session& it, wire::ClientCode code, std::string text);
  void end_session(Session& it, wire::ClientCode code, std::string_view text);
  void note_ended(const Session& it, wire::ClientCode code, std::string_view text);
  void end_sessions();
  void detach(Session& it);
  void count_rule(Session& it, const ClientRule* rule);
  void check_connection(Connection& it);
  void check_session(Session& it);
  void settle();
  void finish_goodbye(Session& it);

  // reload.cc
  void end_memberships();
  bool end_membership(Session& it, const std::string& group, const Membership& member);

  // input.cc
  Handled handle(Connection& from, const wire::Record& record);
  Handled bad_record(Connection& from, std::string_view what);
  bool reserve(Connection& from, std::size_t bytes);
  void release(Connection& from);
  Instant record_deadline(const Connection& of) const;
  std::size_t complete(Connection& from, ByteView bytes);
  std::uint64_t length_max(const Connection& from) const;

  // hello.cc
  Handled on_hello(Connection& from, ByteView body);
  Handled turn_away(Connection& from, wire::ClientCode code, std::string_view text);
  Handled go_on(Connection& from, const wire::Hello& hello, const Person& person);
  const Ended* find_ended(const wire::SessionToken& token, const Person& person) const;
  Handled begin(Connection& from, const wire::Hello& hello, Person person);
  Result<std::uint32_t, group::Refusal> connect_name(const ClientRule& rule, std::string& name);
  /// `events_seen`: the last event that the client has, if it resumes the session.
  void attach(Session& it, Connection& to, std::optional<std::uint64_t> events_seen, bool shares);
  std::uint32_t payload_bytes_max() const;

  // requests.cc
  Handled on_send(Connection& from, ByteView body);
  void refuse(Session& it, std::uint64_t number, wire::ClientCode code, const std::string& text);
  std::optional<std::pair<wire::ClientCode, std::string>> why_not(Session& it,
                                                                  const wire::SendRequest& request,
                                                                  std::size_t cost);
  bool has_quota(Session& it, std::size_t bytes);
  Handled on_join(Connection& from, ByteView body);
  std::optional<std::string> why_not(const Session& it, std::string_view group,
                                     const wire::SlowLimits& asked) const;
  Handled on_leave(Connection& from, ByteView body);
  Handled on_ask(Connection& from, ByteView body);
  bool may_ask(Instant& next, Duration every, int at_once) const;
  Handled on_seen(Connection& from, ByteView body);
  Handled on_ping(Connection& from, ByteView body);
  Handled on_goodbye(Connection& from);
  Handled reply(Connection& to, std::uint32_t request, wire::ClientCode code,
                std::string_view text);
  Handled refused_by_groups(Connection& from, std::uint32_t request, group::Refusal why,
                            std::string_view group);

  // shelves.cc
  Shelf* shelf_of(const Person& person);
  void share(Session& it, Connection& to, bool wanted);
  Handled on_mapped(Connection& from, ByteView body);
  /// The event of `draft_`, in memory that the client can read.
  const ChunkRef& chunk_for(const Session& it);
  void keep_places(const Session& it);
  void leave_shelf(Session& it);
  void check_shelves();

  // slow.cc
  /// Queues an event for a session, subject to the membership's policy.
  void offer(Session& to, std::uint32_t slot, const ChunkRef& chunk, const wire::Place* message);
  bool leaves_out(Session& to, std::uint32_t slot, const ChunkRef& chunk, const wire::Place& place);
  bool is_over(const Session& of, const Membership& member, std::uint64_t bytes) const;
  bool is_under_again(const Session& of, const Membership& member) const;
  void push(Session& to, std::uint32_t slot, const ChunkRef& chunk);
  void push_gap(Session& to, std::uint32_t slot);
  void push_gaps(Session& to);
  void push_all_gaps(Session& to);
  bool keeps_too_much(const Session& of, const Membership& member, std::uint64_t bytes) const;
  bool make_room(Session& to, std::uint32_t slot, std::uint64_t bytes);
  void too_slow(Session& it, const Membership& member, std::string_view what);
  std::optional<std::uint64_t> share() const;
  void warn(Session& to, std::uint32_t slot);
  void check_ages(Session& it);
  bool read_back(Session& it);
  /// The client has all events up to `number`. Returns false if some of them were not written.
  bool release_events(Session& it, std::uint64_t number);
  wire::SlowLimits limits_of(const wire::SlowLimits& asked) const;
  void note_block(Session& it, std::uint32_t slot);
  std::uint64_t room_of(const Session& it) const;

  void append_private_name(const group::ClientKey& client, std::string_view name,
                           std::string& out) const;

  Options options_;
  Host& host_;
  Spool& spool_;
  std::vector<std::unique_ptr<Shelf>> shelves_;  ///< declared before all that refers to it
  ChunkPool chunks_;
  group::Groups groups_;
  Settlement settlement_;
  Draft draft_{chunks_};
  std::deque<Kept> kept_;
  RegionId next_region_ = 1;
  Instant now_{};
  MemberId self_{};
  const Delivered* current_ = nullptr;  ///< what the node is delivering

  std::map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  std::map<wire::SessionToken, Session*> tokens_;
  std::deque<Ended> ended_;             ///< the latest; at most kEndedMax
  std::vector<std::uint32_t> by_rule_;  ///< number of sessions under each rule for clients
  std::optional<Judged> judged_;
  bool waits_for_room_ = false;        ///< end_memberships() waits until the node has room
  std::vector<std::uint32_t> ending_;  ///< sessions that end at the next work()
  std::vector<Session*> blocking_;     ///< sessions that have slots with `block`
  Wanted wanted_;
  std::deque<ConnectionId> paused_;  ///< in the order in which they were paused
  std::optional<Instant> next_check_;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t input_waiters_ = 0;  ///< connections with Pause::input
  std::uint64_t disk_bytes_ = 0;     ///< sum over all sessions
  std::uint64_t waiting_ = 0;        ///< number of sessions with waiting events
  std::uint64_t next_name_ = 0;
  Instant next_ask_{};
  std::uint64_t submitted_ = 0;   ///< the last number that Host::submit() returned
  bool closed_ = false;           ///< the node accepts nothing any more
  std::vector<ByteView> pieces_;  ///< scratch, like the next two
  std::string sender_;
  std::vector<std::byte> head_;
  Counters counters_;
  Digest outcome_;
};

}  // namespace peal::session
