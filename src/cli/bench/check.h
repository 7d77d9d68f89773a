// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace peal::cli {

/// Checks that one node delivered every message of each sender once, and in the order sent. That
/// holds for messages without a place, too. Whether all nodes have the same order is checked with
/// digests, not here.
class DeliveryCheck {
 public:
  /// A message was delivered; `number` counts the sender's messages from 1.
  void on_message(std::string_view sender, std::uint64_t number) {
    State& state = state_of(sender);
    if (number == state.next) {
      ++state.next;
    } else if (number < state.next) {
      complain("message " + std::to_string(number) + " of " + std::string(sender) +
               " was delivered again, or too late, after message " +
               std::to_string(state.next - 1));
    } else {
      complain("message " + std::to_string(number) + " of " + std::string(sender) +
               " was delivered after message " + std::to_string(state.next - 1) +
               ": what lies between was lost or comes too late");
      state.next = number + 1;
    }
  }
  /// The first error, in words; empty if there was none.
  const std::string& problem() const { return problem_; }

 private:
  struct State {
    std::uint64_t next = 1;
  };
  State& state_of(std::string_view sender) {
    const auto found = senders_.find(sender);
    return found != senders_.end() ? found->second
                                   : senders_.emplace(std::string(sender), State{}).first->second;
  }
  void complain(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  std::map<std::string, State, std::less<>> senders_;
  std::string problem_;
};

}  // namespace peal::cli
