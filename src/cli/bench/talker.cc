// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/talker.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "cli/bench/clock.h"

namespace peal::cli {
namespace {

constexpr std::size_t kReadBytes = 64U << 10;
constexpr std::uint64_t kRecordBytesMax = 128ULL << 20;
constexpr int kEventsPerTurn = 256;
constexpr int kTurnMs = 10;

}  // namespace

Result<std::unique_ptr<Talker>, std::string> Talker::connect(const std::string& socket) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.size() >= sizeof address.sun_path) {
    return unexpected("the path " + socket + " is too long for a socket");
  }
  std::memcpy(address.sun_path, socket.data(), socket.size());
  io::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return unexpected(std::string("no socket: ") + std::strerror(errno));
  // Blocks while the daemon's queue of connections is full.
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return unexpected(socket + ": " + std::strerror(errno));
  }
  return std::unique_ptr<Talker>(new Talker(std::move(fd)));
}

void Talker::hello(std::string_view name) {
  wire::Hello record;
  record.name = name;
  append(output_, record);
}

void Talker::join(std::uint32_t request, std::string_view group, const wire::SlowLimits& limits) {
  append(output_, wire::JoinRequest{request, group, limits});
}

void Talker::send(std::string_view group, ByteView payload) {
  wire::SendRequest record;
  record.number = ++sent_;
  record.targets.push_back(group);
  record.payload = payload;
  append(output_, record);
}

void Talker::fail(std::string text) {
  if (heard_.closing.empty()) heard_.closing = std::move(text);
  output_.clear();
  written_ = 0;
}

void Talker::write() {
  while (written_ < output_.size()) {
    const ssize_t count = ::send(fd_.get(), output_.data() + written_, output_.size() - written_,
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (errno != EAGAIN && errno != EINTR) fail(std::strerror(errno));
      return;
    }
    written_ += static_cast<std::size_t>(count);
  }
  output_.clear();
  written_ = 0;
}

void Talker::read() {
  if (input_.size() - filled_ < kReadBytes) input_.resize(filled_ + kReadBytes);
  const ssize_t count =
      ::recv(fd_.get(), input_.data() + filled_, input_.size() - filled_, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return fail(count == 0 ? "the daemon hung up" : std::strerror(errno));
  filled_ += static_cast<std::size_t>(count);
  const std::uint64_t before = heard_.events;
  ByteView rest(input_.data(), filled_);
  while (true) {
    const wire::Framed framed = wire::next_record(rest, kRecordBytesMax);
    if (framed.state == wire::Framed::State::bad_length) return fail("a record of a bad length");
    if (framed.state == wire::Framed::State::incomplete) break;
    hear(framed.record);
    rest = rest.subspan(framed.bytes);
  }
  std::memmove(input_.data(), rest.data(), rest.size());
  filled_ = rest.size();
  if (heard_.events != before) {
    append(output_, wire::RecordKind::seen, wire::Acked{heard_.events});
  }
}

void Talker::hear(const wire::Record& record) {
  using wire::Drop;
  using wire::RecordKind;
  if (wire::is_event(record.kind)) return hear_event(record);
  if (record.kind == RecordKind::welcome) {
    wire::Welcome welcome;
    if (decode(record.body, welcome) != Drop::none) return fail("a welcome that is none");
    heard_.welcome = true;
    heard_.message_bytes_max = welcome.message_bytes_max;
  } else if (record.kind == RecordKind::acked) {
    wire::Acked acked;
    if (decode(record.body, acked) == Drop::none) heard_.acked = acked.number;
  } else if (record.kind == RecordKind::reply) {
    wire::Reply reply;
    if (decode(record.body, reply) == Drop::none) heard_.replies[reply.request] = reply.code;
  } else if (record.kind == RecordKind::warning) {
    ++heard_.warnings;
  } else if (record.kind == RecordKind::refused) {
    wire::Refused refused;
    if (decode(record.body, refused) == Drop::none) fail("refused: " + std::string(refused.text));
  } else if (record.kind == RecordKind::closing) {
    wire::Closing closing;
    if (decode(record.body, closing) != Drop::none) return fail("a closing that is none");
    fail(std::string(wire::client_code_name(closing.code)) + ": " + std::string(closing.text));
  }
}

void Talker::hear_event(const wire::Record& record) {
  ++heard_.events;
  if (record.kind == wire::RecordKind::message) {
    ++heard_.messages;
  } else if (record.kind == wire::RecordKind::gap) {
    wire::GapEvent gap;
    if (decode(record.body, gap) == wire::Drop::none) heard_.left_out += gap.messages;
  }
}

Crowd::Crowd() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) { PEAL_ASSERT(epoll_); }

Result<Talker*, std::string> Crowd::add(const std::string& socket) {
  auto talker = Talker::connect(socket);
  if (!talker) return unexpected(talker.error());
  members_.push_back({std::move(*talker)});
  watch(static_cast<std::uint32_t>(members_.size() - 1), true);
  return members_.back().talker.get();
}

void Crowd::watch(std::uint32_t index, bool first) {
  Member& member = members_[index];
  epoll_event event{};
  event.events = (member.reads ? EPOLLIN : 0U) | (member.writes ? EPOLLOUT : 0U);
  event.data.u32 = index;
  ::epoll_ctl(epoll_.get(), first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, member.talker->fd(), &event);
}

void Crowd::stop_reading(const Talker& talker) {
  for (std::uint32_t index = 0; index < members_.size(); ++index) {
    if (members_[index].talker.get() != &talker) continue;
    members_[index].reads = false;
    watch(index, false);
  }
}

void Crowd::serve(std::uint32_t index, std::uint32_t events) {
  Member& member = members_[index];
  Talker& talker = *member.talker;
  // epoll reports the end of the connection even for a talker that does not read.
  const bool over = (events & (EPOLLHUP | EPOLLERR)) != 0;
  if (member.reads && (events & EPOLLIN) != 0) talker.read();
  // Reads to the end, because the daemon sends its reason for closing after all other bytes.
  while (over && talker.heard().closing.empty()) talker.read();
  if (!over) talker.write();
  if (!talker.heard().closing.empty()) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, talker.fd(), nullptr);
  } else if (member.writes != talker.wants_to_write()) {
    member.writes = talker.wants_to_write();
    watch(index, false);
  }
}

bool Crowd::run_until(const std::function<bool()>& done, std::int64_t deadline_ns) {
  std::array<epoll_event, kEventsPerTurn> events;
  // Serves first the talkers that got something to write after the last call.
  for (std::uint32_t index = 0; index < members_.size(); ++index) {
    if (members_[index].talker->wants_to_write()) serve(index, 0);
  }
  while (!done()) {
    if (now_ns() > deadline_ns) return false;
    const int count = ::epoll_wait(epoll_.get(), events.data(), kEventsPerTurn, kTurnMs);
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      serve(event.data.u32, event.events);
    }
  }
  return true;
}

}  // namespace peal::cli
