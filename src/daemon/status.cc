// SPDX-License-Identifier: Apache-2.0
#include "daemon/status.h"

#include <unistd.h>

#include "daemon/daemon.h"
#include "group/message.h"

namespace peal::daemon {
namespace {

/// The node's snapshot, with a counter of the lines that its log has dropped.
runtime::Snapshot snapshot(const Daemon& daemon, std::uint64_t log_lines_dropped) {
  runtime::Snapshot out = daemon.node_status();
  out.counters.emplace_back(kLogLines, log_lines_dropped);
  return out;
}

}  // namespace

void StatusRecorder::on_message(std::string_view sender, const node::Message& message) {
  // Messages of other kinds are sent by daemons, not by clients.
  if (group::kind_of(message.payload) != static_cast<std::uint8_t>(group::Kind::data)) return;
  delivered_.on_message(sender, message.number, message.seq, message.payload.size());
}

void StatusRecorder::look(Instant now, const Daemon& daemon, std::uint64_t log_lines_dropped) {
  drops_.look(now, snapshot(daemon, log_lines_dropped).counters);
}

Status StatusRecorder::status(Instant now, const Daemon& daemon, std::uint64_t log_lines_dropped,
                              std::string_view prefix) {
  Status out;
  out.node = node_;
  out.cluster = cluster_;
  out.pid = ::getpid();
  out.uptime = now - started_;
  out.member = snapshot(daemon, log_lines_dropped);
  drops_.look(now, out.member.counters);
  for (const order::Counter& each : daemon.client_counters()) {
    out.member.counters.emplace_back(each.name, each.value);
  }
  out.delivered = delivered_;
  for (const std::string& each : drop_counters()) {
    if (const auto grew = drops_.grew(each)) out.dropped_ago[each] = now - *grew;
  }
  out.clients = daemon.client_status(prefix);
  const io::StreamsCounters& streams = daemon.connection_counters();
  out.accepted = streams.accepted;
  out.turned_away = streams.turned_away + streams.handshakes_failed;
  return out;
}

}  // namespace peal::daemon
