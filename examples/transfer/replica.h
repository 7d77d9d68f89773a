// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <peal/member.h>

#include <deque>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bank.h"

/// A replica of a shard: a member of the cluster, and what it computes. It sends transfers and
/// audits, and applies all that its shard gets. One thread uses it.
class Replica {
 public:
  Replica(std::string name, peal::Member member);

  /// Serves until `stop` returns true, or something goes wrong. Calls `checked` once, when this
  /// replica has checked all audits. The result is empty, or says what went wrong.
  std::string serve(const std::function<bool()>& stop, const std::function<void()>& checked);

  /// The others may still need this replica's vote: call this once all have checked the audits.
  void leave() { member_.leave(); }

 private:
  void handle(const peal::Event& event);
  void take_view(const peal::View& view);
  void apply(const peal::Message& message);
  void send_transfer();
  void send(std::string text, std::vector<std::string_view> shards);
  void flush();
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  std::string name_;
  peal::Member member_;
  bank::Accounts accounts_;
  bank::Audits audits_;
  std::mt19937 random_;
  int transfers_ = 0;                                                          // sent so far
  std::deque<std::pair<std::string, std::vector<std::string_view>>> waiting_;  // to be sent
  std::string problem_;
};
