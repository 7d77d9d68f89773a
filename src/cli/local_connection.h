// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "cli/output_queue.h"

namespace peal::cli {

/// One client of a node's local socket: what it said that is not handled yet, what it is still to
/// be told, and when it is done. It knows neither the loop nor the node. Thread: the loop's.
class LocalConnection {
 public:
  enum class Stage : std::uint8_t { greeting, open, closing, dead };

  /// Takes over `fd`. `input_bytes` counts the unfinished input of all connections and outlives
  /// this one.
  LocalConnection(std::uint64_t id, int fd, std::uint64_t& input_bytes)
      : id_(id), fd_(fd), input_bytes_(input_bytes) {}
  ~LocalConnection() { close(); }
  LocalConnection(const LocalConnection&) = delete;
  LocalConnection& operator=(const LocalConnection&) = delete;

  std::uint64_t id() const { return id_; }
  int fd() const { return fd_; }
  Stage stage() const { return stage_; }
  bool is_dead() const { return stage_ == Stage::dead; }
  /// Its requests are handled: it was not told to go.
  bool talks() const { return stage_ == Stage::greeting || stage_ == Stage::open; }
  /// After its hello.
  void open() { stage_ = Stage::open; }

  enum class Arrival : std::uint8_t { bytes, nothing, broken };
  /// Reads once, through `scratch`. The end of the input is `nothing`, and input_over from then on.
  Arrival read(std::vector<std::byte>& scratch);
  /// Read, and not yet used.
  ByteView input() const { return ByteView(input_).subspan(input_used_); }
  void use_input(std::size_t bytes) { input_used_ += bytes; }
  /// Gives back the memory of what was used; views of input() end here.
  void trim_input();

  OutputQueue& output() { return output_; }
  const OutputQueue& output() const { return output_; }
  void push(std::vector<std::byte> record);
  /// Throws away what is queued, but for a chunk that is half sent, and says why. Views of input()
  /// end here.
  void refuse(std::string_view reason);
  /// Nothing more is to come: told to go and told why, or gone after its last message was ordered.
  bool is_done() const;
  /// Of EPOLLIN and EPOLLOUT, what it waits for now.
  std::uint32_t wanted_events() const;
  /// Closes the descriptor and frees everything; the loop must not watch it any more.
  void close();

  bool input_over = false;  ///< the client has shut down its side
  bool blocked = false;     ///< its first request waits for room in the node
  bool subscribed = false;
  std::uint64_t submitted = 0;
  std::uint64_t ordered = 0;       ///< of these, delivered
  std::uint64_t ordered_told = 0;  ///< of these, told to the client
  std::uint32_t watched = 0;       ///< events asked of the loop; 0: not watched

 private:
  void forget_input();

  std::uint64_t id_;
  int fd_;
  Stage stage_ = Stage::greeting;
  std::uint64_t& input_bytes_;
  std::vector<std::byte> input_;
  std::size_t input_used_ = 0;  ///< bytes at the front that are used
  OutputQueue output_;
};

}  // namespace peal::cli
