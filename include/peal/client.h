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

// A client of a daemon (`peal node`) joins groups by name, and sends messages to one or several
// groups. It receives the events of its groups in one order, which is the same for all clients.
// With ToTo, `fifo` and `causal` messages are no part of that order (service.h).
//
//   auto client = peal::Client::connect({});
//   client->join("chat");
//   client->send({"chat"}, "hello");
//   while (auto event = client->wait(peal::kForever)) { … }
//
// An application's thread that is inside a call of Client reads and writes the connection. Each
// client also has one thread of its own, which reads and writes while no other thread does. This
// thread also sends pings to the daemon, and reconnects after the connection broke, even if the
// application makes no calls.

namespace peal {
/// Namespace of this version: see types.h.
inline namespace v0 {

/// The address of the daemon, and the options of the session.
struct ClientOptions {
  /// The daemon's Unix socket: "/run/peal/peal.sock" or "unix:/run/peal/peal.sock". For TLS 1.3
  /// over TCP: "tls://host:port" or, with an IPv6 address, "tls://[fd00::1]:4810".
  std::string daemon = "/run/peal/peal.sock";
  std::string name;  ///< requested name, 0 to 32 bytes; empty: the daemon chooses a name
  std::string
      token;  ///< identifies this client to the daemon if no certificate does; 0 to 256 bytes

  /// PEM file with the authorities that may sign the daemon's certificate; empty: the authorities
  /// that the system trusts.
  std::string tls_ca;
  /// PEM file with the certificate that identifies this client to the daemon; empty: no
  /// certificate.
  std::string tls_certificate;
  /// PEM file with the key of `tls_certificate`, readable by its owner only.
  std::string tls_key;
  /// The name that the daemon's certificate must have; empty: the host in `daemon`.
  std::string tls_name;

  /// The maximum time from the lookup of a host name to the daemon's welcome; more than 0. All
  /// addresses of the host share this time. When the client reconnects, the daemon's welcome may
  /// take this time again.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  /// How long the session may outlive a broken connection, 0 or more; the daemon may grant less.
  /// With 0, the session ends with the connection.
  std::chrono::milliseconds keep = std::chrono::seconds(30);
  /// Limit of the bytes of events that wait in this client to be read, 1 to 2^40. At the limit, the
  /// client stops reading from the daemon. The daemon then treats this client as a slow client.
  std::uint64_t receive_bytes_max = 4ULL << 20;
  /// The maximum time that wait() polls before it sleeps; 0 to 1 s. With 0, wait() does not poll.
  /// wait() polls only while most waits are no longer than `spin`. Polling saves the time of a
  /// wake-up, some 10 to 100 us, but keeps a processor busy. wait() yields the processor to other
  /// processes that want it.
  std::chrono::microseconds spin{};
};

/// What happens if this client does not read the messages of one group fast enough. A limit of 0
/// stands for the limit in the daemon's configuration.
struct JoinOptions {
  SlowPolicy policy = SlowPolicy::normal;  ///< applies when a limit is reached
  /// Limit of bytes of messages that wait in the daemon's memory.
  std::uint64_t memory_bytes_max = 0;
  /// Limit of bytes of messages that wait on the daemon's disk; with SlowPolicy::spill only.
  std::uint64_t disk_bytes_max = 0;
  /// Limit of the age of the oldest message that waits, 0 to 2^32 - 1 ms.
  std::chrono::milliseconds age_max{};
};

/// The options of one message.
struct SendOptions {
  Service service = Service::agreed;  ///< the ordering guarantee
  std::uint16_t type = 0;             ///< a number that the application chooses; receivers get it
  /// True: this client does not get the message, even if a target includes this client.
  bool self_discard = false;
};

/// The status of a client.
struct ClientStatus {
  std::string name;        ///< private name of the client: "#name#node"
  std::string node;        ///< name of the node that the daemon runs
  std::string cluster;     ///< name of the daemon's cluster
  bool connected = false;  ///< true if the session has a connection now
  bool ended = false;      ///< true if the client has ended; Ended may still be unread
  std::uint64_t sent{};    ///< number of the last message that send() accepted
  /// All messages up to this number are acknowledged: see flush().
  std::uint64_t settled{};
  std::uint64_t unread_events{};  ///< number of events that wait to be read
  std::uint64_t unread_bytes{};   ///< bytes of the unread events, approximately
  /// Maximum size of one message, by the daemon's configuration.
  std::uint32_t message_bytes_max{};
};

/// One client of a daemon.
///
/// Threads: any thread may call any function, also concurrently with other threads. But only one
/// thread at a time may call next(), wait() or wait_until(): the event that one of them returns is
/// valid until the next call of any of them. close() wakes threads that wait in other calls. A
/// moved-from client can only be destroyed or assigned to.
///
/// fork(): a client belongs to the process that created it. In a child process, the client's
/// descriptors are closed; create a new client there. The child can destroy its copy of the client,
/// which does not affect the parent's session. In the child, next(), wait() and wait_until() return
/// Ended once, fd() and room_fd() return -1, close() does nothing, and status() sets only `ended`.
/// All other calls fail with closed.
class Client {
 public:
  /// Connects once, and starts a session.
  ///
  /// @return  the client; or invalid_option, unreachable, untrusted (the daemon's certificate is
  ///          for another name, expired, or not signed by a trusted authority; or the daemon does
  ///          not accept the client's certificate), refused (with the daemon's reason), timed_out,
  ///          not_permitted, system, wrong_version.
  /// Blocks: up to `options.connect_timeout`. Do not pass `header`: its default is the version of
  /// the headers that the application was compiled with.
  static Result<Client> connect(const ClientOptions& options, std::uint32_t header = PEAL_VERSION);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// Calls close() with a patience of 0. If close() was not called before, messages without an
  /// acknowledgement may be lost.
  ~Client();

  /// Becomes a member of a group. The client gets the group's messages that come after the first
  /// GroupView that contains this client.
  ///
  /// @param group  1 to 128 bytes, not beginning with '#'.
  /// @return  success; or invalid_option (the size of the name, or age_max), timed_out (the join
  ///          may still succeed later), closed, refused (member_already, not_permitted, bad_name,
  ///          too_many, over_quota, shutdown).
  /// Blocks: up to `patience`. The daemon's answer arrives after earlier events. If only this
  /// thread reads events, and receive_bytes_max bytes of events wait, the answer cannot arrive.
  Result<void> join(std::string_view group, const JoinOptions& options = {},
                    std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// Ends the membership in a group; the group's last event is Left. leave() may overtake messages
  /// that this client sent and that are not acknowledged. To receive these messages, call flush()
  /// first. Parameters, result and blocking are as for join(), but the reason of `refused` is
  /// no_member or shutdown.
  Result<void> leave(std::string_view group,
                     std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Queues a message to groups and private names. All of them receive the message at the same
  /// place in the order, if it has a place: see Service.
  ///
  /// @param targets  1 to 64 names, of 1 to 128 bytes each, in any order.
  /// @param payload  0 to ClientStatus::message_bytes_max bytes; copied before return.
  /// @return  a ticket: the message is queued; flush() or ClientStatus::settled shows when it is
  ///          acknowledged.
  ///          Or would_block (as many messages lack acknowledgements as the daemon allows: wait for
  ///          room_fd() or use send_for()), too_large, invalid_option (the targets), closed.
  /// Blocks: never for long.
  Result<Ticket> send(std::span<const std::string_view> targets, std::span<const std::byte> payload,
                      const SendOptions& options = {});
  Result<Ticket> send(std::initializer_list<std::string_view> targets, std::string_view text,
                      const SendOptions& options = {});
  /// Like send(), but waits up to `patience` for space. Acknowledgements arrive after earlier
  /// events. If only this thread reads events, and receive_bytes_max bytes of events wait, there
  /// will never be space.
  Result<Ticket> send_for(std::span<const std::string_view> targets,
                          std::span<const std::byte> payload, std::chrono::milliseconds patience,
                          const SendOptions& options = {});

  /// Waits until all messages sent before are acknowledged. Each of them was then delivered, at its
  /// place in the order if it has one, and every daemon of the view has it; or the daemon refused
  /// it (Refused).
  ///
  /// @return  success; or timed_out, closed (Ended says which messages lack an acknowledgement).
  /// Blocks: up to `patience`. Acknowledgements arrive after earlier events: see send_for().
  Result<void> flush(std::chrono::milliseconds patience = kForever);

  /// Returns the next event, or nothing if no event waits. After Ended, returns nothing.
  /// Blocks: never.
  std::optional<ClientEvent> next();
  /// Like next(), but waits up to `patience` for an event.
  std::optional<ClientEvent> wait(std::chrono::milliseconds patience);
  /// Like next(), but waits until `deadline` for an event.
  std::optional<ClientEvent> wait_until(std::chrono::steady_clock::time_point deadline);

  /// A descriptor for poll(2) and similar calls. It is readable when next() has an event, and
  /// sometimes when only other data arrived. Before you wait for the descriptor, call next() until
  /// it returns nothing. Do not read from the descriptor. It is valid as long as the client exists.
  int fd() const;
  /// A descriptor like fd(), but for sending: readable when there is space again after send()
  /// returned would_block.
  int room_fd() const;

  /// Sends a query to the daemon and returns the answer.
  ///
  /// @param what  "status" or another query that the daemon knows, 1 to 128 bytes.
  /// @return  the answer, some lines of text; or invalid_option (the size of `what`), refused,
  ///          timed_out, closed.
  /// Blocks: up to `patience`. The answer arrives after earlier events: see join().
  Result<std::string> ask(std::string_view what,
                          std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Accepts no more messages, and waits up to `patience` until all queued messages are
  /// acknowledged. Then ends the session and stops the client's thread. Received events can still
  /// be read; the last one is Ended. Blocks: up to `patience`, and some milliseconds.
  void close(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// The status of the client at this moment. Blocks: never for long.
  ClientStatus status() const;

 private:
  class Core;
  explicit Client(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace v0
}  // namespace peal
