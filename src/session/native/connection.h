// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "session/link.h"
#include "session/native/output.h"

namespace peal::session::native {

class Connections;

/// A connection that uses the native protocol, with or without a session.
class Connection final : public Link {
 public:
  enum class State : std::uint8_t { hello, open, closing };

  Connection(ConnectionId its_id, Identity of, Wanted& wanted, Connections& all)
      : Link(its_id, std::move(of), wanted), all_(all) {}

  // Link
  void welcome(const wire::Welcome& welcome, std::uint64_t repeat) override;
  void warn(const wire::Warning& warning) override;
  void membership_ends(std::string_view why) override;
  void resume() override;
  void close(wire::ClientCode code, std::string_view text) override;

  State state = State::hello;
  Output output;
  std::vector<std::byte> input;    ///< an unfinished record, or a record whose handling is paused
  std::uint64_t record_bytes = 0;  ///< length of the record in `input`; 0: unknown, or no record
  std::uint64_t reserved = 0;      ///< bytes of Options::input_bytes_max that the record takes
  Instant record_begun{};
  Instant last_heard{};
  Instant deadline{};  ///< for the hello; when closing, for the last output

 private:
  Connections& all_;
};

}  // namespace peal::session::native
