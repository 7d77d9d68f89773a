// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.h"
#include "sim/scenario/targets.h"
#include "sim/scenario/transcript.h"
#include "sim/scenario/words.h"
#include "sim/world/world.h"

// Carries out a script line by line. One method per command; each first reads its words, and acts
// only if `acting` says so, so that the same code checks a script without running it.

namespace peal::sim {

class Stage final : public Watcher {
 public:
  Stage(const Script& script, const RunOptions& options, bool checking);
  ~Stage() override;

  Outcome run();
  std::vector<std::string> last_events() const;

  // Watcher
  void on_send(const Packet& packet, MemberId from) override;
  void on_event(MemberId who, const order::Event& event) override;

 private:
  using Handler = void (Stage::*)(Words&);
  struct Verb {
    std::string_view name;
    Handler handler;
  };
  static const std::vector<Verb>& verbs();

  /// What a `on packet` or a `run until packet` line waits for.
  struct PacketPattern {
    std::optional<PacketKind> kind;
    std::vector<NodeId> from, to;
    std::optional<std::uint32_t> phase;
    std::optional<Seq> seq;
    bool recovering = false;
    bool view = false;
  };
  struct EventPattern {
    std::vector<NodeId> nodes;
    order::EventCode code{};
  };
  struct Trigger {
    std::optional<PacketPattern> packet;
    EventPattern event;
    std::uint64_t remaining = 1;  ///< matches until it acts
    Duration after{};
    std::string line;
    std::uint32_t number = 0;
  };
  /// Counts of one node since the last mark.
  struct Baseline {
    std::uint32_t incarnation = 0;
    std::uint64_t views = 0;
    std::vector<std::uint64_t> counters;
    std::array<std::uint64_t, 32> events{};
  };

  // Running lines (stage.cc).
  void run_line(const Script::Line& line);
  void run_text(const std::string& text, std::uint32_t number);
  bool acting(Words& words);
  void fail(const std::string& text);
  void note_plain(const std::string& text);
  void advance(Instant limit);
  /// Steps until `met`, at most to `limit`; false if it never was.
  bool advance_until(Instant limit, const std::function<bool()>& met);
  bool stopped() const;
  Instant now() const { return world_->now(); }
  Duration patience() const;
  std::string where() const;

  // Cluster and time (stage_cluster.cc, stage_run.cc).
  void do_cluster(Words& words);
  void read_cluster_keys(Words& words, WorldOptions& options);
  void read_paxos_keys(Words& words, WorldOptions& options);
  void build(const WorldOptions& options, bool start_all);
  void do_run(Words& words);
  void run_until(Words& words);
  void until_installed(Words& words);
  void until_delivered(Words& words);
  void until_idle(Words& words);
  void until_event(Words& words);
  void until_packet(Words& words);
  Instant read_limit(Words& words);
  void do_mark(Words& words);
  void do_on(Words& words);
  void do_transcript(Words& words);
  void do_settle(Words& words);
  void report_tables();

  // Nodes and applications (stage_nodes.cc).
  void do_start(Words& words);
  void do_crash(Words& words);
  void do_pause(Words& words);
  void do_leave(Words& words);
  void do_list(Words& words);
  void do_slow(Words& words);
  void do_application(Words& words);
  void do_disk(Words& words);
  static void do_to_folder(NodeLog& folder, std::string_view what, Duration time);
  void do_clock(Words& words);
  void do_submit(Words& words);
  void do_load(Words& words);
  Service take_service(Words& words);

  // Clients of groups (stage_groups.cc).
  void do_client(Words& words);
  void client_sends(Words& words, const std::vector<NodeId>& nodes,
                    const std::vector<std::string>& clients);
  void expect_group(Words& words, const std::vector<NodeId>& nodes);
  void expect_client(Words& words, const std::vector<NodeId>& nodes);

  // Network (stage_network.cc).
  void read_conditions(Words& words, Conditions& conditions);
  void do_network(Words& words);
  void do_link(Words& words);
  void do_mtu(Words& words);
  void do_cut(Words& words);
  void do_move(Words& words);
  void do_deaf(Words& words);
  void do_mute(Words& words);
  void cut_off(Words& words, bool deaf);
  void do_heal(Words& words);
  void do_split(Words& words);
  void do_flap(Words& words);
  void do_drop(Words& words);
  void do_delay(Words& words);
  void do_duplicate(Words& words);
  void do_hold(Words& words);
  void do_release(Words& words);
  void add_rule(Words& words, Rule::Act act);
  void do_clear(Words& words);
  void do_target(Words& words);
  void do_inject(Words& words);
  void do_replay(Words& words);
  std::optional<PacketKind> read_kind(Words& words, std::string_view key);
  PacketPattern read_packet_pattern(Words& words);
  EventPattern read_event_pattern(Words& words);
  bool matches(const PacketPattern& pattern, const Packet& packet) const;
  bool matches(const EventPattern& pattern, MemberId who, const order::Event& event) const;
  void fire(Trigger& trigger);

  // Expectations (stage_expect.cc).
  void do_expect(Words& words);
  void expect_nodes(Words& words, const std::vector<NodeId>& nodes);
  void expect_install(Words& words, const std::vector<NodeId>& nodes);
  void expect_headway(Words& words);
  void expect_view(Words& words, const std::vector<NodeId>& nodes);
  void expect_same_deliveries(const std::vector<NodeId>& nodes);
  void expect_delivers(Words& words, const std::vector<NodeId>& nodes, bool wanted);
  void expect_delivered_count(Words& words, const std::vector<NodeId>& nodes);
  void expect_state(Words& words, const std::vector<NodeId>& nodes);
  void expect_no_view_change(Words& words);
  void expect_compared(Words& words, const std::string& what, NodeId node,
                       const std::function<std::optional<std::uint64_t>()>& value);
  void expect_counter(Words& words, bool since_mark);
  void expect_packets(Words& words);
  void expect_violation(Words& words);
  void expect_transcript(Words& words);
  bool compare(const std::string& op, std::uint64_t left, std::uint64_t right);
  std::vector<const trace::Event*> deliveries_of(const Process& process) const;
  std::optional<std::uint64_t> counter(NodeId node, std::string_view name) const;
  void set_marks();

  const Script& script_;
  RunOptions options_;
  const bool checking_;
  WorldOptions world_options_;
  bool clustered_ = false;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Targets> targets_;
  Transcript transcript_;
  bool transcribing_ = false;
  std::vector<Trigger> triggers_;
  std::vector<Baseline> marks_;                                        ///< by node
  std::array<std::vector<std::uint64_t>, kPacketKinds> packets_from_;  ///< since mark, by node
  std::vector<std::size_t> install_cursor_;          ///< by node: events looked at
  std::function<void(const Packet&)> packet_probe_;  ///< of a running `run until`
  std::function<void(MemberId, const order::Event&)> event_probe_;
  std::uint32_t era_ = 0;  ///< what was planned in an earlier one is off
  bool expects_violation_ = false;
  bool expects_failure_ = false;  ///< that an expectation is not met
  std::vector<std::string> wanted_violations_;
  std::optional<std::vector<std::string>> transcript_block_;  ///< being read
  std::uint32_t transcript_line_ = 0;
  std::uint32_t line_ = 0;             ///< being carried out
  std::optional<Instant> settled_at_;  ///< when `settle` left everything at rest
  Instant plain_at_{};                 ///< time of the last line of `plain`
  Outcome outcome_;
};

/// The events by name, as `expect` and `on event` use them.
std::optional<order::EventCode> event_of_name(std::string_view name);

}  // namespace peal::sim
