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

/// Of a connection's records that were written, so many bytes stay in its buffer at most.
inline constexpr std::size_t kControlKept = 64 * 1'024;

/// Memory that clients with the same rights read, and who they are.
struct Shelf {
  Shelf(RegionId its_id, Person whose, ByteSpan memory)
      : id(its_id), person(std::move(whose)), region(memory) {}
  RegionId id;
  Person person;
  Region region;
  std::uint32_t sessions = 0;
};

/// What clients may still read though their sessions have ended.
struct Kept {
  Instant until;
  std::vector<ChunkRef> chunks;
};

/// A connection of a client, with a session or before it has one.
struct Connection {
  enum class State : std::uint8_t { hello, open, closing };
  /// Why nothing is read from it.
  enum class Pause : std::uint8_t {
    none,
    node,       ///< the node is full
    unsettled,  ///< too much of the session is not settled
    input,      ///< too many bytes of unfinished records, of all connections
    output,     ///< the client does not read its replies
  };

  ConnectionId id{};
  Identity identity;
  State state = State::hello;
  Pause pause = Pause::none;
  Session* session = nullptr;
  std::vector<std::byte> input;    ///< of an unfinished record, or of one that waits
  std::uint64_t record_bytes = 0;  ///< of that record, as a whole; 0: not known yet, or none
  std::uint64_t reserved = 0;      ///< what that takes of Options::input_bytes_max
  Instant record_begun{};
  Instant last_heard{};
  Instant deadline{};              ///< of the hello; or of the last output, when closing
  std::vector<std::byte> control;  ///< records that are no events, not written yet
  std::size_t control_offset = 0;
  ChunkRef tail;        ///< when closing: the event that was begun, which is written to its end
  ByteView tail_rest;   ///< of it
  RegionId region = 0;  ///< that its client may read; 0: none
  std::size_t planned_event = 0;  ///< of output(): the rest of an event, then so many of `control`
  std::size_t planned_control = 0;
  std::uint64_t acked_told = 0;
  std::uint64_t repeat = 0;  ///< number of the next refusal to be said again; 0: none
  bool wants_write = false;  ///< is named in Wanted::write
};

/// One client, as long as it may come back.
struct Session {
  Session(Spool& spool, SpoolId spool_id, ChunkPool& chunks) : events(spool, spool_id, chunks) {}
  bool waits() const { return events.pushed() > events.released(); }

  std::uint32_t id{};  ///< the client's connection in group::Groups
  std::string name;
  std::string private_name;
  Person person;
  ClientRule rule;
  std::optional<std::size_t> rule_index;  ///< in the options; none if they allow it no more
  wire::SessionToken token{};
  Duration keep{};  ///< 0: ends with its connection
  Connection* connection = nullptr;
  Instant detached_at{};  ///< since when there is no connection

  EventQueue events;
  Shelf* shelf = nullptr;                                    ///< where its events may lie
  std::map<std::string, std::uint32_t, std::less<>> groups;  ///< slots in `events`
  std::vector<std::uint32_t> block_slots;                    ///< with policy `block`
  std::uint64_t block_bytes_least = 0;                       ///< the least limit of these
  std::set<std::uint32_t> gaps;    ///< slots that leave messages out at present
  std::set<std::uint32_t> warned;  ///< slots whose limits came near
  Account account;                 ///< of what the client sent
  std::int64_t quota_bytes = 0;    ///< that it may send now; below 0: owed
  Instant quota_at{};
  Instant next_ask{};  ///< when a question could be answered if none was saved up

  bool leaving = false;                            ///< said goodbye
  wire::ClientCode ending = wire::ClientCode::ok;  ///< why it ends at the next work(), if it does
  std::string ending_text;
};

/// As records carry it.
inline std::uint32_t milliseconds_of(Duration duration) {
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(duration.ns / 1'000'000, 0, std::int64_t{0xffffffff}));
}

