// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/random.h"
#include "group/groups.h"
#include "node/node.h"
#include "oracle/groups.h"
#include "sim/clients/client_side.h"

namespace peal::sim {

/// Clients inside their node, without connections or a client protocol. Reports all actions and
/// events of the clients to the oracle.
class Clients final : public ClientSide, group::Effects {
 public:
  Clients(Process& process, const ClientMix& mix, std::uint64_t seed);

  // ClientSide
  void carry_out(const Submission& submission) override;
  void on_view(const order::View& view) override;
  void on_message(const node::Message& message) override;
  void on_placed(const node::Origination& placed) override;
  void renamed(MemberId before) override;
  void set_nodes(std::vector<NodeId> nodes) override { groups_.set_nodes(std::move(nodes)); }
  void ended() override;
  std::string waits_for() const override;
  void report_table() override;
  const group::Groups& groups() const override { return groups_; }
  std::uint64_t digest() const override { return groups_.digest(); }
  std::vector<order::Counter> named_counters() const override;
  void work() override;
  bool was_given(std::string_view client, std::string_view payload) const override;
  void keep_payloads() override { keeps_payloads_ = true; }
  bool was_told_of_gap(std::string_view client, std::string_view group) const override;

 private:
  // group::Effects
  void deliver(std::span<const std::uint32_t> connections, const group::Received& message) override;
  void view(std::span<const std::uint32_t> connections, const group::GroupView& view) override;
  void transitional(std::uint32_t connection, std::string_view group) override;
  void left(std::uint32_t connection, std::string_view group) override;
  void gap(std::span<const std::uint32_t> connections, std::string_view group) override;
  bool may_hold(std::uint64_t bytes) const override { return bytes <= mix_.held_bytes_max; }
  void dropped() override;
  Result<std::uint64_t, Errc> submit(ByteView message, Service service, DomainSet domains) override;
  void replace_control(ByteView message, DomainSet domains) override;
  std::uint64_t block(bool blocked) override;
  void settled(const ViewId& view, std::uint64_t hash) override;

  struct Client {
    std::uint32_t connection = 0;
    std::uint64_t sent = 0;
    std::vector<std::uint64_t> given;  ///< hashes of received payloads, after keep_payloads()
    std::vector<std::string> gaps;     ///< groups with reported gaps, after keep_payloads()
  };

  ClientWish draw_wish();
  Client* connect(const std::string& name);
  void disconnect(const std::string& name);
  void send(const ClientWish& wish, Client& client, const Submission& submission);
  oracle::ClientId id_of(std::uint32_t connection) const;
  std::string private_name(const std::string& client) const;
  void deliver_one(std::uint32_t connection, const group::Received& message,
                   const std::vector<std::string>& targets);
  void note(std::uint32_t connection, const std::string& text) const;

  const ClientMix& mix_;
  Random random_;
  group::Groups groups_;
  std::map<std::string, Client> clients_;
  std::set<std::uint32_t> ending_;  ///< connections that get no more, as messages were dropped
  std::vector<SentEarly> early_;    ///< messages sent before the node's first view
  bool keeps_payloads_ = false;
};

}  // namespace peal::sim
