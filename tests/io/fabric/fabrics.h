// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "conformance.h"
#include "io/clock.h"
#include "io/fabric/fabric.h"
#include "temp_dir.h"

namespace peal::io::fabric::test {

using peal::test::Bytes;
using peal::test::filled;
using peal::test::kNumber;
using peal::test::kOther;
using peal::test::kOwner;
using peal::test::kWriter;
using port::Epoch;
using port::Place;
using port::WriteDone;
using port::WriteEnd;

inline seal::Keys keys_of(unsigned char first) {
  seal::Secret secret;
  secret.bytes[0] = static_cast<std::byte>(first);
  seal::Keys keys;
  keys.all.push_back(seal::make_key(secret, "2026-11-29T09:00:00Z"));
  keys.sending = keys.all[0].id;
  return keys;
}

/// The address of an RDMA device, with which tests of verbs run. tools/rdma_guest has one. None:
/// those tests do not exist.
inline std::optional<Endpoint> verbs_address() {
  const char* const text = std::getenv("PEAL_VERBS_ADDRESS");
  std::array<std::uint8_t, 4> ip{};
  if (text == nullptr) return std::nullopt;
  EXPECT_EQ(::inet_pton(AF_INET, text, ip.data()), 1) << text;
  return Endpoint::v4(ip[0], ip[1], ip[2], ip[3], 0);
}

/// `choices`, and verbs if this machine has it.
inline std::vector<Choice> with_verbs(std::vector<Choice> choices) {
  if (verbs_address()) choices.push_back(Choice::verbs);
  return choices;
}

inline const char* choice_name(Choice choice) {
  switch (choice) {
    case Choice::automatic: return "automatic";
    case Choice::shm: return "shm";
    case Choice::tcp: return "tcp";
    case Choice::verbs: return "verbs";
  }
  return "";
}

/// Three nodes on this machine: their Unix sockets are in a folder of their own, and their TCP
/// ports on an address of 127/8 that no other test process uses.
class Site {
 public:
  explicit Site(Choice choice, bool is_sealed = true) : choice_(choice), is_sealed_(is_sealed) {}

  std::string socket(NodeId node) const {
    return folder_.path() + "/n" + std::to_string(node.value) + ".sock";
  }
  Endpoint at(NodeId node) const {
    if (choice_ == Choice::verbs) {
      return verbs_address()->with_port(static_cast<std::uint16_t>(4'900 + node.value));
    }
    const auto pid = static_cast<unsigned>(::getpid());
    return Endpoint::v4(127, static_cast<std::uint8_t>(1 + (pid >> 16) % 200),
                        static_cast<std::uint8_t>(pid >> 8), static_cast<std::uint8_t>(pid),
                        static_cast<std::uint16_t>(4'900 + node.value));
  }
  Options options(const MemberId& self) const {
    Options options;
    options.self = self;
    options.cluster = 77;
    options.choice = choice_;
    options.at = at(self.node);
    options.socket = socket(self.node);
    for (std::uint32_t node = 1; node <= 3; ++node) {
      if (node == self.node.value) continue;
      options.peers.push_back({{node}, at({node}), socket({node})});
    }
    if (is_sealed_) options.keys = keys_of(1);
    options.verbs_in_clear = true;
    options.limits.hold = seconds(20);
    return options;
  }

 private:
  Choice choice_;
  bool is_sealed_;
  TempDir folder_;
};

inline std::unique_ptr<Fabric> open_fabric(const Options& options) {
  auto opened = Fabric::open(options);
  EXPECT_TRUE(opened.has_value()) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

/// The memories of one site in this process, without an event loop.
class FabricWorld final : public peal::test::MemoryWorld {
 public:
  explicit FabricWorld(Choice choice, bool is_sealed = true) : site_(choice, is_sealed) {}

  Fabric& fabric(const MemberId& member) { return *fabrics_.at(member); }
  const Site& site() const { return site_; }
  void start_with(const Options& options) { fabrics_[options.self] = open_fabric(options); }

  port::Memory& of(const MemberId& member) override { return fabric(member); }
  void flush(const MemberId& member) override { fabric(member).flush(Clock::now()); }
  void turn() override {
    for (const auto& [member, fabric] : fabrics_) {
      const Instant now = Clock::now();
      fabric->receive(now);
      fabric->take_news();
    }
    ::sched_yield();
  }
  bool may_wait() override { return Clock::now() < limit_; }
  void start(const MemberId& member) override { start_with(site_.options(member)); }
  void stop(const MemberId& member) override { fabrics_.erase(member); }
  void limit(std::size_t bytes) override {
    Options options = site_.options(kOwner);
    options.limits.exposed_bytes_max = bytes;
    stop(kOwner);
    start_with(options);
  }

  /// Turns until `condition` holds.
  template <class Condition>
  void wait_for(const Condition& condition) {
    while (!condition()) {
      ASSERT_TRUE(may_wait());
      turn();
    }
  }
  PeerStatus status(const MemberId& of, NodeId peer) {
    for (PeerStatus& each : fabric(of).status()) {
      if (each.node == peer) return each;
    }
    return {};
  }

 private:
  Site site_;
  std::map<MemberId, std::unique_ptr<Fabric>> fabrics_;
  Instant limit_ = Clock::now() + seconds(60);
};

}  // namespace peal::io::fabric::test