/// A session that the daemon ended, so that its client can be told why when it comes back: the
/// words at the end of its connection stand behind all that it did not read, and may not get
/// through.
struct Ended {
  wire::SessionToken token{};
  Person person;
  wire::ClientCode code{};
  std::string text;
};

/// New rules were held against all memberships before this one, and against this one.
struct Judged {
  std::uint32_t session = 0;
  std::string group;
};

/// All that Sessions does. In parts: core.cc the life of connections and sessions, hello.cc,
/// input.cc and requests.cc what clients say, deliver.cc, shelves.cc and slow.cc what they are
/// told, output.cc.
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
  /// What became of a record.
  enum class Handled : std::uint8_t { done, paused, closed };

  // group::Effects: deliver.cc
  void deliver(std::span<const std::uint32_t> clients, const group::Received& message) override;
  void view(std::span<const std::uint32_t> clients, const group::GroupView& view) override;
  void transitional(std::uint32_t client, std::string_view group) override;
  void left(std::uint32_t client, std::string_view group) override;
  void gap(std::span<const std::uint32_t> clients, std::string_view group) override;
  Result<void> submit(ByteView message, Service service, order::Domain domain) override;
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
  /// The last that the connection is told; its session is not touched.
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
  /// `events_seen` is what the client says it has, if it goes on with the session.
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
  /// The event of `draft_`, where the client can read it.
  const ChunkRef& chunk_for(const Session& it);
  void keep_places(const Session& it);
  void leave_shelf(Session& it);
  void check_shelves();

  // slow.cc
  /// Gives a session an event, as its policies will have it.
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
  /// The client has all events up to this one. False if they were not written.
  bool release_events(Session& it, std::uint64_t number);
  wire::SlowLimits limits_of(const wire::SlowLimits& asked) const;
  void note_block(Session& it, std::uint32_t slot);
  std::uint64_t room_of(const Session& it) const;

  void append_private_name(const group::ClientKey& client, std::string_view name,
                           std::string& out) const;

  Options options_;
  Host& host_;
  Spool& spool_;
  std::vector<std::unique_ptr<Shelf>> shelves_;  ///< before all that refers to chunks in them
  ChunkPool chunks_;
  group::Groups groups_;
  Settlement settlement_;
  Draft draft_{chunks_};
  std::deque<Kept> kept_;
  RegionId next_region_ = 1;
  Instant now_{};
  MemberId self_{};
  const Delivered* current_ = nullptr;  ///< what the node delivers at present

  std::map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  std::map<wire::SessionToken, Session*> tokens_;
  std::deque<Ended> ended_;             ///< lately; at most kEndedMax
  std::vector<std::uint32_t> by_rule_;  ///< sessions by each rule for clients
  std::optional<Judged> judged_;
  bool waits_for_room_ = false;        ///< of the node, for memberships to end
  std::vector<std::uint32_t> ending_;  ///< sessions that end at the next work()
  std::vector<Session*> blocking_;     ///< those that have slots with `block`
  Wanted wanted_;
  std::deque<ConnectionId> paused_;  ///< in the order in which they came to wait
  std::optional<Instant> next_check_;
  std::uint64_t input_bytes_ = 0;
  std::uint64_t input_waiters_ = 0;  ///< connections that wait for a part of these
  std::uint64_t disk_bytes_ = 0;     ///< of all sessions
  std::uint64_t waiting_ = 0;        ///< sessions that have events waiting
  std::uint64_t next_name_ = 0;
  Instant next_ask_{};
  std::uint64_t submitted_ = 0;   ///< number that Host::submit() gave last
  bool closed_ = false;           ///< the node takes nothing any more
  std::vector<ByteView> pieces_;  ///< scratch, as the next one is
  std::string sender_;
  std::vector<std::byte> head_;
  Counters counters_;
  Digest outcome_;
};

}  // namespace peal::session
