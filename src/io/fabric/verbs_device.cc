// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_device.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "io/fabric/verbs_pages.h"
#include "io/fabric/verbs_route.h"
#include "io/fork.h"

namespace peal::io::fabric {
namespace {

/// The index of this address among those of a port, or -1. Only RoCE version 2 uses IP.
int gid_index_of(const VerbsLibrary& library, ibv_context* context, std::uint8_t port,
                 const Endpoint& at) {
  constexpr std::size_t kGidsMax = 256;
  std::array<ibv_gid_entry, kGidsMax> entries{};
  const ssize_t count =
      library.query_gid_table(context, entries.data(), entries.size(), 0, sizeof entries[0]);
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<std::size_t>(i)];
    if (entry.port_num != port || entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    if (entry.gid_index > 0xff) continue;
    if (std::memcmp(entry.gid.raw, at.ip.data(), at.ip.size()) == 0) {
      return static_cast<int>(entry.gid_index);
    }
  }
  return -1;
}

/// A port that reaches others by `at`; number 0 if the device has none.
VerbsDevice::Port port_of(const VerbsLibrary& library, ibv_context* context, const Endpoint& at) {
  ibv_device_attr device{};
  if (library.query_device(context, &device) != 0) return {};
  for (std::uint8_t number = 1; number <= device.phys_port_cnt && number != 0; ++number) {
    ibv_port_attr attributes{};
    // The library fills the fields of its first version, which are at the same places.
    auto* const old = reinterpret_cast<_compat_ibv_port_attr*>(&attributes);
    if (library.query_port(context, number, old) != 0) continue;
    if (attributes.state != IBV_PORT_ACTIVE) continue;
    VerbsDevice::Port port;
    port.number = number;
    port.mtu = static_cast<std::uint8_t>(attributes.active_mtu);
    if (attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) {
      port.link = VerbsEnd::Link::infiniband;
      port.lid = attributes.lid;
      return port;
    }
    const int gid = gid_index_of(library, context, number, at);
    if (gid < 0) continue;
    port.gid = static_cast<std::uint8_t>(gid);
    return port;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Verbs>, VerbsProblem> Verbs::open(const Endpoint& at) {
  return VerbsDevice::open(at);
}

Result<std::unique_ptr<Verbs>, VerbsProblem> VerbsDevice::open(const Endpoint& at) {
  const VerbsLibrary* const library = VerbsLibrary::load();
  if (library == nullptr) {
    return unexpected(
        verbs_missing("libibverbs is not installed: apt-get install ibverbs-providers"));
  }
  int count = 0;
  ibv_device** const devices = library->get_device_list(&count);
  if (devices == nullptr || count == 0) {
    if (devices != nullptr) library->free_device_list(devices);
    return unexpected(
        verbs_missing("this machine has no RDMA device: `rdma link add` makes one in software"));
  }
  std::unique_ptr<Verbs> found;
  std::string refused;
  for (int i = 0; i < count && found == nullptr; ++i) {
    const std::string name = library->get_device_name(devices[i]);
    VerbsOwned<ibv_context> context(library->open_device(devices[i]), library->close_device);
    if (context == nullptr) {
      refused += (refused.empty() ? "" : ", ") + unopened_device_text(name, errno);
      continue;
    }
    const Port port = port_of(*library, context.get(), at);
    if (port.number == 0) continue;
    std::unique_ptr<VerbsDevice> device(new VerbsDevice(*library, std::move(context), port));
    if (device->channel_ == nullptr) {
      refused += (refused.empty() ? "" : ", ") + unopened_device_text(name, errno);
      continue;
    }
    found = std::move(device);
  }
  library->free_device_list(devices);
  if (found != nullptr) return found;
  if (!refused.empty()) return unexpected(no_right_to_devices(refused));
  return unexpected(verbs_unusable("no RDMA device has the address " + to_string(at.with_port(0)) +
                                   " on an active port: see `rdma link`"));
}

VerbsDevice::VerbsDevice(const VerbsLibrary& library, VerbsOwned<ibv_context> context,
                         const Port& port)
    : library_(library),
      context_(std::move(context)),
      port_(port),
      channel_(library.create_comp_channel(context_.get()), library.destroy_comp_channel) {
  // A child of fork() that kept the device would keep the rights of writers.
  close_in_children(context_->cmd_fd);
  close_in_children(context_->async_fd);
  if (channel_ == nullptr) return;
  close_in_children(channel_->fd);
  const int flags = ::fcntl(channel_->fd, F_GETFL);
  if (::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0) channel_.reset();
}

VerbsDevice::~VerbsDevice() {
  if (loop_ != nullptr) loop_->unwatch(channel_->fd);
  if (channel_ != nullptr) keep_in_children(channel_->fd);
  keep_in_children(context_->async_fd);
  keep_in_children(context_->cmd_fd);
}

Result<void, IoError> VerbsDevice::attach(Loop& loop) {
  const auto watched =
      loop.watch(channel_->fd, EPOLLIN | EPOLLET, [this](std::uint32_t) { drain_events(); });
  if (watched) loop_ = &loop;
  return watched;
}

/// The loop has to wake up, and nothing more: the completions are found in the queues.
void VerbsDevice::drain_events() {
  ibv_cq* completions = nullptr;
  void* context = nullptr;
  while (library_.get_cq_event(channel_.get(), &completions, &context) == 0) {
    library_.ack_cq_events(completions, 1);
  }
}

// ---- what connections need ----

Result<std::unique_ptr<Route>, std::string> VerbsDevice::make_route(const MemberId& owner,
                                                                    const Endpoint& peer,
                                                                    Counters& counters,
                                                                    WriteCounters& writes) {
  auto route = VerbsRoute::make(*this, owner, peer, counters, writes);
  if (!route) return unexpected(route.error());
  return std::unique_ptr<Route>(std::move(*route));
}

Result<std::unique_ptr<VerbsGrants>, std::string> VerbsDevice::make_grants(const Endpoint& peer,
                                                                           ByteSpan bell) {
  auto pages = VerbsPages::make(*this, peer, bell);
  if (!pages) return unexpected(pages.error());
  return std::unique_ptr<VerbsGrants>(std::move(*pages));
}

Result<VerbsOwned<ibv_pd>, std::string> VerbsDevice::make_domain() const {
  VerbsOwned<ibv_pd> domain(library_.alloc_pd(context_.get()), library_.dealloc_pd);
  if (domain == nullptr) return unexpected(problem_of("make a protection domain", errno));
  return domain;
}

Result<VerbsOwned<ibv_cq>, std::string> VerbsDevice::make_completions(int count) const {
  VerbsOwned<ibv_cq> queue(library_.create_cq(context_.get(), count, nullptr, channel_.get(), 0),
                           library_.destroy_cq);
  if (queue == nullptr) return unexpected(problem_of("make a queue of completions", errno));
  return queue;
}

Result<VerbsOwned<ibv_mr>, std::string> VerbsDevice::register_memory(ibv_pd* domain,
                                                                     ByteSpan memory,
                                                                     int access) const {
  VerbsOwned<ibv_mr> registered(library_.reg_mr(domain, memory.data(), memory.size(), access),
                                library_.dereg_mr);
  if (registered == nullptr) {
    return unexpected(
        problem_of("lock " + std::to_string(memory.size()) + " bytes of memory", errno));
  }
  return registered;
}

std::string VerbsDevice::problem_of(const std::string& doing, int number) const {
  rlimit limit{};
  std::optional<std::uint64_t> locked_max;
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    locked_max = limit.rlim_cur;
  }
  return device_failure_text(doing, number, locked_max);
}

}  // namespace peal::io::fabric
