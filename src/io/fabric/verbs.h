// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "io/endpoint.h"
#include "io/fabric/channel.h"
#include "io/fabric/options.h"
#include "io/fabric/regions.h"
#include "io/fabric/route.h"
#include "io/fabric/status.h"
#include "io/fabric/verbs_ends.h"
#include "io/fabric/verbs_problem.h"
#include "io/loop.h"

// RDMA. This header names nothing of libibverbs, so that Peal can be built without it.

namespace peal::io::fabric {

/// What one writer may write to by RDMA: the owner's side of one connection. Each exposure has a
/// queue pair of its own, so a revocation harms no other region's writes. A writer can reach
/// nothing but its own regions, whatever it sends. The destructor ends all rights.
class VerbsGrants {
 public:
  virtual ~VerbsGrants() = default;
  /// Lets the device write to an exposed region. The writer can write once it has joined. The error
  /// is one line with the remedy.
  virtual Result<VerbsOffer, std::string> offer(const Regions::Exposure& exposure) = 0;
  /// The writer's end of the queue pair for an offer. The error is why it cannot be used.
  enum class Joined : std::uint8_t { yes, gone, unusable };
  virtual Joined join(std::uint8_t number, port::Epoch epoch, const VerbsEnd& writer) = 0;
  /// Ends the writer's right. When the call returns, the device writes nothing more there.
  /// True if the writer will be told by the device; false if it has to be told.
  virtual bool revoke(std::uint8_t number) = 0;
  /// Revokes, and forgets the region. The writer has to be told.
  virtual void drop(std::uint8_t number) = 0;
};

/// The RDMA device of a process. Thread: the loop's.
class Verbs {
 public:
  /// Opens the device that has the address of `at`, or is connected to an InfiniBand.
  static Result<std::unique_ptr<Verbs>, VerbsProblem> open(const Endpoint& at);
  virtual ~Verbs() = default;

  /// `loop` wakes up for completions from now on; it must outlive this object.
  virtual Result<void, IoError> attach(Loop& loop) = 0;
  /// The writer's side of a connection with the owner at `peer`. The arguments must outlive the
  /// result. The error is one line with the remedy.
  virtual Result<std::unique_ptr<Route>, std::string> make_route(const MemberId& owner,
                                                                 const Endpoint& peer,
                                                                 Counters& counters,
                                                                 WriteCounters& writes) = 0;
  /// The owner's side of a connection with the writer at `peer`. `bell` is the page of its bell,
  /// which must outlive the result.
  virtual Result<std::unique_ptr<VerbsGrants>, std::string> make_grants(const Endpoint& peer,
                                                                        ByteSpan bell) = 0;
};

/// Whether this process uses RDMA.
struct VerbsUse {
  std::unique_ptr<Verbs> device;  ///< null if it has none
  std::string problem;            ///< why RDMA is not used: one line with the remedy, or empty
  /// The machine has a device, and it cannot be used. Not if the options do not allow it.
  bool has_failed = false;
  bool is_usable() const { return device != nullptr && problem.empty(); }
  /// The device cannot do what writes need: it is not used from now on.
  void fail(std::string why) {
    problem = std::move(why);
    has_failed = true;
  }
};

/// Verbs::open(); tests put something else in its place.
using VerbsOpener = Result<std::unique_ptr<Verbs>, VerbsProblem> (*)(const Endpoint& at);

/// Opens the device, and keeps it if the options allow its use.
VerbsUse open_verbs(const Options& options, VerbsOpener open = &Verbs::open);

}  // namespace peal::io::fabric
