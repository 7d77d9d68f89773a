// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "client/session.h"
#include "wire/client.h"

namespace peal::client::test {

inline std::string text_of(ByteView bytes) { return std::string(as_text(bytes)); }

/// One session of a daemon, in memory: a client's message to a group returns to it as an event, and
/// is acknowledged. It records every violation of the protocol by the client.
class ModelDaemon {
 public:
  wire::Welcome limits;  ///< what a welcome says about limits

  ModelDaemon();
  /// A new connection.
  void connect();
  /// Bytes of the client.
  void received(ByteView bytes);
  /// Bytes for the client, since the last call.
  std::vector<std::byte> said() { return std::exchange(out_, {}); }
  /// Another event: a message to the client from another sender.
  void tell(const std::string& text);
  /// The same as a record that it is given.
  void tell_record(std::vector<std::byte> record);
  /// Another event: messages to the group were ordered where the daemon was not.
  void tell_gap(const std::string& group);
  void acknowledge(std::uint64_t number);
  void refuse(std::uint64_t number, wire::ClientCode code);
  void close(wire::ClientCode code, const std::string& text);
  void say_raw(const std::vector<std::byte>& bytes);
  /// Forgets the session.
  void forget() { known_ = false; }

  bool echoes = true;     ///< messages are echoed, and acknowledged
  bool forgives = false;  ///< ignores violations
  bool pongs = true;
  bool answers = true;                                 ///< anything at all
  wire::ClientCode turns_away = wire::ClientCode::ok;  ///< whoever says hello
  wire::ClientCode join_code = wire::ClientCode::ok;   ///< of replies to joins and leaves
  std::string secret;                                  ///< of the last hello
  std::vector<std::string> messages;                   ///< payloads, in the order of their numbers
  std::vector<std::string> complaints;                 ///< the client's violations
  std::vector<wire::RecordKind> kinds;                 ///< of all records
  std::size_t hellos = 0;
  bool goodbye = false;

 private:
  void handle(const wire::Record& record);
  void on_hello(ByteView body);
  void on_send(ByteView body);
  void complain(const std::string& what) {
    if (!forgives) complaints.push_back(what);
  }

  bool known_ = false;
  bool welcomed_ = false;
  std::vector<std::byte> in_;
  std::vector<std::byte> out_;
  std::vector<std::vector<std::byte>> events_;  ///< all of them
  std::uint64_t seen_ = 0;
  std::uint64_t acked_ = 0;
};

/// Everything that the session has written so far, at most `bytes_max`.
std::vector<std::byte> take_output(Session& session, std::size_t bytes_max = SIZE_MAX);

/// The texts of all messages among the items, and of notices in angle brackets.
std::vector<std::string> read_all(Session& session);

/// Exchanges bytes until neither side has more to send.
void converse(Session& session, ModelDaemon& daemon);

}  // namespace peal::client::test
