// SPDX-License-Identifier: Apache-2.0
#include "daemon.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "wire/shared.h"

namespace peal::session::test {
namespace {

const MemberId kOther{NodeId{2}, 9};

}  // namespace

// ---- the disk ----

Result<void, Errc> MemorySpool::append(SpoolId id, ByteView bytes) {
  File& file = files[id];
  if (appends_left == 0) return unexpected(Errc::system);
  --appends_left;
  file.bytes.insert(file.bytes.end(), bytes.begin(), bytes.end());
  return {};
}

Result<void, Errc> MemorySpool::read(SpoolId id, std::uint64_t offset, ByteSpan out) {
  if (reads_fail) return unexpected(Errc::system);
  const File& file = files[id];
  PEAL_ASSERT(offset >= file.discarded);
  const std::uint64_t at = offset - file.discarded;
  PEAL_ASSERT(at + out.size() <= file.bytes.size());
  std::copy_n(file.bytes.begin() + static_cast<std::ptrdiff_t>(at), out.size(), out.begin());
  return {};
}

void MemorySpool::discard(SpoolId id, std::uint64_t offset) {
  File& file = files[id];
  const auto bytes = static_cast<std::ptrdiff_t>(offset - file.discarded);
  file.bytes.erase(file.bytes.begin(), file.bytes.begin() + bytes);
  file.discarded = offset;
}

void MemorySpool::remove(SpoolId id) { files.erase(id); }

// ---- the daemon ----

Options options() {
  Options options;
  options.cluster = "demo";
  options.node = "n";
  options.nodes = 1;
  options.message_bytes_max = 1U << 20;
  options.shared_bytes = 1U << 20;
  options.clients = {{{Who::Kind::everyone, 0, {}}, "*", 1'024, 10'000, 0, true}};
  options.groups = {{{Who::Kind::everyone, 0, {}}, "*", true, true, true}};
  return options;
}

Identity user(std::uint32_t uid, std::string name) {
  Identity identity;
  identity.kind = Identity::Kind::unix_user;
  identity.uid = uid;
  identity.name = std::move(name);
  return identity;
}

Daemon::Daemon(const Options& options) {
  PEAL_ASSERT(validate(options).empty());
  sessions = std::make_unique<Sessions>(options, *this, spool);
  change_view();
  run();
}

void Daemon::change_view() {
  const std::vector<MemberId> members{self_};
  const ViewId next{view_.number + 1, self_};
  if (view_.number > 0) sessions->on_view(now, {true, next, view_, members, {}}, self_);
  view_ = next;
  seq_ = 0;
  sessions->on_view(now, {false, next, {}, members, {}}, self_);
}

void Daemon::meet(const std::vector<std::string>& names) {
  let_in(names);
  change_view();
}

void Daemon::lose_member_of(std::string_view group) {
  let_in({});
  std::vector<std::byte> bytes;
  encode(group::Join{{1, "far"}, group}, bytes);
  sessions->on_message(now, {kOther, 2, false, view_, ++seq_, 0, Service::agreed, bytes});
  pump();
  change_view();
}

void Daemon::hear_other(std::uint64_t number) {
  std::vector<std::byte> bytes;
  encode(group::Join{{1, "far"}, "elsewhere"}, bytes);
  sessions->on_message(now, {kOther, number, false, view_, ++seq_, 0, Service::safe, bytes});
}

void Daemon::begin_to_meet() {
  const std::vector<MemberId> self{self_}, both{self_, kOther};
  const ViewId next{view_.number + 1, self_};
  sessions->on_view(now, {true, next, view_, self, {}}, self_);
  view_ = next;
  seq_ = 0;
  sessions->on_view(now, {false, next, {}, both, {}}, self_);
}

void Daemon::let_in(const std::vector<std::string>& names) {
  begin_to_meet();
  exchange_tables(names);
}

void Daemon::hear_from_outside(std::string_view group, std::string_view payload) {
  const MemberId outside{NodeId{3}, 9};
  group::Data data;
  data.client = {1, "far"};
  data.targets.push_back(group);
  data.payload = as_bytes_view(payload);
  std::vector<std::byte> bytes;
  encode(data, bytes);
  sessions->on_message(now, {outside, ++heard_, false, view_, ++seq_, 0, Service::agreed, bytes});
}

void Daemon::exchange_tables(const std::vector<std::string>& names) {
  group::Tables tables;
  tables.view = view_;
  tables.synced = {kOther};
  group::ViewTraffic traffic;
  traffic.view = {++met_, kOther};
  traffic.upto = {1, 0};
  for (const std::string& name : names) traffic.names.push_back({name, 1});
  if (!names.empty()) tables.traffic = {{0, {}, {traffic}}};
  std::vector<std::byte> bytes;
  encode(tables, bytes);
  sessions->on_message(now, {kOther, 1, true, view_, ++seq_, 0, Service::agreed, bytes});
  PEAL_ASSERT(order_one());
  pump();
}

Result<std::uint64_t, Errc> Daemon::submit(ByteView message, Service service,
                                           DomainSet /*domains*/) {
  if (stopped) return unexpected(Errc::closed);
  if (waiting.size() >= room) return unexpected(Errc::would_block);
  waiting.push_back({++number_, service, false, {message.begin(), message.end()}});
  return number_;
}

void Daemon::replace_control(ByteView message, DomainSet /*domains*/) {
  control.clear();
  if (!message.empty()) {
    control.push_back({1, Service::agreed, true, {message.begin(), message.end()}});
  }
}

wire::SessionToken Daemon::draw_token() {
  wire::SessionToken token{};
  store(ByteSpan(token), ++tokens_);
  return token;
}

Answer Daemon::ask(std::string_view what, bool admin) {
  if (what == "status") return {wire::ClientCode::ok, admin ? "all is well" : "well"};
  if (what == "all") return {wire::ClientCode::ok, std::string(2U << 20, 'a')};
  return {wire::ClientCode::bad_name, "no such thing"};
}

ByteSpan Daemon::open_region(RegionId id, std::uint32_t bytes) {
  if (!has_memory) return {};
  auto& words = regions[id];
  PEAL_ASSERT(words.empty());
  words.resize(bytes / sizeof(std::uint64_t));
  return std::as_writable_bytes(std::span(words));
}

void Daemon::close_region(RegionId id) { PEAL_ASSERT(regions.erase(id) == 1); }

ByteView Daemon::region(ConnectionId id) {
  const auto at = regions.find(pipes[id].region);
  return at == regions.end() ? ByteView{} : std::as_bytes(std::span(at->second));
}

bool Daemon::order_one() {
  auto& queue = control.empty() ? waiting : control;
  if (queue.empty() || (&queue == &waiting && blocked)) return false;
  if (stops_for_room && sessions->room_bytes() == 0) return false;
  const Waiting message = std::move(queue.front());
  queue.pop_front();
  const bool placed = !causal || is_ordered(message.service);
  const Delivered delivered{
      self_, message.number,  message.control, view_, placed ? ++seq_ : Seq{0},
      0,     message.service, message.bytes};
  sessions->on_message(now, delivered);
  sessions->on_room(now);
  return true;
}

void Daemon::read_from(ConnectionId id) {
  Pipe& from = pipes[id];
  const std::size_t taken = sessions->received(now, id, from.to_daemon);
  PEAL_ASSERT(taken <= from.to_daemon.size());
  from.paused = taken < from.to_daemon.size();
  from.to_daemon.erase(from.to_daemon.begin(),
                       from.to_daemon.begin() + static_cast<std::ptrdiff_t>(taken));
}

void Daemon::write_to(ConnectionId id) {
  Pipe& to = pipes[id];
  for (;;) {
    std::size_t bytes = 0;
    if (to.closed || !to.reads) return;
    if (!std::exchange(to.was_written, true)) to.region = sessions->region_of(id);
    for (const ByteView piece : sessions->output(id)) {
      const auto through = static_cast<std::ptrdiff_t>(std::min(piece.size(), to.output_left));
      to.from_daemon.insert(to.from_daemon.end(), piece.begin(), piece.begin() + through);
      to.output_left -= static_cast<std::size_t>(through);
      bytes += piece.size();
    }
    if (bytes == 0) return;
    sessions->written(now, id, bytes);
  }
}

void Daemon::pump() {
  Wanted wanted;
  for (;;) {
    sessions->work(now);
    sessions->take_wanted(wanted);
    if (wanted.write.empty() && wanted.read.empty() && wanted.close.empty()) break;
    for (const ConnectionId id : wanted.write) write_to(id);
    for (const ConnectionId id : wanted.read) {
      if (pipes.contains(id) && !pipes[id].closed) read_from(id);
    }
    for (const ConnectionId id : wanted.close) pipes[id].closed = true;
  }
}

void Daemon::run() {
  pump();
  while (order_one()) pump();
  sessions->check_invariants();
}

void Daemon::pass(Duration time) {
  const Instant end = now + time;
  while (const auto deadline = sessions->next_deadline()) {
    if (*deadline > end) break;
    now = std::max(now, *deadline);
    pump();
  }
  now = end;
  pump();
}

ConnectionId Daemon::connect(const Identity& identity) {
  const ConnectionId id = ++last_connection_;
  pipes[id];
  sessions->accepted(now, id, identity);
  return id;
}

void Daemon::write(ConnectionId id, ByteView bytes) {
  Pipe& to = pipes[id];
  if (to.closed) return;
  bytes = bytes.first(std::min(bytes.size(), to.input_left));
  to.input_left -= bytes.size();
  to.to_daemon.insert(to.to_daemon.end(), bytes.begin(), bytes.end());
  if (!to.paused) read_from(id);
}

void Daemon::let_read(ConnectionId id, bool reads) {
  pipes[id].reads = reads;
  if (reads) write_to(id);
}

void Daemon::cut(ConnectionId id) {
  if (!pipes[id].closed) sessions->closed(now, id);
  pipes.erase(id);
}

// ---- a client ----

Client::Client(Daemon& its_daemon, std::string its_name, std::uint32_t its_keep_ms,
               Identity its_identity)
    : daemon(its_daemon),
      name(std::move(its_name)),
      keep_ms(its_keep_ms),
      identity(std::move(its_identity)) {}

void Client::connect() {
  connection = daemon.connect(identity);
  welcome = false;
  wire::Hello hello;
  hello.name = name;
  hello.session = token;
  hello.events_seen = events;
  hello.keep_ms = keep_ms;
  hello.shares = shares;
  hello.secret = secret;
  std::vector<std::byte> record;
  append(record, hello);
  bytes(record);
}

void Client::cut() { daemon.cut(connection); }

void Client::join(std::string_view group, const wire::SlowLimits& limits) {
  std::vector<std::byte> record;
  append(record, wire::JoinRequest{1, group, limits});
  bytes(record);
}

void Client::leave(std::string_view group) {
  std::vector<std::byte> record;
  append(record, wire::LeaveRequest{2, group});
  bytes(record);
}

std::uint64_t Client::send(std::string_view targets, std::string_view payload, Service service) {
  wire::SendRequest request;
  request.number = ++number;
  request.service = service;
  for (std::size_t begin = 0; begin <= targets.size();) {
    const std::size_t comma = std::min(targets.find(',', begin), targets.size());
    request.targets.push_back(targets.substr(begin, comma - begin));
    begin = comma + 1;
  }
  request.payload = as_bytes_view(payload);
  append(sent[number], request);
  bytes(sent[number]);
  return number;
}

void Client::send_again() {
  const auto again = sent;
  for (const auto& [each, record] : again) {
    if (each > received) bytes(record);
  }
}

void Client::seen() {
  std::vector<std::byte> record;
  append(record, wire::RecordKind::seen, wire::Acked{events});
  bytes(record);
}

void Client::mapped() {
  std::vector<std::byte> record;
  append(record, wire::RecordKind::mapped);
  bytes(record);
}

void Client::goodbye() {
  std::vector<std::byte> record;
  append(record, wire::RecordKind::goodbye);
  bytes(record);
}

void Client::ask(std::string_view what) {
  std::vector<std::byte> record;
  append(record, wire::AskRequest{3, what});
  bytes(record);
}

void Client::ping(std::uint64_t its_number) {
  std::vector<std::byte> record;
  append(record, wire::RecordKind::ping, wire::Acked{its_number});
  bytes(record);
}

namespace {

template <class Message>
Message decoded(const wire::Record& record) {
  Message message;
  PEAL_ASSERT(decode(record.body, message) == wire::Drop::none);
  return message;
}

std::string code_text(wire::ClientCode code) { return std::string(client_code_name(code)); }

std::string view_text(const wire::GroupViewEvent& view) {
  static const char* const kCauses[] = {"join", "leave", "disconnect", "network"};
  std::string text =
      "view " + std::string(view.group) + " " + kCauses[static_cast<std::size_t>(view.cause)];
  if (view.reason != wire::ClientCode::ok) text += " (" + code_text(view.reason) + ")";
  if (!view.changed.empty()) text += " " + std::string(view.changed);
  text += ":";
  for (const wire::GroupMember& member : view.members) text += " " + std::string(member.name);
  return text;
}

std::string message_text(const wire::MessageEvent& message) {
  std::string text = "message";
  for (const std::string_view target : message.targets) text += " " + std::string(target);
  text += ": " + std::string(as_text(message.payload)) + " from " + std::string(message.sender);
  if (message.place.has_position()) return text;
  return text + ", without a place, number " + std::to_string(message.number);
}

}  // namespace

std::string Client::text_of(const wire::Record& record) {
  using wire::RecordKind;
  if (is_event(record.kind)) ++events;
  switch (record.kind) {
    case RecordKind::message: return message_text(decoded<wire::MessageEvent>(record));
    case RecordKind::group_view: return view_text(decoded<wire::GroupViewEvent>(record));
    case RecordKind::transitional:
      return "transitional " + std::string(decoded<wire::GroupEvent>(record).group);
    case RecordKind::left: return "left " + std::string(decoded<wire::GroupEvent>(record).group);
    case RecordKind::shared: {
      wire::Record found;
      std::vector<std::byte> body;
      const auto at = decoded<wire::Shared>(record);
      const auto read = read_shared(daemon.region(connection), at, found.kind, body);
      if (read == wire::SharedRead::gone) {
        ++gone;
        return "gone";
      }
      PEAL_ASSERT(read == wire::SharedRead::ok && is_event(found.kind));
      ++shared;
      found.body = body;
      return text_of(found);
    }
    case RecordKind::gap: {
      gap = decoded<wire::GapEvent>(record);
      const bool away = gap.reason == wire::GapReason::away;
      gap_bytes += gap.bytes;
      return "gap " + std::string(gap.group) + " " +
             (away ? std::string("away") : std::to_string(gap.messages));
    }
    case RecordKind::welcome: {
      const auto told = decoded<wire::Welcome>(record);
      welcome = true;
      token = told.session;
      received = told.received;
      shared_bytes = told.shared_bytes;
      PEAL_ASSERT(shared_bytes == daemon.region(connection).size());
      if (shared_bytes > 0 && maps) mapped();
      acked = std::max(acked, told.acked);
      PEAL_ASSERT(told.events_next == events + 1);
      return std::string(told.resumed ? "welcome back " : "welcome ") + std::string(told.name);
    }
    case RecordKind::acked:
      acked = decoded<wire::Acked>(record).number;
      sent.erase(sent.begin(), sent.upper_bound(acked));
      return "acked " + std::to_string(acked);
    case RecordKind::refused: {
      const auto refused = decoded<wire::Refused>(record);
      return "refused " + std::to_string(refused.number) + " " + code_text(refused.code);
    }
    case RecordKind::reply: {
      const auto reply = decoded<wire::Reply>(record);
      return "reply " + std::to_string(reply.request) + " " + code_text(reply.code) +
             (reply.request == 3 ? " " + std::string(reply.text) : "");
    }
    case RecordKind::warning: {
      warning = decoded<wire::Warning>(record);
      return "warning " + std::string(warning.group);
    }
    case RecordKind::closing: return "closing " + code_text(decoded<wire::Closing>(record).code);
    case RecordKind::pong: return "pong " + std::to_string(decoded<wire::Acked>(record).number);
    default: break;
  }
  PEAL_ASSERT(false);
  return {};
}

std::vector<std::string> Client::take() {
  std::vector<std::string> texts;
  auto& bytes = daemon.pipe(connection).from_daemon;
  std::size_t at = 0;
  const std::uint64_t before = events;
  for (;;) {
    const wire::Framed framed = wire::next_record(ByteView(bytes).subspan(at), 1U << 24);
    PEAL_ASSERT(framed.state != wire::Framed::State::bad_length);
    if (framed.state == wire::Framed::State::incomplete) break;
    texts.push_back(text_of(framed.record));
    at += framed.bytes;
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  if (says_seen && events > before) seen();
  return texts;
}

std::vector<std::string> Client::take_events() {
  std::vector<std::string> events_only;
  for (std::string& text : take()) {
    const std::string kind = text.substr(0, text.find(' '));
    const bool is_other = kind == "welcome" || kind == "acked" || kind == "refused" ||
                          kind == "reply" || kind == "warning" || kind == "closing" ||
                          kind == "pong";
    if (!is_other) events_only.push_back(std::move(text));
  }
  return events_only;
}

}  // namespace peal::session::test
