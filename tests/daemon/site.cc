// SPDX-License-Identifier: Apache-2.0
#include "site.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace peal::daemon::test {
namespace {

constexpr int kPatienceMs = 60'000;

/// An address of this machine that no other process uses, because tests run at the same time.
io::Endpoint address(std::uint32_t node) {
  const auto id = static_cast<std::uint32_t>(::getpid());
  return io::Endpoint::v4(127, static_cast<std::uint8_t>(1 + (id >> 16U) % 250),
                          static_cast<std::uint8_t>(id >> 8U), static_cast<std::uint8_t>(id),
                          static_cast<std::uint16_t>(6'000 + 2 * node));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

}  // namespace

Folder::Folder() : path_(testing::TempDir() + "/peal-XXXXXX") {
  EXPECT_NE(::mkdtemp(path_.data()), nullptr);
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Options options_of(const Folder& folder, std::uint32_t self, std::uint32_t count) {
  Options options;
  options.member.cluster = "test-" + std::to_string(::getpid());
  options.member.name = "n" + std::to_string(self);
  options.member.insecure = true;
  options.member.nodes_max = 8;
  for (std::uint32_t node = 1; node <= count; ++node) {
    const auto at = io::parse_host_port(io::to_string(address(node)), 0);
    options.member.nodes.push_back({"n" + std::to_string(node), at.value(), NodeId{node}});
  }
  options.member.multicast = io::MulticastMode::off;
  if (count > 1) {
    options.member.options.set("ring.token_loss_ms", seconds(3).ns);
    options.member.options.set("ring.consensus_ms", seconds(3).ns);
    options.member.options.set("ring.stall_ms", seconds(10).ns);
    options.member.options.set("ring.probe_ms", milliseconds(100).ns);
  }
  options.sessions.clients.resize(1);
  options.sessions.clients[0].admin = true;
  options.sessions.groups.push_back({{}, "*", true, true, true});
  options.socket = folder.path() + "/" + options.member.name + ".sock";
  options.spool_dir = folder.path();
  return options;
}

Site::Site(const Options& options) : socket_(options.socket) {
  auto opened = Daemon::open(options, *this);
  if (!opened) {
    ADD_FAILURE() << opened.error().message;
    return;
  }
  daemon_ = std::move(*opened);
  thread_ = std::thread([this] { daemon_->run(); });
}

Site::~Site() { stop(); }

void Site::stop() {
  if (!thread_.joinable()) return;
  daemon_->stop();
  thread_.join();
}

void Site::on_end(bool on_request, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  ended_well_ = on_request;
  end_ = reason;
}

std::string Site::end() const {
  const std::lock_guard lock(mutex_);
  return end_;
}

bool Site::ended_well() const {
  const std::lock_guard lock(mutex_);
  return ended_well_;
}

void Site::on_nodes(Instant, const std::vector<std::string>& nodes) {
  const std::lock_guard lock(mutex_);
  nodes_ = joined(nodes);
  moved_.notify_all();
}

void Site::on_address(Instant, std::string_view node, const io::AddressBook::Change& change) {
  const std::lock_guard lock(mutex_);
  addresses_[std::string(node)] = io::to_string(change.entry.at);
  moved_.notify_all();
}

void Site::wait_address(const std::string& node, const std::string& at) {
  std::unique_lock lock(mutex_);
  const bool there = moved_.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                                     [&] { return addresses_[node] == at; });
  EXPECT_TRUE(there) << node << " is at " << addresses_[node] << ", not at " << at;
}

bool Site::reconfigure(const Options& options, const std::function<void()>& once_connected) {
  {
    const std::lock_guard lock(mutex_);
    new_options_ = options;
  }
  Client asker(socket_, hello_as(""));  // a chosen name may still be in use
  if (once_connected) once_connected();
  wire::AskRequest ask;
  ask.request = 1;
  ask.what = "reconfigure";
  asker.say(ask);
  const auto got = asker.until(wire::RecordKind::reply);
  if (!got || got->kind != wire::RecordKind::reply) return false;
  const auto reply = got->as<wire::Reply>();
  refused_ = reply.code == wire::ClientCode::ok ? "" : std::string(reply.text);
  return reply.code == wire::ClientCode::ok;
}

void Site::wait_nodes(const std::string& nodes) {
  std::unique_lock lock(mutex_);
  const bool there = moved_.wait_for(lock, std::chrono::milliseconds(kPatienceMs),
                                     [&] { return nodes_ == nodes; });
  EXPECT_TRUE(there) << "the nodes are " << nodes_ << ", not " << nodes;
}

session::Answer Site::on_ask(std::string_view what, bool admin) {
  if (what == "reconfigure" && admin) {
    const std::lock_guard lock(mutex_);
    const auto done = daemon_->reconfigure(*new_options_);
    return {done ? wire::ClientCode::ok : wire::ClientCode::bad_record,
            done ? "done" : done.error().message};
  }
  if (what == "addresses") {
    std::string text;
    for (const auto& each : daemon_->node_status().nodes) {
      text += each.name + " " + each.address + " " + each.at + "\n";
    }
    return {wire::ClientCode::ok, text};
  }
  if (what == "list") {
    const auto status = daemon_->node_status();
    return {wire::ClientCode::ok,
            joined(status.list) + "; " + joined(status.next_list) + "; " + status.list_waits_for};
  }
  if (what == "parts") {  // parts of messages that did not fit one packet
    for (const auto& [name, value] : daemon_->node_status().counters) {
      if (name == "node_parts_built") return {wire::ClientCode::ok, std::to_string(value)};
    }
  }
  if (what == "sessions") {
    return {wire::ClientCode::ok, std::to_string(daemon_->client_status().sessions.size())};
  }
  return {admin ? wire::ClientCode::bad_name : wire::ClientCode::not_permitted, "not known"};
}

wire::Hello hello_as(std::string_view name) {
  wire::Hello hello;
  hello.name = name;
  return hello;
}

Client::Client(const std::string& socket) {
  auto fd = io::connect_unix(socket);
  if (!fd) {
    ADD_FAILURE() << fd.error().message;
    return;
  }
  stream_ = io::make_plain_stream(std::move(*fd), {});
}

Client::Client(std::unique_ptr<io::Stream> stream) : stream_(std::move(stream)) {
  while (true) {
    const io::StreamOutcome outcome = stream_->advance();
    if (outcome == io::StreamOutcome::ok) return;
    if (outcome == io::StreamOutcome::broken) broken_ = stream_->error().message;
    if (outcome != io::StreamOutcome::blocked || !wait(stream_->waits_for())) return;
  }
}

Client::Client(const std::string& socket, const wire::Hello& hello) : Client(socket) {
  greet(hello);
}

void Client::greet(const wire::Hello& hello) {
  say(hello);
  auto answer = next();
  if (answer && answer->kind == wire::RecordKind::welcome) welcome_ = std::move(answer);
}

void Client::say(wire::RecordKind kind) {
  std::vector<std::byte> bytes;
  wire::append(bytes, kind);
  write(bytes);
}

void Client::say(wire::RecordKind kind, const wire::Acked& record) {
  std::vector<std::byte> bytes;
  wire::append(bytes, kind, record);
  write(bytes);
}

bool Client::wait(short events) {
  pollfd each{stream_->fd(), events, 0};
  if (::poll(&each, 1, kPatienceMs) > 0) return true;
  ADD_FAILURE() << "nothing came of it within a minute";
  return false;
}

void Client::write(ByteView bytes) {
  while (!bytes.empty() && broken_.empty()) {
    const io::Transfer put = stream_->write({&bytes, 1});
    bytes = bytes.subspan(put.bytes);
    if (put.outcome == io::StreamOutcome::broken) broken_ = stream_->error().message;
    if (put.outcome == io::StreamOutcome::blocked && !bytes.empty() && !wait(POLLOUT)) return;
  }
  while (broken_.empty() && stream_->flush() == io::StreamOutcome::blocked && wait(POLLOUT)) {
  }
}

std::optional<Got> Client::next() {
  constexpr std::uint64_t kLengthMax = 100'000'000;
  while (true) {
    const wire::Framed framed = wire::next_record(input_, kLengthMax);
    EXPECT_NE(framed.state, wire::Framed::State::bad_length);
    if (framed.state == wire::Framed::State::complete) {
      Got got{framed.record.kind, {framed.record.body.begin(), framed.record.body.end()}};
      input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(framed.bytes));
      return got;
    }
    const std::size_t before = input_.size();
    input_.resize(before + 65'536);
    const io::Transfer got = stream_->read(ByteSpan(input_).subspan(before));
    input_.resize(before + got.bytes);
    if (got.outcome == io::StreamOutcome::broken) broken_ = stream_->error().message;
    if (got.bytes > 0) continue;
    if (got.outcome == io::StreamOutcome::ok) continue;
    if (got.outcome != io::StreamOutcome::blocked || !wait(POLLIN)) return std::nullopt;
  }
}

std::optional<Got> Client::until(wire::RecordKind kind) {
  while (auto got = next()) {
    if (got->kind == kind || got->kind == wire::RecordKind::closing) return got;
  }
  return std::nullopt;
}

void Client::join(std::string_view group, const wire::SlowLimits& limits) {
  wire::JoinRequest join;
  join.request = ++requests_;
  join.group = group;
  join.limits = limits;
  say(join);
  while (auto got = next()) {
    if (got->kind == wire::RecordKind::closing) break;
    if (got->kind == wire::RecordKind::reply) {
      const auto reply = got->as<wire::Reply>();
      EXPECT_EQ(reply.code, wire::ClientCode::ok) << reply.text;
      if (reply.code != wire::ClientCode::ok) return;
    }
    if (got->kind != wire::RecordKind::group_view) continue;
    const auto view = got->as<wire::GroupViewEvent>();
    if (view.group == group && view.changed == welcome().name) return;
  }
  ADD_FAILURE() << "no view of " << group << " came";
}

void Client::send(std::string_view group, std::string_view text) {
  wire::SendRequest request;
  request.number = ++sent_;
  request.targets.push_back(group);
  request.payload = as_bytes_view(text);
  say(request);
}

std::string Client::message() {
  const auto got = until(wire::RecordKind::message);
  if (!got || got->kind != wire::RecordKind::message) return "(no message came)";
  return std::string(as_text(got->as<wire::MessageEvent>().payload));
}

std::pair<wire::ClientCode, std::string> Client::closing() {
  const auto got = until(wire::RecordKind::closing);
  if (!got) return {wire::ClientCode::ok, "(hung up without a reason)"};
  const auto closing = got->as<wire::Closing>();
  return {closing.code, std::string(closing.text)};
}

}  // namespace peal::daemon::test
