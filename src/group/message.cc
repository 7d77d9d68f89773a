// SPDX-License-Identifier: Apache-2.0
#include "group/message.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "group/message_parts.h"
#include "wire/packet.h"

namespace peal::group {
namespace {

using wire::ByteReader;
using wire::Drop;
using wire::kMemberBytes;
using wire::kViewBytes;
using wire::Writer;

constexpr std::size_t kClientBytesMin = 4 + 2;
constexpr std::size_t kDaemonBytesMin = kMemberBytes + 4 + kClientBytesMin;
constexpr std::size_t kGroupBytesMin = 2 + kViewBytes + 8 + 1 + 2 + kDaemonBytesMin;

bool is_text(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax &&
         std::none_of(name.begin(), name.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return byte < 0x20 || byte == 0x7f;
         });
}

// ---- reading ----

void read_kind(ByteReader& in, Kind kind) {
  in.require(in.u<std::uint8_t>() == static_cast<std::uint8_t>(kind), Drop::unknown_kind);
}

Client read_client(ByteReader& in) {
  Client client;
  client.connection = in.u<std::uint32_t>();
  in.require(client.connection > 0, Drop::bad_value);
  client.name = read_name(in, is_client_name);
  return client;
}

/// Reads the number of the elements that follow; it must be at least 1. Returns 0 if the message is
/// too short for so many elements of at least `each` bytes.
std::uint32_t read_count(ByteReader& in, std::size_t each) {
  const auto count = in.u<std::uint32_t>();
  in.require(count > 0, Drop::bad_value);
  return in.holds(count, each) ? count : 0;
}

void read_daemon(ByteReader& in, DaemonMembers& out) {
  out.daemon = wire::read_member(in);
  const std::uint32_t clients = read_count(in, kClientBytesMin);
  out.clients.reserve(clients);
  for (std::uint32_t i = 0; i < clients && !in.failed(); ++i) {
    const Client client = read_client(in);
    in.require(out.clients.empty() || out.clients.back().name < client.name, Drop::not_sorted);
    out.clients.push_back({client.connection, std::string(client.name)});
  }
}

void read_group(ByteReader& in, const std::vector<MemberId>& synced, GroupState& out) {
  out.name = read_name(in, is_group_name);
  out.id.view = wire::read_formed_view(in);
  out.id.index = wire::read_counter(in);
  in.require(out.id.index > 0, Drop::bad_value);
  out.changed = read_flag(in);
  const auto daemons = in.u<std::uint16_t>();
  in.require(daemons > 0, Drop::bad_value);
  in.require(daemons <= wire::kMembersMax, Drop::count_too_large);
  if (in.failed() || !in.holds(daemons, kDaemonBytesMin)) return;
  out.daemons.reserve(daemons);
  for (std::uint16_t i = 0; i < daemons && !in.failed(); ++i) {
    DaemonMembers next;
    read_daemon(in, next);
    in.require(out.daemons.empty() || out.daemons.back().daemon < next.daemon, Drop::not_sorted);
    in.require(std::binary_search(synced.begin(), synced.end(), next.daemon), Drop::bad_value);
    out.daemons.push_back(std::move(next));
  }
}

template <class Message>
Drop decode_membership(ByteView message, Kind kind, Message& out) {
  ByteReader in(message);
  read_kind(in, kind);
  out.client = read_client(in);
  out.group = read_name(in, is_group_name);
  return in.finish();
}

// ---- writing ----

std::size_t bytes_of(std::string_view name) { return 1 + name.size(); }
std::size_t bytes_of(const Client& client) { return 4 + bytes_of(client.name); }

std::size_t bytes_of(const GroupState& group) {
  std::size_t bytes = bytes_of(group.name) + kViewBytes + 8 + 1 + 2;
  for (const DaemonMembers& each : group.daemons) {
    bytes += kMemberBytes + 4;
    for (const MemberClient& client : each.clients) bytes += 4 + bytes_of(client.name);
  }
  return bytes;
}

void write_client(Writer& out, std::uint32_t connection, std::string_view name) {
  out.u(connection);
  write_name(out, name);
}

void write_group(Writer& out, const GroupState& group) {
  write_name(out, group.name);
  out.view(group.id.view);
  out.u(group.id.index);
  write_flag(out, group.changed);
  out.u(static_cast<std::uint16_t>(group.daemons.size()));
  for (const DaemonMembers& each : group.daemons) {
    out.member(each.daemon);
    out.u(static_cast<std::uint32_t>(each.clients.size()));
    for (const MemberClient& client : each.clients) {
      write_client(out, client.connection, client.name);
    }
  }
}

/// Starts a message of `bytes` bytes, including its kind.
Writer start(Kind kind, std::size_t bytes, std::vector<std::byte>& out) {
  out.resize(bytes);
  Writer writer(out);
  writer.u(static_cast<std::uint8_t>(kind));
  return writer;
}

void finish(const Writer& writer, const std::vector<std::byte>& out) {
  PEAL_ASSERT(!writer.failed() && writer.written() == out.size());
}

template <class Message>
void encode_membership(Kind kind, const Message& message, std::vector<std::byte>& out) {
  Writer writer = start(kind, 1 + bytes_of(message.client) + bytes_of(message.group), out);
  write_client(writer, message.client.connection, message.client.name);
  write_name(writer, message.group);
  finish(writer, out);
}

}  // namespace

// ---- names ----

bool is_group_name(std::string_view name) { return is_text(name) && name.front() != '#'; }

bool is_client_name(std::string_view name) {
  return is_text(name) && name.size() <= kClientNameBytesMax && name.find('#') == name.npos;
}

