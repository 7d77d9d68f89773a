// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/daemon.h"
#include "io/stream.h"
#include "wire/client.h"

// Daemons that run in threads of this process, and clients whose bytes a test chooses.

namespace peal::daemon::test {

/// A folder of its own, gone with it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Node `self` of `count`, which lets every user do everything. The times are long enough for a
/// machine that runs many tests at once.
Options options_of(const Folder& folder, std::uint32_t self, std::uint32_t count);

/// Ignores all calls.
class NoOwner final : public Owner {
  void on_view(Instant, const ViewNotice&) override {}
  void on_message(std::string_view, const node::Message&) override {}
  void on_warning(Instant, const std::string&) override {}
  void on_address(Instant, std::string_view, const io::AddressBook::Change&) override {}
  void on_nodes(Instant, const std::vector<std::string>&) override {}
  void on_refused(Instant, const std::string&, const io::IoError&) override {}
  void on_end(bool, const std::string&) override {}
  session::Answer on_ask(std::string_view, bool) override { return {}; }
};

/// A daemon, and the thread that it runs in.
class Site final : private Owner {
 public:
  explicit Site(const Options& options);
  ~Site() override;
  void stop();  ///< and waits for its end
  /// Takes new rules and limits, on the daemon's thread. `once_connected` runs here between the
  /// connection to the daemon and the request.
  bool reconfigure(const Options& options, const std::function<void()>& once_connected = {});
  /// Why the newest reconfigure() was refused.
  const std::string& refused() const { return refused_; }
  /// Waits until these nodes count.
  void wait_nodes(const std::string& nodes);
  /// Waits until node `node` is at `at`, as far as this one knows.
  void wait_address(const std::string& node, const std::string& at);
  const std::string& socket() const { return socket_; }
  std::string end() const;  ///< what on_end() said
  bool ended_well() const;

 private:
  void on_view(Instant, const ViewNotice&) override {}
  void on_message(std::string_view, const node::Message&) override {}
  void on_warning(Instant, const std::string&) override {}
  void on_address(Instant, std::string_view node, const io::AddressBook::Change& change) override;
  void on_nodes(Instant now, const std::vector<std::string>& nodes) override;
  void on_refused(Instant, const std::string&, const io::IoError&) override {}
  void on_end(bool on_request, const std::string& reason) override;
  session::Answer on_ask(std::string_view what, bool admin) override;

  std::string socket_;
  std::string refused_;
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::string, std::string> addresses_;  ///< of the other nodes that were looked up
  std::string nodes_;                             ///< the active ones, by the last on_nodes()
  std::optional<Options> new_options_;
  std::string end_;
  bool ended_well_ = false;
};

/// A record with its own copy of the bytes that it refers to.
struct Got {
  wire::RecordKind kind{};
  std::vector<std::byte> body;

  /// The record; fails the test if it is not one of these.
  template <class T>
  T as() const {
    T out;
    EXPECT_EQ(decode(ByteView(body), out), wire::Drop::none);
    return out;
  }
};

/// One connection. Everything waits for as long as a minute, and fails then.
class Client {
 public:
  /// Connects, and sends nothing yet.
  explicit Client(const std::string& socket);
  /// The same over a stream that is connected, or on its way; with TLS, its handshake comes first.
  explicit Client(std::unique_ptr<io::Stream> stream);
  /// Connects and says hello; the answer is in welcome().
  Client(const std::string& socket, const wire::Hello& hello);

  template <class T>
  void say(const T& record) {
    std::vector<std::byte> bytes;
    wire::append(bytes, record);
    write(bytes);
  }
  void say(wire::RecordKind kind);
  void say(wire::RecordKind kind, const wire::Acked& record);
  /// Bytes as they are. Gives up without a failure when the daemon hung up.
  void write(ByteView bytes);
  /// Ends this connection at once.
  void cut() { stream_.reset(); }
  /// Says hello; the answer is in welcome().
  void greet(const wire::Hello& hello);
  /// Why the stream broke; empty if it did not.
  std::string broken() const { return broken_; }

  /// The next record; nothing once the daemon hung up.
  std::optional<Got> next();
  /// Leaves records out until one of this kind, or a closing, comes.
  std::optional<Got> until(wire::RecordKind kind);
  /// Joins, and waits for the view with this client in it.
  void join(std::string_view group, const wire::SlowLimits& limits = {});
  /// Sends to one group; the number is the next one.
  void send(std::string_view group, std::string_view text);
  /// The text of the next message.
  std::string message();
  /// The code and the text of the closing that comes.
  std::pair<wire::ClientCode, std::string> closing();

  bool is_welcome() const { return welcome_.has_value(); }
  wire::Welcome welcome() const { return welcome_->as<wire::Welcome>(); }
  std::uint64_t sent() const { return sent_; }

 private:
  bool wait(short events);

  std::unique_ptr<io::Stream> stream_;
  std::string broken_;
  std::vector<std::byte> input_;
  std::optional<Got> welcome_;
  std::uint64_t sent_ = 0;
  std::uint32_t requests_ = 0;
};

wire::Hello hello_as(std::string_view name);

}  // namespace peal::daemon::test
