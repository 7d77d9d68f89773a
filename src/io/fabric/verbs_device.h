// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/fabric/verbs.h"
#include "io/fabric/verbs_library.h"

namespace peal::io::fabric {

/// A port of an RDMA device, opened. Thread: the loop's.
class VerbsDevice final : public Verbs {
 public:
  /// Where the device is reached.
  struct Port {
    std::uint8_t number{};
    std::uint8_t gid{};  ///< RoCE: the index of the address
    std::uint16_t lid{};
    std::uint8_t mtu{};
    VerbsEnd::Link link = VerbsEnd::Link::roce;
  };

  static Result<std::unique_ptr<Verbs>, VerbsProblem> open(const Endpoint& at);
  ~VerbsDevice() override;
  VerbsDevice(const VerbsDevice&) = delete;
  VerbsDevice& operator=(const VerbsDevice&) = delete;

  Result<void, IoError> attach(Loop& loop) override;
  Result<std::unique_ptr<Route>, std::string> make_route(const MemberId& owner,
                                                         const Endpoint& peer, Counters& counters,
                                                         WriteCounters& writes) override;
  Result<std::unique_ptr<VerbsGrants>, std::string> make_grants(const Endpoint& peer,
                                                                ByteSpan bell) override;

  const VerbsLibrary& library() const { return library_; }
  const Port& port() const { return port_; }

  // The objects of a connection. Each error is one line with the remedy.
  Result<VerbsOwned<ibv_pd>, std::string> make_domain() const;
  Result<VerbsOwned<ibv_cq>, std::string> make_completions(int count) const;
  /// Makes memory accessible to the device: pins its pages.
  Result<VerbsOwned<ibv_mr>, std::string> register_memory(ibv_pd* domain, ByteSpan memory,
                                                          int access) const;
  /// Why the device could not do something: errno is `number`.
  std::string problem_of(const std::string& doing, int number) const;

 private:
  VerbsDevice(const VerbsLibrary& library, VerbsOwned<ibv_context> context, const Port& port);
  void drain_events();

  const VerbsLibrary& library_;
  VerbsOwned<ibv_context> context_;
  Port port_;
  VerbsOwned<ibv_comp_channel> channel_;  ///< reports completions to a loop that sleeps
  Loop* loop_ = nullptr;
};

}  // namespace peal::io::fabric
