// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/dialer.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "io/fabric/records.h"
#include "io/fabric/same_user.h"

namespace peal::io::fabric {
namespace {

constexpr const char* kBrokenRules = "it breaks the rules of the handshake";

std::string joined_lines(const std::string& first, const std::string& second) {
  return first.empty() || second.empty() ? first + second : first + "; " + second;
}

}  // namespace

bool Dialer::hurry(Instant now) {
  if (channel_ != nullptr) return true;
  if (has_tried_ && now < tried_at_ + options_.limits.retry_first) return false;
  retry_ = options_.limits.retry_first;
  begin(now);
  return channel_ != nullptr;
}

std::optional<Instant> Dialer::next_deadline() const {
  if (is_idle_) return std::nullopt;
  return channel_ != nullptr ? deadline_ : retry_at_;
}

void Dialer::note_end(Instant now, std::string not_verbs) {
  is_idle_ = false;
  not_verbs_ = std::move(not_verbs);
  retry_at_ = std::max(now, tried_at_ + options_.limits.retry_first);
}

void Dialer::restart(Instant now) {
  if (is_idle_) return;
  channel_.reset();
  retry_ = options_.limits.retry_first;
  retry_at_ = now;
}

std::optional<Dialer::Open> Dialer::work(Instant now) {
  if (is_idle_) return std::nullopt;
  if (channel_ == nullptr) {
    if (retry_at_ > now) return std::nullopt;
    begin(now);
    if (channel_ == nullptr) return std::nullopt;
  }
  if (step_ == Step::connecting) {
    const StreamOutcome outcome = channel_->advance();
    if (outcome == StreamOutcome::broken) {
      fail(now, at_peer(channel_->kind(), "nobody listens there"));
    } else if (outcome == StreamOutcome::ok) {
      say_hello();
    }
  }
  if (channel_ != nullptr) channel_->write();
  while (channel_ != nullptr && step_ != Step::connecting && channel_->may_read()) {
    const std::size_t got = channel_->read();
    while (channel_ != nullptr && !open_) {
      const auto frame = channel_->next();
      if (!frame) break;
      on_frame(now, *frame);
    }
    if (open_ || got == 0) break;
  }
  // Also if it broke as this process wrote.
  if (channel_ != nullptr && channel_->is_broken()) {
    fail(now, at_peer(channel_->kind(), channel_->problem()));
  }
  // A peer that listens and does not answer would be as slow by tcp, and then keep that.
  if (channel_ != nullptr && deadline_ <= now) {
    const std::string line = at_peer(channel_->kind(), "no answer");
    channel_.reset();
    pause(now, line);
  }
  if (!open_) return std::nullopt;
  ++counters_.connected;
  is_idle_ = true;
  retry_ = options_.limits.retry_first;
  problem_ =
      open_->channel->kind() == Kind::tcp ? joined_lines(not_shm_, not_verbs_) : std::string();
  return std::exchange(open_, std::nullopt);
}

void Dialer::begin(Instant now) {
  PEAL_ASSERT(channel_ == nullptr && !is_idle_);
  tried_at_ = now;
  has_tried_ = true;
  not_shm_.clear();
  if (options_.choice == Choice::automatic || options_.choice == Choice::shm) {
    const auto tried = try_shm(now);
    if (tried) return;
    not_shm_ = tried.error();
  }
  try_stream(now);
}

bool Dialer::may_use_verbs() const {
  return verbs_.is_usable() && (not_verbs_.empty() || options_.choice == Choice::verbs);
}

/// The error is why there is nothing to wait for.
Result<void, std::string> Dialer::try_shm(Instant now) {
  if (peer_.socket.empty()) {
    return unexpected("node " + std::to_string(peer_.node.value) +
                      ": no Unix socket is configured for it");
  }
  ++counters_.connects;
  auto fd = connect_unix(peer_.socket);
  if (!fd) {
    const std::string line = at_peer(Kind::shm, fd.error().message);
    if (fd.error().code != Errc::would_block) return unexpected(line);
    pause(now, line);  // it listens, and too many others wait there
    return {};
  }
  const auto same = is_same_user(*fd);
  if (!same) return unexpected(at_peer(Kind::shm, same.error().message));
  StreamPeer peer;
  peer.text = peer_.socket;
  peer.local = true;
  start(now, std::move(*fd), std::move(peer), Kind::shm);
  return {};
}

/// By verbs or tcp.
void Dialer::try_stream(Instant now) {
  if (options_.choice == Choice::shm) return pause(now, not_shm_);
  if (options_.choice == Choice::verbs && !verbs_.is_usable()) return pause(now, verbs_.problem);
  const Kind kind = may_use_verbs() ? Kind::verbs : Kind::tcp;
  if (peer_.at.is_unspecified()) {
    return pause(now, "node " + std::to_string(peer_.node.value) + ": its address is not known");
  }
  ++counters_.connects;
  auto fd = connect_tcp(peer_.at, options_.at.with_port(0));
  if (!fd) return pause(now, at_peer(kind, fd.error().message));
  // The kernel ends the connection if the peer's machine acknowledges nothing for so long.
  const auto patience = static_cast<int>(options_.limits.patience.ns / 1'000'000);
  ignore(::setsockopt(fd->get(), IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience),
         "a lost peer is noticed later");
  StreamPeer peer;
  peer.text = to_string(peer_.at);
  start(now, std::move(*fd), std::move(peer), kind);
}

void Dialer::start(Instant now, Fd fd, StreamPeer peer, Kind kind) {
  channel_ = std::make_unique<Channel>(make_plain_stream(std::move(fd), std::move(peer)), kind,
                                       kHandshakeBytesMax);
  step_ = Step::connecting;
  deadline_ = now + options_.limits.patience;
  welcome_.reset();
  if (loop_ == nullptr) return;
  const auto watched = channel_->attach(*loop_);
  if (!watched) fail(now, at_peer(kind, watched.error().message));
}

void Dialer::say_hello() {
  hello_ = make_hello(options_, peer_.node, channel_->kind());
  encode_hello(hello_, hello_bytes_);
  const ByteSpan frame = channel_->begin_frame(kHelloBytes);
  std::copy(hello_bytes_.begin(), hello_bytes_.end(), frame.begin());
  channel_->end_frame(kHelloBytes);
  step_ = Step::hello_sent;
}

void Dialer::on_frame(Instant now, ByteView frame) {
  if (step_ == Step::hello_sent) return on_answer(now, frame);
  RecordReader reader(frame);
  const auto record = reader.next();
  const bool is_ready = record && record->kind == Record::Kind::ready && !reader.next();
  if (!is_ready || reader.failed()) return fail(now, at_peer(channel_->kind(), kBrokenRules));
  Open open;
  if (channel_->kind() == Kind::shm) {
    open.bell = channel_->take_descriptor();
    if (!open.bell) return fail(now, at_peer(channel_->kind(), kBrokenRules));
  }
  open.channel = std::move(channel_);
  open.owner = welcome_->owner;
  if (hello_.sealed) open.key = hello_.key;
  open_ = std::move(open);
}

void Dialer::on_answer(Instant now, ByteView frame) {
  const HelloAnswer answer = decode_answer(frame);
  if (answer.refused) return fail(now, text_of(*answer.refused, where(channel_->kind()), options_));
  if (!answer.welcome) return fail(now, at_peer(channel_->kind(), kBrokenRules));
  if (answer.welcome->owner.node != peer_.node) {
    return fail(now, text_of(Refusal::other_node, where(channel_->kind()), options_));
  }
  welcome_ = answer.welcome;
  if (hello_.sealed) {
    channel_->use(secrets_of(options_, hello_.key, hello_bytes_, frame), Channel::Side::caller);
  }
  channel_->limit_frames(kSmallFrameBytesMax);
  channel_->end_frame(encode_record(Record{}, channel_->begin_frame(kRecordBytes)));
  channel_->write();
  step_ = Step::ready_sent;
}

/// The attempt failed. `line` says why.
void Dialer::fail(Instant now, const std::string& line) {
  const Kind kind = channel_->kind();
  channel_.reset();
  if (kind == Kind::shm) {
    not_shm_ = line;
    return try_stream(now);
  }
  // Where nobody listens, nobody listens for tcp.
  if (kind == Kind::verbs && step_ != Step::connecting && options_.choice != Choice::verbs) {
    not_verbs_ = line;
    return try_stream(now);
  }
  pause(now, line);
  not_verbs_.clear();
}

void Dialer::pause(Instant now, const std::string& line) {
  problem_ = not_shm_ == line ? line : joined_lines(joined_lines(not_shm_, not_verbs_), line);
  retry_at_ = now + retry_;
  retry_ = std::min(retry_ * 2, options_.limits.retry_max);
}

/// A line about the peer. `why` may belong to the channel.
std::string Dialer::at_peer(Kind kind, const std::string& why) const {
  return where(kind) + ": " + why;
}

std::string Dialer::where(Kind kind) const {
  return "node " + std::to_string(peer_.node.value) + " at " +
         (kind == Kind::shm ? peer_.socket : to_string(peer_.at));
}

}  // namespace peal::io::fabric
