// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "fabrics.h"
#include "io/fabric/channel.h"
#include "io/fabric/dialer.h"
#include "io/fabric/hello.h"
#include "io/fabric/records.h"
#include "io/stream_listener.h"

// Processes that have the cluster's key, and break the rules.

namespace peal::io::fabric::test {

inline void send_record(Channel& channel, const Record& record, int fd = -1) {
  channel.end_frame(encode_record(record, channel.begin_frame(kRecordBytes + record.bytes.size())),
                    fd);
  channel.write();
}

inline Record record_of(Record::Kind kind) {
  Record record;
  record.kind = kind;
  return record;
}

/// A writer that says what a test wants.
class RawWriter {
 public:
  RawWriter(Options options, const Peer& peer) : options_(std::move(options)), peer_(peer) {}

  /// Connects, while `world` has turns.
  void connect(FabricWorld& world) {
    world.wait_for([&] {
      opened_ = dialer_.work(Clock::now());
      return opened_.has_value();
    });
  }
  Channel& channel() { return *opened_->channel; }
  Fd& bell() { return opened_->bell; }
  /// The next record that comes, or nothing once the owner has ended the connection.
  std::optional<Record> next(FabricWorld& world) {
    std::optional<Record> found;
    world.wait_for([&] {
      const auto frame = channel().next();
      if (frame) {
        found = RecordReader(*frame).next();
        EXPECT_TRUE(found);
        return true;
      }
      if (channel().is_broken()) return true;
      channel().read();
      return false;
    });
    return found;
  }
  void wait_for_end(FabricWorld& world) {
    while (next(world)) {
    }
  }

 private:
  Options options_;
  Peer peer_;
  Counters counters_;
  VerbsUse verbs_;
  Dialer dialer_{options_, peer_, counters_, verbs_};
  std::optional<Dialer::Open> opened_;
};

/// An owner that says what a test wants.
class RawOwner {
 public:
  explicit RawOwner(const Options& options) : options_(options) {
    const bool local = options.choice != Choice::tcp;
    kind_ = local ? Kind::shm : Kind::tcp;
    auto listener = local ? StreamListener::unix_socket(options.socket, 0600)
                          : StreamListener::tcp(options.at, make_plain_stream);
    EXPECT_TRUE(listener.has_value());
    listener_ = std::move(*listener);
  }

  /// Accepts a writer, and does the handshake up to its proof.
  void accept(FabricWorld& world) {
    world.wait_for([&] {
      auto accepted = listener_->accept();
      if (accepted.answer != StreamListener::Answer::taken) return false;
      channel_ = std::make_unique<Channel>(std::move(accepted.stream), kind_, kSmallFrameBytesMax);
      return true;
    });
    const Bytes hello = next_frame(world);
    const auto read = decode_hello(hello);
    ASSERT_TRUE(read.hello);
    Bytes welcome(kWelcomeBytes);
    encode_welcome({options_.self, fresh_bytes()}, welcome);
    send_frame(welcome);
    if (options_.keys) {
      channel_->use(secrets_of(options_, read.hello->key, hello, welcome), Channel::Side::callee);
    }
    const Bytes ready = next_frame(world);
    EXPECT_EQ(RecordReader(ready).next()->kind, Record::Kind::ready);
  }
  /// As accept(), and lets the writer in.
  void admit(FabricWorld& world) {
    accept(world);
    if (kind_ == Kind::tcp) {
      channel_->limit_frames(kFrameBytesMax);
      return send_record(*channel_, Record{});
    }
    auto page = make_shared_pages(kBellBytes);
    ASSERT_TRUE(page.has_value());
    bell_ = std::move(*page);
    send_record(*channel_, Record{}, bell_.fd.get());
  }
  void expose(Epoch epoch, std::size_t bytes, int fd) {
    Record record = record_of(Record::Kind::expose);
    record.number = kNumber;
    record.epoch = epoch.value;
    record.value = bytes;
    send_record(*channel_, record, fd);
  }
  Channel& channel() { return *channel_; }
  void hang_up() { channel_.reset(); }
  Bytes next_frame(FabricWorld& world) {
    Bytes bytes;
    world.wait_for([&] {
      if (const auto frame = channel_->next()) {
        bytes.assign(frame->begin(), frame->end());
        return true;
      }
      if (channel_->is_broken()) return true;
      channel_->read();
      return false;
    });
    return bytes;
  }
  void send_frame(ByteView bytes) {
    std::copy(bytes.begin(), bytes.end(), channel_->begin_frame(bytes.size()).begin());
    channel_->end_frame(bytes.size());
    channel_->write();
  }

 private:
  Options options_;
  Kind kind_ = Kind::tcp;
  std::unique_ptr<StreamListener> listener_;
  std::unique_ptr<Channel> channel_;
  SharedPages bell_;
};

}  // namespace peal::io::fabric::test
