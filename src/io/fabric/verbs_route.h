// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/fabric/bell.h"
#include "io/fabric/pages.h"
#include "io/fabric/region_question.h"
#include "io/fabric/send_buffer.h"
#include "io/fabric/verbs_flights.h"
#include "io/fabric/verbs_pair.h"

namespace peal::io::fabric {

/// Writes are RDMA writes. The owner's device acknowledges them, without the owner's processor, or
/// answers that the right has ended: then they end as denied.
///
/// Each exposure has a queue pair. The owner offers its end with the region, this process joins,
/// and the owner says that it is ready. Until then writes to the region wait, as for a region that
/// is not known (ShmRoute has the reasons).
///
/// Behind the writes of a step, on the same queue pair, goes a write of a new count to the owner's
/// bell, and a read of whether the owner sleeps. The device executes them in that order, so no
/// wake-up is lost. One read is under way for each queue pair; after it another one, if something
/// was written since.
class VerbsRoute final : public Route {
 public:
  static Result<std::unique_ptr<VerbsRoute>, std::string> make(const VerbsDevice& device,
                                                               const MemberId& owner,
                                                               const Endpoint& peer,
                                                               Counters& counters,
                                                               WriteCounters& writes);

  void on_record(const Record& record, Channel& channel) override;
  bool pump(StagedWrites& staged, Channel& channel, Ends& ends) override;
  bool has_news() override;
  void arm() override;
  bool is_untried() const override { return !has_written_; }
  void finish(Ends& ends) override;

 private:
  using Task = VerbsFlights::Task;
  /// Operations under way. Bounds the queues of the device.
  static constexpr std::size_t kOperationsMax = 256;
  static constexpr std::size_t kCompletionsAtOnce = 32;
  static constexpr std::size_t kBufferBytes = 256U << 10;
  static constexpr std::size_t kPartBytesMax = 64U << 10;
  static constexpr std::size_t kInlineBytes = 64;
  /// Where reads of the bells go: a word for each number, in front of the buffer.
  static constexpr std::size_t kLookBytes = 256 * sizeof(std::uint64_t);

  struct Remote {
    port::Epoch epoch{};
    std::size_t bytes{};
    VerbsOffer offer;
    std::uint8_t number{};
    std::uint32_t serial{};
    QueuePair pair;
    bool is_ready = false;   ///< the owner's end is connected
    bool is_closed = false;  ///< the right has ended
    bool has_rung = true;    ///< false: something was written since the last count
    bool looks = false;
    bool look_again = false;
  };
  enum class Step : std::uint8_t { left, wait, full };

  VerbsRoute(const VerbsDevice& device, const MemberId& owner, const Endpoint& peer,
             Counters& counters, WriteCounters& writes, VerbsOwned<ibv_pd> domain,
             VerbsOwned<ibv_cq> completions, SharedPages pages, VerbsOwned<ibv_mr> memory);

  void on_offer(const Record& record, Channel& channel);
  void forget(std::uint8_t number, Channel& channel);

  void collect(Channel& channel);
  void on_completion(const ibv_wc& completion, Channel& channel);
  void on_look(Remote& to, Channel& channel);

  Step start_write(StagedWrites& staged, Channel& channel);
  void post_part(Remote& to, const StagedWrite& write, ByteView bytes);
  void tell_owner();
  void look(Remote& to);
  void post(Remote& to, const VerbsFlights::Operation& operation, ibv_send_wr& work,
            ByteSpan memory);
  /// There is space for a part of a write, the bell and the look.
  bool has_credit() const { return flights_.operations() + 3 <= kOperationsMax; }
  ByteSpan look_word(const Remote& to) const {
    return pages_.pages.span().subspan(to.number * sizeof(std::uint64_t), sizeof(std::uint64_t));
  }

  const VerbsDevice& device_;
  MemberId owner_;
  Endpoint peer_;
  Counters& counters_;
  WriteCounters& writes_;
  SharedPages pages_;
  VerbsOwned<ibv_pd> domain_;
  VerbsOwned<ibv_cq> completions_;
  VerbsOwned<ibv_mr> memory_;
  SendBuffer buffer_;
  VerbsFlights flights_;
  std::array<std::unique_ptr<Remote>, 256> remotes_;  ///< by number
  RegionQuestion question_;
  std::uint32_t serials_ = 0;
  std::vector<std::uint8_t> written_;  ///< regions whose owner has to be told
  std::uint64_t count_ = 0;            ///< of the bell
  std::uint64_t write_{};              ///< the write whose parts are leaving
  std::size_t part_done_ = 0;          ///< bytes of the first staged write that have left
  bool has_written_ = false;           ///< a write was acknowledged
  std::string problem_;                ///< why a queue pair has failed
  std::array<ibv_wc, kCompletionsAtOnce> news_{};
  std::size_t news_count_ = 0;
};

}  // namespace peal::io::fabric
