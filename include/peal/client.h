// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "peal/events.h"
#include "peal/types.h"
#include "peal/version.h"

// A client of a daemon (`peal node`): it joins groups by name, sends to one or several of them, and
// receives all events in one order, which is the same for all clients.
//
//   auto client = peal::Client::connect({});
//   client->join("chat");
//   client->send({"chat"}, "hello");
//   while (auto event = client->wait(peal::kForever)) { … }
//
// While the application's threads are inside calls of Client, they read and write the connection.
// Each client also has one thread of its own. It reads and writes while no other thread does,
// answers the daemon, and reconnects after the connection broke, whatever the application does
// meanwhile.

namespace peal {
/// See types.h.
inline namespace v0 {

/// The address of the daemon, and the options of the session.
struct ClientOptions {
  /// A Unix socket: "/run/peal/peal.sock", or "unix:" and a path. TLS 1.3 over TCP:
  /// "tls://host:port"; "tls://[fd00::1]:4810" for IPv6.
  std::string daemon = "/run/peal/peal.sock";
  std::string name;  ///< requested name, 0 to 32 bytes; empty: the daemon makes one
  std::string
      token;  ///< identifies this client to the daemon if no certificate does; 0 to 256 bytes

  std::string tls_ca;           ///< PEM file with the authorities that may sign the daemon's
                                ///< certificate; empty: those that the system trusts
  std::string tls_certificate;  ///< PEM file that identifies this client to the daemon; empty:
                                ///< none
  std::string tls_key;          ///< PEM file with the key of `tls_certificate`, readable by its
                                ///< owner only
  std::string tls_name;         ///< the name that the daemon's certificate must have; empty: the
                                ///< host in `daemon`

  /// The maximum time of one attempt to connect, from the lookup of a host name to the daemon's
  /// welcome. All addresses of the name share this time.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  /// How long the session may outlive a broken connection; the daemon may grant less. With 0, the
  /// session ends with the connection.
  std::chrono::milliseconds keep = std::chrono::seconds(30);
  /// Limit of the bytes of events that wait in this client to be read, 1 to 2^40. At the limit, the
  /// client stops reading from the daemon, whose rules for slow clients then apply.
  std::uint64_t receive_bytes_max = 4ULL << 20;
  /// The maximum time that wait() polls before it sleeps; 0 to 1 s. With 0, it does not poll.
  /// wait() polls only while most waits are no longer than `spin`. Polling saves the time of a
  /// wake-up, some 10 to 100 us, but keeps a processor busy. Other processes that want this
  /// processor have priority.
  std::chrono::microseconds spin{};
};

/// What happens if this client does not read the messages of one group fast enough. A limit of 0
/// stands for the limit in the daemon's configuration.
struct JoinOptions {
  SlowPolicy policy = SlowPolicy::normal;  ///< applied at the first limit that is reached
  std::uint64_t memory_bytes_max = 0;      ///< limit of bytes of messages that wait in the daemon's
                                           ///< memory
  std::uint64_t disk_bytes_max = 0;        ///< limit of bytes of messages that wait on the daemon's
                                           ///< disk; with `spill` only
  std::chrono::milliseconds age_max{};     ///< limit of the age of the oldest message that waits
};

/// A sender's options for a message.
struct SendOptions {
  Service service = Service::agreed;  ///< the ordering guarantee
  std::uint16_t type = 0;             ///< a number of the application's choice; receivers get it
  bool self_discard = false;          ///< true: this client does not get the message, even if a
                                      ///< target includes it
};

/// The status of a client.
struct ClientStatus {
  std::string name;                   ///< private name: "#name#node"
  std::string node;                   ///< name of the daemon's node
  std::string cluster;                ///< name of the daemon's cluster
  bool connected = false;             ///< at this moment
  bool ended = false;                 ///< the client has ended; Ended may still be unread
  std::uint64_t sent{};               ///< number of the last message that send() accepted
  std::uint64_t settled{};            ///< all messages up to this number are acknowledged: see
                                      ///< flush()
  std::uint64_t unread_events{};      ///< events that wait to be read by next()
  std::uint64_t unread_bytes{};       ///< bytes of these events, approximately
  std::uint32_t message_bytes_max{};  ///< maximum size of one message, by the daemon's
                                      ///< configuration
};

/// One client of a daemon. Threads: all functions from any thread, also concurrently; but next(),
/// wait() and wait_until() from one thread at a time: what one of them returns is valid until the
/// next call of any of them. close() wakes other threads that wait. A moved-from client can only be
/// destroyed or assigned to. fork(): a client belongs to the process that created it. In a child
/// process, the client's descriptors are closed. The child can destroy the client, which does not
/// affect the parent's session; all other calls fail with closed, next() and wait() return Ended
/// once, fd() and room_fd() return -1, and status() has only `ended`. Create a new client there.
class Client {
 public:
  /// Connects once, and starts a session.
  ///
  /// @return  the client; or invalid_option, unreachable, untrusted (the daemon's certificate is
  ///          for another name, expired, or not signed by a trusted authority), refused (with the
  ///          daemon's reason), timed_out, not_permitted, system, wrong_version.
  /// Blocks: up to `options.connect_timeout`. Do not pass `header`: its default is the version of
  /// the headers that the application was compiled with.
  static Result<Client> connect(const ClientOptions& options, std::uint32_t header = PEAL_VERSION);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// Unless close() was called before, does what close() does with a patience of 0: messages
  /// without an acknowledgement may be lost.
  ~Client();

  /// Becomes a member of a group. The client gets the group's messages that come after the first
  /// GroupView that contains this client.
  ///
  /// @param group  1 to 128 bytes, not beginning with '#'.
  /// @return  done; or invalid_option (the size of the name, or age_max), refused (member_already,
  ///          not_permitted, bad_name, too_many), timed_out (the join may still succeed later),
  ///          closed.
  /// Blocks: up to `patience`. The daemon's answer arrives behind events: if only this thread reads
  /// events, and receive_bytes_max bytes of events wait, the answer does not arrive.
  Result<void> join(std::string_view group, const JoinOptions& options = {},
                    std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// Ends the membership; its last event is Left. leave() may overtake messages of this client that
  /// are not acknowledged: call flush() first to receive them here. Otherwise like join(), but the
  /// reason of `refused` is no_member.
  Result<void> leave(std::string_view group,
                     std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Queues a message to groups and private names, which receive it at the same place of the order.
  ///
  /// @param targets  1 to 64 names, of 1 to 128 bytes each, in any order.
  /// @param payload  0 to ClientStatus::message_bytes_max bytes; copied before return.
  /// @return  a ticket: the message is queued; flush() or ClientStatus::settled say when it is
  ///          acknowledged.
  ///          Or would_block (as many messages lack acknowledgements as the daemon allows: wait for
  ///          room_fd() or use send_for()), too_large, invalid_option (the targets), closed.
  /// Blocks: never for long.
  Result<Ticket> send(std::span<const std::string_view> targets, std::span<const std::byte> payload,
                      const SendOptions& options = {});
  Result<Ticket> send(std::initializer_list<std::string_view> targets, std::string_view text,
                      const SendOptions& options = {});
  /// Like send(), waiting up to `patience` until there is space. Acknowledgements arrive behind
  /// events: if only this thread reads events, and receive_bytes_max bytes of events wait, there
  /// will never be space.
  Result<Ticket> send_for(std::span<const std::string_view> targets,
                          std::span<const std::byte> payload, std::chrono::milliseconds patience,
                          const SendOptions& options = {});

  /// Waits until all messages sent before are acknowledged: each has its place in the order and
  /// every daemon of the view has it, or the daemon refused it (Refused).
  ///
  /// @return  done; or timed_out, closed (Ended says which messages lack an
  ///          acknowledgement).
  /// Blocks: up to `patience`. Acknowledgements arrive behind events: see send_for().
  Result<void> flush(std::chrono::milliseconds patience = kForever);

  /// The next event, or nothing if there is none at the moment. After Ended there is never one.
  /// Blocks: never.
  std::optional<ClientEvent> next();
  /// Like next(), waiting up to `patience` for an event.
  std::optional<ClientEvent> wait(std::chrono::milliseconds patience);
  /// Like next(), waiting until `deadline` for an event.
  std::optional<ClientEvent> wait_until(std::chrono::steady_clock::time_point deadline);

  /// A descriptor for poll(2) and similar calls: readable when next() has an event, and sometimes
  /// when only other data arrived. Call next() until it returns nothing before you wait for the
  /// descriptor. Do not read from it. Valid as long as the client.
  int fd() const;
  /// The same for sending: readable when there is space again after send() returned would_block.
  int room_fd() const;

  /// Queries the daemon: "status", or another word that the daemon knows.
  ///
  /// @return  the answer, some lines of text; or invalid_option (the size of the word), refused,
  ///          timed_out, closed.
  /// Blocks: up to `patience`. The answer arrives behind events: see join().
  Result<std::string> ask(std::string_view what,
                          std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Accepts no more messages, waits up to `patience` until all are acknowledged, ends the session
  /// and stops the client's thread. Received events can still be read, with Ended as the last one.
  /// Blocks: up to `patience`, and some milliseconds.
  void close(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// The client's status. Blocks: never for long.
  ClientStatus status() const;

 private:
  class Core;
  explicit Client(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace v0
}  // namespace peal
