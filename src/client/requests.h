// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "wire/client.h"

namespace peal::client {

/// The result of a request to join, to leave or to ask.
struct Answer {
  wire::ClientCode code{};
  std::string text;
};

/// The application's requests, each kept until the application takes its answer.
class Requests {
 public:
  std::uint32_t next_number() { return ++last_; }
  /// `answer`: the answer, if the request is answered already.
  void add(std::uint32_t number, wire::RecordKind kind, std::vector<std::byte> record,
           std::optional<Answer> answer);
  /// Returns the answer and forgets the request. Returns nothing if there is no answer yet.
  std::optional<Answer> take_answer(std::uint32_t number);
  /// Call when the application no longer waits for the answer.
  void give_up(std::uint32_t number) { requests_.erase(number); }

  /// Call when a connection has taken all bytes of the request: the daemon may then have the
  /// request.
  void note_written(std::uint32_t number);
  /// Handles the daemon's reply. A reply to an unknown request is ignored.
  void answer(const wire::Reply& reply);
  /// Call when the session continues on another connection, before unanswered requests are sent
  /// again.
  void resume();
  /// Call when the session has ended. Answers all unanswered requests with the text `why`.
  void end(const std::string& why);
  /// Calls `use` with the number and record of each unanswered request.
  void each_open(
      const std::function<void(std::uint32_t, const std::vector<std::byte>&)>& use) const;

 private:
  struct Request {
    wire::RecordKind kind{};
    std::vector<std::byte> record;
    bool written = false;   ///< a connection took all its bytes: the daemon may have it
    bool repeated = false;  ///< sent again, after an earlier connection took all its bytes
    std::optional<Answer> answer;
  };

  std::map<std::uint32_t, Request> requests_;
  std::uint32_t last_ = 0;
};

}  // namespace peal::client
