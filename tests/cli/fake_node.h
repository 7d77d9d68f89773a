// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/local_server.h"
#include "cli/local_socket.h"

namespace peal::cli {

/// A node that takes `room` messages and then is full, until it is given more room.
class FakeNode : public LocalNode {
 public:
  Result<std::uint64_t> submit(ByteView payload, Service service) override {
    if (closed) return tl::unexpected(Errc::closed);
    if (room == 0) return tl::unexpected(Errc::would_block);
    --room;
    messages.emplace_back(as_text(payload));
    services.push_back(service);
    return messages.size();
  }
  std::string status_json() override { return R"({"node":"a"})"; }
  ViewRecord current_view() override { return view; }

  std::size_t room = 1'000'000;
  bool closed = false;
  std::vector<std::string> messages;
  std::vector<Service> services;
  ViewRecord view;
};

/// A loop that drives nothing but what is watched.
class EmptyHost : public io::LoopHost {
 public:
  void on_pause(Instant, Duration) override {}
  io::Progress on_sockets(const io::Turn&) override { return {false, true}; }
  void on_drained(Instant) override {}
  void on_wake(Instant) override {}
  void on_timer(Instant) override {}
  void on_turn_end(Instant) override {}
  std::optional<Instant> next_deadline() const override { return std::nullopt; }
};

/// A server with a fake node behind it, in a folder of its own.
class TestServer {
 public:
  explicit TestServer(const std::function<void(LocalServerOptions&)>& change = {}) {
    char folder[] = "/tmp/peal-server-XXXXXX";
    EXPECT_NE(::mkdtemp(folder), nullptr);
    dir = folder;
    options.path = dir + "/a.sock";
    options.welcome.message_bytes_max = 100'000;
    options.welcome.cluster = "demo";
    options.welcome.node = "a";
    if (change) change(options);
    auto opened_loop = io::Loop::open({});
    EXPECT_TRUE(opened_loop);
    loop = std::move(*opened_loop);
    auto opened = LocalServer::open(options, *loop, node);
    EXPECT_TRUE(opened) << opened.error().message;
    server = std::move(*opened);
  }
  ~TestServer() {
    server.reset();
    std::filesystem::remove_all(dir);
  }

  /// Enough turns for everything that is there to be read, handled and answered.
  void run() {
    for (int i = 0; i < 8; ++i) {
      loop->turn(host, {});
      server->flush();
    }
  }

  std::string dir;
  LocalServerOptions options;
  FakeNode node;
  EmptyHost host;
  std::unique_ptr<io::Loop> loop;
  std::unique_ptr<LocalServer> server;
};

/// The other end of a connection, byte by byte.
class RawClient {
 public:
  explicit RawClient(TestServer& server) : server_(server) {
    const auto fd = connect_local(server.options.path);
    EXPECT_TRUE(fd);
    fd_ = fd ? *fd : -1;
  }
  ~RawClient() { close(); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void hello() {
    send([](auto& out) { append_hello(out); });
  }

  void send_bytes(ByteView bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      server_.run();
      if (sent < 0) return;  // the server has closed, or does not read
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    server_.run();
  }
  template <class Append>
  void send(Append append) {
    std::vector<std::byte> out;
    append(out);
    send_bytes(out);
  }
  void end_output() {
    ::shutdown(fd_, SHUT_WR);
    server_.run();
  }

  /// Everything that has arrived, as records; bodies are copied.
  struct Got {
    RecordKind kind;
    std::vector<std::byte> body;
  };
  std::vector<Got> take() {
    server_.run();
    read_all();
    std::vector<Got> records;
    while (true) {
      const Framed framed = next_record(input_, kReplyBodyMax, kReplyBodyMax);
      if (framed.state != Framed::State::complete) return records;
      records.push_back(
          {framed.record.kind, {framed.record.body.begin(), framed.record.body.end()}});
      input_.erase(input_.begin(), input_.begin() + static_cast<std::ptrdiff_t>(framed.bytes));
    }
  }
  /// The server has closed this connection, and everything from it was read.
  bool ended() {
    server_.run();
    read_all();
    return ended_;
  }
  /// The reason with which the server closed; empty if it did not.
  std::string reason() {
    for (const Got& got : take()) {
      if (got.kind == RecordKind::closing) return std::string(as_text(got.body));
    }
    return {};
  }
  int fd() const { return fd_; }

 private:
  void read_all() {
    std::byte part[65'536];
    while (true) {
      const ssize_t got = ::recv(fd_, part, sizeof part, MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno == ECONNRESET)) ended_ = true;
      if (got <= 0) return;
      input_.insert(input_.end(), part, part + got);
      server_.run();
    }
  }

  TestServer& server_;
  int fd_;
  std::vector<std::byte> input_;
  bool ended_ = false;
};

}  // namespace peal::cli