bool is_target(std::string_view name) {
  if (name.empty() || name.front() != '#') return is_group_name(name);
  const std::size_t middle = name.find('#', 1);
  if (!is_text(name) || middle == name.npos) return false;
  const std::string_view node = name.substr(middle + 1);
  return is_client_name(name.substr(1, middle - 1)) && !node.empty() && node.find('#') == node.npos;
}

// ---- messages ----

std::uint8_t kind_of(ByteView message) {
  return message.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(message.front());
}

Drop decode(ByteView message, Join& out) { return decode_membership(message, Kind::join, out); }
Drop decode(ByteView message, Leave& out) { return decode_membership(message, Kind::leave, out); }

Drop decode(ByteView message, Disconnect& out) {
  ByteReader in(message);
  read_kind(in, Kind::disconnect);
  out.client = read_client(in);
  const auto reason = in.u<std::uint8_t>();
  in.require(reason > 0 && reason < wire::kClientCodes, Drop::bad_value);
  out.reason = in.failed() ? wire::ClientCode::goodbye : static_cast<wire::ClientCode>(reason);
  return in.finish();
}

Drop decode(ByteView message, Data& out) {
  ByteReader in(message);
  read_kind(in, Kind::data);
  out.client = read_client(in);
  out.type = in.u<std::uint16_t>();
  out.self_discard = read_flag(in);
  const auto targets = in.u<std::uint8_t>();
  in.require(targets > 0, Drop::bad_value);
  in.require(targets <= kTargetsMax, Drop::count_too_large);
  out.targets.clear();
  for (std::uint8_t i = 0; i < targets && !in.failed(); ++i) {
    const std::string_view target = read_name(in, is_target);
    in.require(out.targets.empty() || out.targets.back() < target, Drop::not_sorted);
    out.targets.push_back(target);
  }
  out.payload = in.bytes(in.remaining());
  return in.finish();
}

Drop decode(ByteView message, Tables& out) {
  ByteReader in(message);
  read_kind(in, Kind::tables);
  out.view = wire::read_formed_view(in);
  const auto synced = in.u<std::uint16_t>();
  in.require(synced > 0, Drop::bad_value);
  wire::read_members(in, synced, wire::kMembersMax, out.synced);
  const auto groups = in.u<std::uint32_t>();
  out.groups.clear();
  if (in.failed() || !in.holds(groups, kGroupBytesMin)) return in.finish();
  for (std::uint32_t i = 0; i < groups && !in.failed(); ++i) {
    GroupState next;
    read_group(in, out.synced, next);
    in.require(out.groups.empty() || out.groups.back().name < next.name, Drop::not_sorted);
    out.groups.push_back(std::move(next));
  }
  read_traffic(in, out.traffic);
  return in.finish();
}

Drop decode(ByteView message, DomainTraffic& out) {
  ByteReader in(message);
  read_kind(in, Kind::domain_traffic);
  out.view = wire::read_formed_view(in);
  read_traffic(in, out.traffic);
  return in.finish();
}

Drop decode(ByteView message, Marker& /*out*/) {
  ByteReader in(message);
  read_kind(in, Kind::marker);
  return in.finish();
}

void encode(const Join& message, std::vector<std::byte>& out) {
  encode_membership(Kind::join, message, out);
}

void encode(const Leave& message, std::vector<std::byte>& out) {
  encode_membership(Kind::leave, message, out);
}

void encode(const Disconnect& message, std::vector<std::byte>& out) {
  Writer writer = start(Kind::disconnect, 1 + bytes_of(message.client) + 1, out);
  write_client(writer, message.client.connection, message.client.name);
  writer.u(static_cast<std::uint8_t>(message.reason));
  finish(writer, out);
}

void encode(const Data& message, std::vector<std::byte>& out) {
  std::size_t bytes = 1 + bytes_of(message.client) + 2 + 1 + 1 + message.payload.size();
  for (const std::string_view target : message.targets) bytes += bytes_of(target);
  Writer writer = start(Kind::data, bytes, out);
  write_client(writer, message.client.connection, message.client.name);
  writer.u(message.type);
  write_flag(writer, message.self_discard);
  writer.u(static_cast<std::uint8_t>(message.targets.size()));
  for (const std::string_view target : message.targets) write_name(writer, target);
  writer.bytes(message.payload);
  finish(writer, out);
}

void encode(const Marker& /*message*/, std::vector<std::byte>& out) {
  finish(start(Kind::marker, 1, out), out);
}

void encode(const Tables& message, std::vector<std::byte>& out) {
  std::size_t bytes = 1 + kViewBytes + 2 + message.synced.size() * kMemberBytes + 4;
  for (const GroupState& each : message.groups) bytes += bytes_of(each);
  bytes += bytes_of(message.traffic);
  Writer writer = start(Kind::tables, bytes, out);
  writer.view(message.view);
  writer.count(message.synced.size(), wire::kMembersMax);
  writer.members(message.synced);
  writer.u(static_cast<std::uint32_t>(message.groups.size()));
  for (const GroupState& each : message.groups) write_group(writer, each);
  write_traffic(writer, message.traffic);
  finish(writer, out);
}

void encode(const DomainTraffic& message, std::vector<std::byte>& out) {
  const std::size_t bytes = 1 + kViewBytes + bytes_of(message.traffic);
  Writer writer = start(Kind::domain_traffic, bytes, out);
  writer.view(message.view);
  write_traffic(writer, message.traffic);
  finish(writer, out);
}

}  // namespace peal::group
