// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "io/fabric/bell.h"
#include "io/fabric/channel.h"
#include "io/fabric/hello.h"
#include "io/fabric/offences.h"
#include "io/fabric/records.h"
#include "io/fabric/regions.h"
#include "io/fabric/status.h"
#include "io/fabric/verbs.h"

namespace peal::io::fabric {

/// This process as the owner of memory, and one connection of a writer. The writer may break every
/// rule: it harms itself only.
class IncomingLink {
 public:
  /// The arguments must outlive this object.
  IncomingLink(std::unique_ptr<Channel> channel, const Options& options, Regions& regions,
               Counters& counters, VerbsUse& verbs, Instant deadline)
      : options_(options),
        regions_(regions),
        counters_(counters),
        verbs_(verbs),
        channel_(std::move(channel)),
        deadline_(deadline) {}

  enum class State : std::uint8_t {
    begun,   ///< no hello yet
    asked,   ///< the hello is good, but proves nothing
    proved,  ///< the writer has the key: call admit()
    open,
  };
  State state() const { return state_; }
  bool is_open() const { return state_ == State::open; }
  /// The connection is to be closed.
  bool is_over() const { return channel_->is_broken(); }
  bool has_bad_input() const { return channel_->has_bad_input(); }
  /// What the writer did, if it broke a rule.
  Offence offence() const {
    const bool is_proved = state_ >= State::proved;
    return {Offence::Kind::rule, is_proved ? writer() : MemberId{}, channel_->peer().text,
            channel_->problem()};
  }
  Instant deadline() const { return deadline_; }  ///< of the handshake
  Kind kind() const { return channel_->kind(); }
  /// Known from State::asked on, and true from State::proved on.
  const MemberId& writer() const { return hello_.writer; }

  bool may_read() const { return channel_->may_read() && channel_->unsent() < kUnsentMax; }
  /// Reads once, and does what the writer says. Returns the number of bytes.
  std::size_t receive();
  /// Hands to the kernel what is queued.
  void write() { channel_->write(); }
  bool has_unsent() const { return channel_->unsent() > 0; }
  /// Writes may come from now on. With shm and verbs, tells the writer its regions.
  void admit();
  void refuse(Refusal why);
  /// With verbs, the writer's rights end before the call returns.
  void close(std::string why) {
    channel_->give_up(std::move(why), false);
    grants_.reset();
  }
  bool uses_old_key() const;

  // With shm and verbs.
  void expose(const Regions::Exposure& exposure);
  /// The region is to be revoked: with verbs, the device stops the writer.
  void revoke(const Regions::Exposure& exposure);
  /// The region is to be dropped.
  void withdraw(const Regions::Exposure& exposure);
  void arm() {
    if (bell_) bell_->arm();
  }
  void disarm() {
    if (bell_) bell_->disarm();
  }

  /// True if something was written since the last take_arrivals(). No system call.
  bool has_arrivals() const { return arrived_ || (bell_ && bell_->has_arrivals()); }
  bool take_arrivals() {
    const bool rung = bell_ && bell_->take();
    return std::exchange(arrived_, false) || rung;
  }

 private:
  static constexpr std::size_t kUnsentMax = 1U << 20;

  void on_frame(ByteView frame);
  void on_hello(ByteView frame);
  void on_record(const Record& record);
  void on_join(const Record& record);
  void offer(const Regions::Exposure& exposure);
  void say_withdrawn(const Regions::Exposure& exposure);
  void give_up_verbs(const std::string& problem);
  void apply(const Record& record);
  void answer();
  void send(const Record& record, int fd = -1);

  const Options& options_;
  Regions& regions_;
  Counters& counters_;
  VerbsUse& verbs_;
  std::unique_ptr<Channel> channel_;
  State state_ = State::begun;
  Instant deadline_;
  Hello hello_;
  std::optional<OwnerBell> bell_;        ///< with shm and verbs
  std::unique_ptr<VerbsGrants> grants_;  ///< with verbs
  bool arrived_ = false;                 ///< with tcp
  bool part_denied_ = false;             ///< an earlier part of the write that comes in parts
  port::WriteEnd end_{};                 ///< of the writes that are not answered yet
  std::uint32_t unanswered_ = 0;
};

}  // namespace peal::io::fabric
