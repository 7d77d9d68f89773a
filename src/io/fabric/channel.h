// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/ring_queue.h"
#include "io/fabric/byte_queue.h"
#include "io/fabric/options.h"
#include "io/fd.h"
#include "io/loop.h"
#include "io/stream.h"
#include "seal/channel.h"

namespace peal::io::fabric {

/// Frames on a stream: a length, and so many bytes, which are sealed once secrets are known. With
/// shm, a frame can carry a descriptor. Allocates nothing per frame once its queues have grown.
/// Thread: the loop's.
class Channel {
 public:
  enum class Side : std::uint8_t { caller, callee };

  /// Frames that arrive have at most `frame_bytes_max` bytes.
  Channel(std::unique_ptr<Stream> stream, Kind kind, std::size_t frame_bytes_max);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// From now on, `loop` reports when there is something to do; without it, the channel always
  /// tries. `loop` must outlive this object.
  Result<void, IoError> attach(Loop& loop);
  /// Seals frames from now on, and expects sealed ones.
  void use(const seal::ChannelSecrets& secrets, Side side);
  void limit_frames(std::size_t bytes_max) { frame_bytes_max_ = bytes_max; }

  Kind kind() const { return kind_; }
  /// The hello says that the connection is for verbs, whose records go by TCP.
  void serve_verbs() { kind_ = Kind::verbs; }
  const StreamPeer& peer() const { return stream_->peer(); }
  /// Continues to connect. `ok`: connected.
  StreamOutcome advance() { return stream_->advance(); }
  bool is_broken() const { return broken_; }
  /// Why the channel is broken: one line.
  const std::string& problem() const { return problem_; }
  /// The other side broke the rules: nothing is read or written any more.
  void give_up(std::string problem, bool is_bad_input);
  bool has_bad_input() const { return bad_input_; }

  // Reading.

  bool may_read() const { return readable_ && !broken_; }
  /// Reads once, and returns the number of bytes. Take all frames out with next() before.
  std::size_t read();
  /// The next whole frame, opened, valid until the next call of read() or next(). Nothing if there
  /// is none, or if the channel is broken now.
  std::optional<ByteView> next();
  /// The descriptor that came with the frame of the last next() or a later one.
  Fd take_descriptor();

  // Writing.

  /// Space for a frame of up to `bytes_max` bytes. Call end_frame() next.
  ByteSpan begin_frame(std::size_t bytes_max);
  /// Queues the first `bytes` of that space, with a copy of descriptor `fd` unless it is -1.
  void end_frame(std::size_t bytes, int fd = -1);
  /// Hands queued bytes to the kernel, as many as it takes.
  void write();
  std::size_t unsent() const { return out_.size(); }

 private:
  static constexpr std::size_t kLengthBytes = 4;
  /// More descriptors than frames that wait for one break the rules.
  static constexpr std::size_t kDescriptorsMax = 2;
  static constexpr std::size_t kDescriptorsUnsentMax = 1'024;
  struct Mark {
    std::uint64_t at{};  ///< bytes written before the frame
    Fd fd;
  };
  std::size_t tag_bytes() const { return sealer_ ? seal::kTagBytes : 0; }
  std::size_t bytes_to_write() const;

  std::unique_ptr<Stream> stream_;
  Kind kind_;
  std::size_t frame_bytes_max_;
  Loop* loop_ = nullptr;
  bool readable_ = true;
  bool writable_ = true;
  bool hung_up_ = false;
  bool broken_ = false;
  bool bad_input_ = false;
  std::string problem_;
  std::optional<seal::ChannelSealer> sealer_;
  std::optional<seal::ChannelOpener> opener_;

  ByteQueue in_;
  std::size_t handed_out_ = 0;  ///< bytes at the front of in_ that the last next() has returned
  RingQueue<Fd> descriptors_;
  ByteQueue out_;
  std::uint64_t written_ = 0;
  RingQueue<Mark> marks_;
};

}  // namespace peal::io::fabric
