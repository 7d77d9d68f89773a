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

/// How one join, leave or question came out.
struct Answer {
  wire::ClientCode code{};
  std::string text;
};

/// Requests of the application, until their answers are taken.
class Requests {
 public:
  std::uint32_t next_number() { return ++last_; }
  /// `answer`: there is one already.
  void add(std::uint32_t number, wire::RecordKind kind, std::vector<std::byte> record,
           std::optional<Answer> answer);
  /// The answer, once: then the request is forgotten.
  std::optional<Answer> take_answer(std::uint32_t number);
  /// Nobody waits for it any more.
  void give_up(std::uint32_t number) { requests_.erase(number); }

  /// A connection has taken it whole: the daemon may have it.
  void note_written(std::uint32_t number);
  /// The daemon's reply. One that nobody waits for is ignored.
  void answer(const wire::Reply& reply);
  /// The session goes on over another connection: what an earlier one took is said again.
  void resume();
  /// The session has ended: those that wait are answered so.
  void end(const std::string& why);
  /// Those without an answer: number and record.
  void each_open(
      const std::function<void(std::uint32_t, const std::vector<std::byte>&)>& use) const;

 private:
  struct Request {
    wire::RecordKind kind{};
    std::vector<std::byte> record;
    bool written = false;   ///< whole: the daemon may have it
    bool repeated = false;  ///< after an earlier connection took it whole
    std::optional<Answer> answer;
  };

  std::map<std::uint32_t, Request> requests_;
  std::uint32_t last_ = 0;
};

}  // namespace peal::client
