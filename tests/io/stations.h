// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "io/clock.h"
#include "io/udp.h"

// Several transports in one process, over the loopback interface.

namespace peal::io {

/// An address of this machine that no other process uses, because tests run at the same time.
inline Endpoint test_endpoint(std::uint16_t port) {
  const auto id = static_cast<std::uint32_t>(::getpid());
  return Endpoint::v4(127, static_cast<std::uint8_t>(1 + (id >> 16) % 250),
                      static_cast<std::uint8_t>(id >> 8), static_cast<std::uint8_t>(id), port);
}

/// A cluster hash that no other process uses, so that the multicast group is not shared either.
inline std::uint64_t test_cluster() {
  return 0x7465'7374'0000'0000ULL + static_cast<unsigned>(::getpid());
}

inline Endpoint node_endpoint(std::uint32_t node) {
  return test_endpoint(static_cast<std::uint16_t>(5'000 + 2 * node));
}

/// The configuration of node `self` of the nodes 1 to `count`, without multicast.
inline UdpConfig test_config(std::uint32_t self, std::uint32_t count) {
  UdpConfig config;
  config.self = NodeId{self};
  for (std::uint32_t node = 1; node <= count; ++node) {
    config.nodes.push_back({NodeId{node}, node_endpoint(node)});
  }
  config.cluster = test_cluster();
  config.multicast = MulticastMode::off;
  return config;
}

/// Key number `number`, the same in every run.
inline seal::Key test_key(std::uint8_t number) {
  seal::Secret secret;
  secret.bytes.fill(std::byte{number});
  return seal::make_key(secret, "2026-11-22T09:00:00Z");
}
/// The keys with these numbers. The first key is used for sending.
inline seal::Keys keys_of(std::initializer_list<std::uint8_t> numbers) {
  seal::Keys keys;
  for (const std::uint8_t number : numbers) keys.all.push_back(test_key(number));
  keys.sending = keys.all.front().id;
  return keys;
}
/// `config` with sealed packets.
inline UdpConfig sealed_config(UdpConfig config, std::uint64_t epoch = 5) {
  config.seal = UdpSeal{keys_of({1}), config.cluster, epoch};
  return config;
}

/// One node's transport, and the packets that it received.
class Station : public PacketSink {
 public:
  struct Received {
    NodeId from;
    Lane lane;
    BufferRef packet;
    std::string_view text() const { return as_text(packet.view()); }
  };

  struct Refused {
    NodeId from;
    seal::Refusal reason{};
    MemberId newest;
  };

  explicit Station(const UdpConfig& config, std::uint32_t slabs = 16,
                   std::uint32_t slab_bytes = UdpTransport::kSlabBytes)
      : packets(65'536, 64), pool(slab_bytes, slabs) {
    auto opened = UdpTransport::open(config, pool);
    if (!opened) {
      ADD_FAILURE() << opened.error().message;
      return;
    }
    transport = std::move(*opened);
  }

  BufferRef make(std::string_view text) {
    BufferRef packet = packets.take(0, static_cast<std::uint32_t>(text.size()));
    if (packet && !text.empty()) std::memcpy(packet.data(), text.data(), text.size());
    return packet;
  }
  void send(std::uint32_t to, Lane lane, std::string_view text) {
    transport->send(NodeId{to}, lane, make(text));
  }
  void multicast(Lane lane, std::string_view text) { transport->multicast(lane, make(text)); }

  Progress turn() {
    const Instant now = Clock::now();
    const auto deadline = transport->next_deadline();
    const bool due = deadline && *deadline <= now;
    const Progress progress = transport->receive({now, due}, *this);
    if (due) transport->on_timer(now);
    transport->flush();
    return progress;
  }

  std::size_t count(Lane lane) const {
    std::size_t count = 0;
    for (const Received& one : received) count += one.lane == lane ? 1 : 0;
    return count;
  }
  const UdpCounters& counters() const { return transport->counters(); }

  void on_packet(Instant, NodeId from, Lane lane, const BufferRef& packet) override {
    received.push_back({from, lane, packet});
    if (on_received) on_received(received.back());
  }
  void on_refused(Instant, NodeId from, const seal::Opened& opened) override {
    refused.push_back({from, opened.reason, opened.newest});
  }
  Lane preferred_lane() const override { return preferred; }

  BufferPool packets;
  BufferPool pool;
  std::unique_ptr<UdpTransport> transport;
  std::vector<Received> received;
  std::vector<Refused> refused;
  std::function<void(const Received&)> on_received;
  Lane preferred = Lane::token;
};

/// Nodes 1 to `count`. `adjust` may change the configuration of each node.
class Stations {
 public:
  using Adjust = std::function<void(std::uint32_t node, UdpConfig& config)>;
  explicit Stations(std::uint32_t count, const Adjust& adjust = {}) {
    for (std::uint32_t node = 1; node <= count; ++node) {
      UdpConfig config = test_config(node, count);
      if (adjust) adjust(node, config);
      all_.push_back(std::make_unique<Station>(config));
    }
  }
  Station& operator[](std::uint32_t node) { return *all_[node - 1]; }

  void turn() {
    for (auto& station : all_) station->turn();
  }
  /// Runs all nodes in turn until `done` is true. Returns false if that takes longer than `limit`.
  bool run_until(const std::function<bool()>& done, Duration limit = seconds(20)) {
    const Instant end = Clock::now() + limit;
    while (!done()) {
      if (Clock::now() > end) return false;
      turn();
      ::sched_yield();
    }
    return true;
  }

 private:
  std::vector<std::unique_ptr<Station>> all_;
};

}  // namespace peal::io
