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

/// The daemon's side of one session, in memory. It returns each message of the client to the client
/// as an event and acknowledges the message. It records each violation of the protocol by the
/// client.
class ModelDaemon {
 public:
  wire::Welcome limits;  ///< limits and names in each welcome

  ModelDaemon();
  /// Begins a new connection of the same session.
  void connect();
  /// Handles bytes that the client sent.
  void received(ByteView bytes);
  /// The new bytes for the client since the last call.
  std::vector<std::byte> said() { return std::exchange(out_, {}); }
  /// Adds an event: a message to the group "chat", sent by the client itself.
  void tell(const std::string& text, Service service = Service::agreed);
  /// Adds an event that is already encoded as a record.
  void tell_record(std::vector<std::byte> record);
  /// Adds an event: the daemon missed messages to `group`, because it was away.
  void tell_gap(const std::string& group);
  void acknowledge(std::uint64_t number);
  void refuse(std::uint64_t number, wire::ClientCode code);
  void close(wire::ClientCode code, const std::string& text);
  void say_raw(const std::vector<std::byte>& bytes);
  /// Forgets the session.
  void forget() { known_ = false; }

  bool echoes = true;     ///< messages are returned and acknowledged
  bool causal = false;    ///< fifo and causal messages have no place, as with the engine toto
  bool forgives = false;  ///< violations are not recorded
  bool pongs = true;
  bool answers = true;                                 ///< hellos, requests and pings are answered
  wire::ClientCode turns_away = wire::ClientCode::ok;  ///< if not ok: refuses each hello
  wire::ClientCode join_code = wire::ClientCode::ok;   ///< in replies to joins and leaves
  std::string secret;                                  ///< the secret in the last hello
  std::vector<std::string> messages;                   ///< payloads, in the order of their numbers
  std::vector<std::string> complaints;                 ///< the client's violations
  std::vector<wire::RecordKind> kinds;                 ///< the kinds of all records of the client
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
  std::vector<std::vector<std::byte>> events_;  ///< all events of the session
  std::uint64_t seen_ = 0;
  std::uint64_t acked_ = 0;
};

/// Takes the pending output of the session, at most `bytes_max` bytes.
std::vector<std::byte> take_output(Session& session, std::size_t bytes_max = SIZE_MAX);

/// Takes all items of the session. Returns the texts of messages, and in angle brackets the names
/// of other items.
std::vector<std::string> read_all(Session& session);

/// Exchanges bytes until neither side has more to send.
void converse(Session& session, ModelDaemon& daemon);

}  // namespace peal::client::test
