// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "wire/client.h"

namespace peal::wire {
namespace {

/// Appends one record to a buffer; the destructor fills in the record's length.
class RecordWriter {
 public:
  RecordWriter(std::vector<std::byte>& out, RecordKind kind) : out_(out), start_(out.size()) {
    u(std::uint32_t{0}, static_cast<std::uint8_t>(kind));
  }
  RecordWriter(const RecordWriter&) = delete;
  RecordWriter& operator=(const RecordWriter&) = delete;
  ~RecordWriter() {
    const std::size_t length = out_.size() - start_ - sizeof(std::uint32_t) + following_;
    PEAL_ASSERT(length <= 0xffffffff);
    store(ByteSpan(out_).subspan(start_), static_cast<std::uint32_t>(length));
  }

  /// Appends all values at once, because each growth of the buffer costs more than storing a value.
  template <std::unsigned_integral... T>
  void u(T... values) {
    std::array<std::byte, (sizeof(T) + ...)> bytes;
    std::size_t at = 0;
    ((store(ByteSpan(bytes).subspan(at), values), at += sizeof values), ...);
    this->bytes(bytes);
  }
  template <class Enum>
  void choice(Enum value) {
    u(static_cast<std::uint8_t>(value));
  }
  void flag(bool value) { u(static_cast<std::uint8_t>(value ? 1 : 0)); }
  void bytes(ByteView bytes) { out_.insert(out_.end(), bytes.begin(), bytes.end()); }
  /// Adds `bytes` to the record's length; the caller appends so many bytes later.
  void follows(std::size_t bytes) { following_ = bytes; }
  void name(std::string_view name) {
    PEAL_ASSERT(name.size() <= kClientNameMax);
    u(static_cast<std::uint8_t>(name.size()));
    bytes(as_bytes_view(name));
  }
  void view(const ViewId& view) {
    u(view.number, view.representative.node.value, view.representative.epoch);
  }
  void place(const Place& place) {
    const ViewId& view = place.view;
    u(view.number, view.representative.node.value, view.representative.epoch, place.position,
      place.index);
  }
  void targets(const FixedVector<std::string_view, kClientTargetsMax>& targets) {
    u(static_cast<std::uint8_t>(targets.size()));
    for (const std::string_view target : targets) name(target);
  }
  /// Cuts the text at a UTF-8 character boundary if it is longer than `bytes_max`.
  void text(std::string_view text, std::size_t bytes_max) {
    std::size_t size = std::min(text.size(), bytes_max);
    const auto continues = [&](std::size_t at) {
      return (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80;
    };
    while (size < text.size() && size > 0 && continues(size)) --size;
    bytes(as_bytes_view(text.substr(0, size)));
  }

 private:
  std::vector<std::byte>& out_;
  std::size_t start_;
  std::size_t following_ = 0;
};

}  // namespace

// ---- from the client ----

void append(std::vector<std::byte>& out, const Hello& record) {
  RecordWriter to(out, RecordKind::hello);
  to.u(record.version);
  to.bytes(record.session);
  to.u(record.events_seen);
  to.u(record.keep_ms);
  to.flag(record.shares);
  to.name(record.name);
  PEAL_ASSERT(record.secret.size() <= kSecretBytesMax);
  to.bytes(as_bytes_view(record.secret));
}

void append(std::vector<std::byte>& out, const JoinRequest& record) {
  RecordWriter to(out, RecordKind::join);
  to.u(record.request);
  to.choice(record.limits.policy);
  to.u(record.limits.memory_bytes);
  to.u(record.limits.disk_bytes);
  to.u(record.limits.age_ms);
  to.name(record.group);
}

void append(std::vector<std::byte>& out, const LeaveRequest& record) {
  RecordWriter to(out, RecordKind::leave);
  to.u(record.request);
  to.name(record.group);
}

void append(std::vector<std::byte>& out, const SendRequest& record) {
  RecordWriter to(out, RecordKind::send);
  to.u(record.number);
  to.choice(record.service);
  to.u(record.type);
  to.flag(record.self_discard);
  to.targets(record.targets);
  to.bytes(record.payload);
}

void append(std::vector<std::byte>& out, const AskRequest& record) {
  RecordWriter to(out, RecordKind::ask);
  to.u(record.request);
  to.name(record.what);
}

// ---- from the daemon ----

void append(std::vector<std::byte>& out, const Welcome& record) {
  RecordWriter to(out, RecordKind::welcome);
  to.u(record.version);
  to.bytes(record.session);
  to.flag(record.resumed);
  to.name(record.name);
  to.name(record.node);
  to.name(record.cluster);
  to.u(record.message_bytes_max);
  to.u(record.unsettled_messages_max);
  to.u(record.unsettled_bytes_max);
  to.u(record.acked);
  to.u(record.received);
  to.u(record.events_next);
  to.u(record.keep_ms);
  to.u(record.ping_ms);
  to.u(record.shared_bytes);
}

namespace {

void put_head(RecordWriter& to, const MessageEvent& record) {
  PEAL_ASSERT(record.place.has_position() == (record.number == 0));
  to.place(record.place);
  if (!record.place.has_position()) to.u(record.number);
  to.choice(record.service);
  to.u(record.type);
  to.name(record.sender);
  to.targets(record.targets);
}

}  // namespace

void append(std::vector<std::byte>& out, const MessageEvent& record) {
  RecordWriter to(out, RecordKind::message);
  put_head(to, record);
  to.bytes(record.payload);
}

void append_head(std::vector<std::byte>& out, const MessageEvent& record) {
  RecordWriter to(out, RecordKind::message);
  put_head(to, record);
  to.follows(record.payload.size());
}

void append(std::vector<std::byte>& out, const GroupViewEvent& record) {
  RecordWriter to(out, RecordKind::group_view);
  to.name(record.group);
  to.view(record.view);
  to.u(record.index);
  to.choice(record.cause);
  to.choice(record.reason);
  to.name(record.changed);
  to.u(record.own_set);
  to.u(static_cast<std::uint32_t>(record.members.size()));
  for (const GroupMember& member : record.members) {
    to.u(member.set);
    to.name(member.name);
  }
}

void append(std::vector<std::byte>& out, RecordKind kind, const GroupEvent& record) {
  PEAL_ASSERT(kind == RecordKind::transitional || kind == RecordKind::left);
  RecordWriter to(out, kind);
  to.name(record.group);
}

void append(std::vector<std::byte>& out, const GapEvent& record) {
  RecordWriter to(out, RecordKind::gap);
  to.name(record.group);
  to.u(static_cast<std::uint8_t>(record.reason));
  if (record.reason == GapReason::away) return;
  to.u(record.messages);
  to.u(record.bytes);
  to.place(record.first);
  to.place(record.last);
}

void append(std::vector<std::byte>& out, const Shared& record) {
  RecordWriter to(out, RecordKind::shared);
  to.u(record.offset, record.bytes, record.generation);
}

void append(std::vector<std::byte>& out, RecordKind kind, const Acked& record) {
  PEAL_ASSERT(kind == RecordKind::acked || kind == RecordKind::seen || kind == RecordKind::ping ||
              kind == RecordKind::pong);
  RecordWriter to(out, kind);
  to.u(record.number);
}

void append(std::vector<std::byte>& out, const Refused& record) {
  RecordWriter to(out, RecordKind::refused);
  to.u(record.number);
  to.choice(record.code);
  to.text(record.text, kTextBytesMax);
}

void append(std::vector<std::byte>& out, const Reply& record) {
  RecordWriter to(out, RecordKind::reply);
  to.u(record.request);
  to.choice(record.code);
  to.text(record.text, kReplyTextBytesMax);
}

void append(std::vector<std::byte>& out, const Warning& record) {
  RecordWriter to(out, RecordKind::warning);
  to.choice(record.policy);
  to.u(record.bytes);
  to.u(record.bytes_max);
  to.u(record.age_ms);
  to.u(record.age_max_ms);
  to.name(record.group);
}

void append(std::vector<std::byte>& out, const Closing& record) {
  RecordWriter to(out, RecordKind::closing);
  to.choice(record.code);
  to.text(record.text, kTextBytesMax);
}

void append(std::vector<std::byte>& out, RecordKind kind) {
  PEAL_ASSERT(kind == RecordKind::goodbye || kind == RecordKind::mapped);
  RecordWriter to(out, kind);
}

}  // namespace peal::wire
