// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "config/settings.h"
#include "runtime/snapshot.h"
#include "seal/key.h"

namespace peal::member {

/// The requests of the application's threads to the thread that runs the loop, and the answers.
/// After end(), new requests fail with closed, and the last status answers all questions.
class Requests {
 public:
  // Thread: any. After a request, the caller wakes the loop.

  /// Hold this lock from reading the key file until ask_keys(): otherwise a thread that read an
  /// older file could be the last to ask. Hold the lock from ask_nodes() until wait_for_nodes()
  /// returns: there is only one answer at a time.
  std::mutex& one_by_one() { return one_by_one_; }
  /// Asks to use these keys. Errors: closed.
  Result<void, Errc> ask_keys(seal::Keys keys);
  /// Asks to change to this list of nodes; call it while you hold one_by_one(). Errors: closed.
  Result<void, Errc> ask_nodes(config::Listing nodes);
  bool nodes_answered() const;
  /// The answer to ask_nodes(): why the list is refused; an empty text if the list is accepted.
  /// Nothing if end() was called first. Blocks.
  std::optional<std::string> wait_for_nodes();
  /// Asks for the status; returns the question for wait_for_status().
  std::uint64_t ask_status();
  /// Returns a status taken after that question, or the status given to end(). Blocks.
  runtime::Snapshot wait_for_status(std::uint64_t question);
  /// Asks to leave within this time.
  void ask_leave(std::chrono::milliseconds patience);
  /// The name of this node's incarnation.
  std::string id() const;

  // Thread: the loop's.

  std::optional<seal::Keys> take_keys();
  std::optional<config::Listing> take_nodes();
  void answer_nodes(std::string why_not);
  /// The newest question for the status that can be answered now. Nothing while new keys wait to be
  /// used: a caller of ask_keys() must see the keys in the next status.
  std::optional<std::uint64_t> open_status_question() const;
  void answer_status(std::uint64_t question, runtime::Snapshot status);
  std::optional<std::chrono::milliseconds> take_leave();
  void set_id(std::string id);
  void end(runtime::Snapshot status);

 private:
  std::mutex one_by_one_;  ///< locked before mutex_
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  std::string id_;
  std::optional<std::chrono::milliseconds> leave_;
  std::optional<seal::Keys> keys_;
  std::optional<config::Listing> nodes_;
  std::optional<std::string> nodes_answer_;
  std::uint64_t status_asked_ = 0;
  std::uint64_t status_answered_ = 0;
  runtime::Snapshot status_;
  bool ended_ = false;  ///< status_ is final
};

}  // namespace peal::member
