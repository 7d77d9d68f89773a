// SPDX-License-Identifier: Apache-2.0
// What people read of a node's memory, in the log and in the status.
#include "runtime/memory_notices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "io/clock.h"
#include "io/fabric/fabric.h"
#include "io/fabric/verbs_problem.h"
#include "runtime/node_memory.h"

namespace peal::runtime {
namespace {

using io::fabric::Choice;
using io::fabric::Fabric;
using io::fabric::Kind;
using io::fabric::Offence;
using io::fabric::Verbs;
using io::fabric::VerbsProblem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

trace::Names names() {
  trace::Names names;
  names.replace({1}, "a");
  names.replace({2}, "b");
  return names;
}

// ---- peers that break the rules ----

TEST(OffenceText, NamesThePeerWhatItDidAndTheRemedy) {
  const Offence offence{Offence::Kind::rule, {{2}, 7}, {}, "a record that makes no sense"};
  EXPECT_EQ(offence_text(offence, names(), true),
            "memory: node b (epoch 7) broke a rule: a record that makes no sense; its connection "
            "was ended: run the same version on b as here, and restart it; if it does, another "
            "process has the cluster's key: change that (peal keygen)");
  EXPECT_THAT(offence_text(offence, names(), false), HasSubstr("set key_file"));
}

TEST(OffenceText, OfMemorySaysThatNothingIsWrittenThere) {
  Offence offence{Offence::Kind::memory, {{2}, 7}, {}, "its memory could shrink"};
  EXPECT_THAT(offence_text(offence, names(), true),
              HasSubstr("node b (epoch 7) gave memory that is not safe to write: its memory could "
                        "shrink; nothing is written there: run the same version on b"));
  // This machine is the reason.
  offence.kind = Offence::Kind::unmapped;
  offence.what = "its memory cannot be mapped: Cannot allocate memory";
  EXPECT_THAT(offence_text(offence, names(), true), HasSubstr("give this machine more memory"));
  EXPECT_THAT(offence_text(offence, names(), true), Not(HasSubstr("the cluster's key")));
}

TEST(OffenceText, OfAProcessWithoutProofBlamesNoNode) {
  const Offence offence{Offence::Kind::rule, {}, "10.0.0.9:4000", "a frame of 0 bytes"};
  const std::string text = offence_text(offence, names(), true);
  EXPECT_THAT(text, HasSubstr("memory: a process (10.0.0.9:4000) that has not proved which node it "
                              "is broke a rule: a frame of 0 bytes; its connection was ended: "));
  EXPECT_THAT(text, Not(HasSubstr("node b")));
}

// ---- RDMA that cannot be used ----

Result<std::unique_ptr<Verbs>, VerbsProblem> no_right(const io::Endpoint& /*at*/) {
  return unexpected(
      io::fabric::no_right_to_devices(io::fabric::unopened_device_text("mlx5_0", EACCES)));
}

Result<std::unique_ptr<Verbs>, VerbsProblem> no_device(const io::Endpoint& /*at*/) {
  return unexpected(io::fabric::verbs_missing("this machine has no RDMA device"));
}

/// Two nodes of one cluster, which reach each other by TCP, though they may use RDMA.
class MemoryOfTwo : public testing::Test {
 protected:
  void open(io::fabric::VerbsOpener open_device) {
    for (std::uint32_t node : {1U, 2U}) {
      io::fabric::Options options;
      options.self = {{node}, 10};
      options.at = at(node);
      options.peers.push_back({{3 - node}, at(3 - node), {}});
      auto opened = Fabric::open(options, open_device);
      ASSERT_TRUE(opened.has_value()) << opened.error().message;
      fabrics_.push_back(std::move(*opened));
    }
  }
  static io::Endpoint at(std::uint32_t node) {
    const auto pid = static_cast<unsigned>(::getpid());
    return io::Endpoint::v4(127, static_cast<std::uint8_t>(1 + (pid >> 16) % 200),
                            static_cast<std::uint8_t>(pid >> 8), static_cast<std::uint8_t>(pid),
                            static_cast<std::uint16_t>(4'900 + node));
  }
  std::vector<std::string> lines() {
    std::vector<std::string> all;
    while (const auto line = notices_.next(*fabrics_[0], names(), false)) all.push_back(*line);
    return all;
  }
  void connect() {
    const Instant limit = io::Clock::now() + seconds(60);
    while (fabrics_[0]->status()[0].kind != Kind::tcp) {
      ASSERT_LT(io::Clock::now(), limit);
      for (const auto& fabric : fabrics_) {
        fabric->receive(io::Clock::now());
        fabric->flush(io::Clock::now());
      }
    }
  }

  std::vector<std::unique_ptr<Fabric>> fabrics_;
  MemoryNotices notices_;
};

TEST_F(MemoryOfTwo, ADeviceWithoutRightsIsInTheLogOnceAPeerIsReachedByTcp) {
  open(&no_right);
  EXPECT_THAT(lines(), IsEmpty()) << "shared memory may do";
  connect();
  const std::string why =
      "RDMA: cannot open mlx5_0 (Permission denied): give this user the right to read and write "
      "/dev/infiniband/uverbs* (with systemd also PrivateDevices=no), or set fabric = \"tcp\"";
  EXPECT_THAT(lines(), ElementsAre(why));
  EXPECT_THAT(lines(), IsEmpty()) << "once";
  EXPECT_THAT(memory_text(memory_state(*fabrics_[0]), names()), HasSubstr("; " + why));
}

TEST_F(MemoryOfTwo, AMachineWithoutADeviceIsInTheStatusOnly) {
  open(&no_device);
  connect();
  EXPECT_THAT(lines(), IsEmpty());
  EXPECT_THAT(memory_text(memory_state(*fabrics_[0]), names()),
              HasSubstr("; RDMA: this machine has no RDMA device"));
}

// ---- the status ----

io::fabric::PeerStatus reached(std::uint32_t node, Kind kind, std::string problem = {}) {
  io::fabric::PeerStatus peer;
  peer.node = {node};
  peer.kind = kind;
  peer.problem = std::move(problem);
  return peer;
}

TEST(MemoryText, SaysWhyRdmaIsNotUsedIfItWouldBeFaster) {
  MemoryState state;
  state.peers = {reached(1, Kind::shm), reached(2, Kind::tcp)};
  state.verbs_problem =
      io::fabric::device_failure_text("lock 4096 bytes of memory", ENOMEM, 65'536);
  EXPECT_EQ(memory_text(state, names()),
            "a shm, b tcp; RDMA: cannot lock 4096 bytes of memory (Cannot allocate memory), "
            "RLIMIT_MEMLOCK is 65536: raise that (ulimit -l, or LimitMEMLOCK of systemd), or lower "
            "`slots`, or set fabric = \"tcp\"");
  state.peers[1].kind = Kind::shm;
  EXPECT_EQ(memory_text(state, names()), "a shm, b shm");
}

TEST(MemoryText, SaysWhyAPeerIsNotReachedBySharedMemory) {
  MemoryState state;
  state.peers = {reached(2, Kind::tcp, "node 2 at /x: no")};
  state.problem = "no shared memory: /y";
  EXPECT_EQ(memory_text(state, names()), "b tcp (node 2 at /x: no); no shared memory: /y");
}

}  // namespace
}  // namespace peal::runtime
