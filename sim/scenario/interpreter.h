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
#include "sim/scenario/tokenizer.h"
#include "sim/scenario/transcript.h"
#include "sim/world/world.h"

// Executes a script line by line, with one method per command. Each method first parses its words,
// and acts only if `acting` returns true. So the same code can check a script without running it.

namespace peal::sim {

class Interpreter final : public Watcher {
 public:
  Interpreter(const Script& script, const RunOptions& options, bool checking);
  ~Interpreter() override;

  Outcome run();
  std::vector<std::string> last_events() const;

  // Watcher
  void on_send(const Packet& packet, MemberId from) override;
  void on_event(MemberId who, const order::Event& event) override;

 private:
  using Handler = void (Interpreter::*)(Tokenizer&);
  struct Verb {
    std::string_view name;
    Handler handler;
  };
  static const std::vector<Verb>& verbs();

  /// The packet that an `on packet` or a `run until packet` line waits for.
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
    const order::EventKind* kind = nullptr;
  };
  struct Trigger {
    std::optional<PacketPattern> packet;
    EventPattern event;
    std::uint64_t remaining = 1;  ///< matches left until it fires
    Duration after{};
    std::string line;
    std::uint32_t number = 0;
  };
  /// Counters of one node at the last mark.
  struct Baseline {
    std::uint32_t incarnation = 0;
    std::uint64_t views = 0;
    std::vector<std::uint64_t> counters;
    std::map<const order::EventKind*, std::uint64_t> events;
  };

  // Running lines (interpreter.cc).
  void run_line(const Script::Line& line);
  void run_text(const std::string& text, std::uint32_t number);
  bool acting(Tokenizer& words);
  void fail(const std::string& text);
  void note_plain(const std::string& text);
  void advance(Instant limit);
  /// Steps until `met` returns true, or until `limit`; false if `met` never did.
  bool advance_until(Instant limit, const std::function<bool()>& met);
  bool stopped() const;
  Instant now() const { return world_->now(); }
  Duration patience() const;
  std::string where() const;

  // Cluster and time (interpreter_cluster.cc, interpreter_run.cc).
  void do_cluster(Tokenizer& words);
  void read_cluster_keys(Tokenizer& words, WorldOptions& options);
  void read_acceptor_keys(Tokenizer& words, WorldOptions& options);
  void build(const WorldOptions& options, bool start_all);
  void do_run(Tokenizer& words);
  void run_until(Tokenizer& words);
  void until_installed(Tokenizer& words);
  void until_delivered(Tokenizer& words);
  void until_idle(Tokenizer& words);
  void until_event(Tokenizer& words);
  void until_packet(Tokenizer& words);
  Instant read_limit(Tokenizer& words);
  void do_mark(Tokenizer& words);
  void do_on(Tokenizer& words);
  void do_transcript(Tokenizer& words);
  void do_settle(Tokenizer& words);
  void report_tables();

  // Nodes and applications (interpreter_nodes.cc).
  void do_start(Tokenizer& words);
  void do_crash(Tokenizer& words);
  void do_pause(Tokenizer& words);
  void do_leave(Tokenizer& words);
  void do_list(Tokenizer& words);
  void do_slow(Tokenizer& words);
  void do_application(Tokenizer& words);
  void do_disk(Tokenizer& words);
  static void do_to_folder(NodeLog& folder, std::string_view what, Duration time);
  void do_clock(Tokenizer& words);
  void do_submit(Tokenizer& words);
  void do_load(Tokenizer& words);
  Service take_service(Tokenizer& words);

  // Clients of groups (interpreter_groups.cc).
  void do_client(Tokenizer& words);
  void client_sends(Tokenizer& words, const std::vector<NodeId>& nodes,
                    const std::vector<std::string>& clients);
  void expect_group(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_client(Tokenizer& words, const std::vector<NodeId>& nodes);

  // Network (interpreter_network.cc).
  void read_conditions(Tokenizer& words, Conditions& conditions);
  void do_network(Tokenizer& words);
  void do_link(Tokenizer& words);
  void do_mtu(Tokenizer& words);
  void do_cut(Tokenizer& words);
  void do_move(Tokenizer& words);
  void do_deaf(Tokenizer& words);
  void do_mute(Tokenizer& words);
  void cut_off(Tokenizer& words, bool deaf);
  void do_heal(Tokenizer& words);
  void do_split(Tokenizer& words);
  void do_flap(Tokenizer& words);
  void do_drop(Tokenizer& words);
  void do_delay(Tokenizer& words);
  void do_duplicate(Tokenizer& words);
  void do_hold(Tokenizer& words);
  void do_release(Tokenizer& words);
  void add_rule(Tokenizer& words, Rule::Act act);
  void do_clear(Tokenizer& words);
  void do_target(Tokenizer& words);
  void do_inject(Tokenizer& words);
  void do_replay(Tokenizer& words);
  std::optional<PacketKind> read_kind(Tokenizer& words, std::string_view key);
  PacketPattern read_packet_pattern(Tokenizer& words);
  EventPattern read_event_pattern(Tokenizer& words);
  bool matches(const PacketPattern& pattern, const Packet& packet) const;
  bool matches(const EventPattern& pattern, MemberId who, const order::Event& event) const;
  void fire(Trigger& trigger);

  // Expectations (interpreter_expect.cc).
  void do_expect(Tokenizer& words);
  void expect_nodes(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_install(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_headway(Tokenizer& words);
  void expect_view(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_same_deliveries(const std::vector<NodeId>& nodes);
  void expect_delivers(Tokenizer& words, const std::vector<NodeId>& nodes, bool wanted);
  void expect_delivered_count(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_state(Tokenizer& words, const std::vector<NodeId>& nodes);
  void expect_no_view_change(Tokenizer& words);
  void expect_compared(Tokenizer& words, const std::string& what, NodeId node,
                       const std::function<std::optional<std::uint64_t>()>& value);
  void expect_counter(Tokenizer& words, bool since_mark);
  void expect_packets(Tokenizer& words);
  void expect_violation(Tokenizer& words);
  void expect_transcript(Tokenizer& words);
  bool compare(const std::string& op, std::uint64_t left, std::uint64_t right);
  std::vector<const trace::Event*> deliveries_of(const Process& process) const;
  std::optional<std::uint64_t> counter(NodeId node, std::string_view name) const;
  void set_marks();

  const Script& script_;
  RunOptions options_;
  const bool checking_;
  WorldOptions world_options_;
  bool clustered_ = false;
  std::unique_ptr<HistoryRecorder> recorder_;
  std::unique_ptr<World> world_;
  std::unique_ptr<Targets> targets_;
  Transcript transcript_;
  bool transcribing_ = false;
  std::vector<Trigger> triggers_;
  std::vector<Baseline> marks_;                                        ///< by node
  std::array<std::vector<std::uint64_t>, kPacketKinds> packets_from_;  ///< since mark, by node
  std::vector<std::size_t> install_cursor_;          ///< by node: next event to check
  std::function<void(const Packet&)> packet_probe_;  ///< set during a `run until`
  std::function<void(MemberId, const order::Event&)> event_probe_;
  std::uint32_t era_ = 0;  ///< actions planned in an earlier era are cancelled
  bool expects_violation_ = false;
  bool expects_failure_ = false;  ///< the script wants an unmet expectation
  std::vector<std::string> wanted_violations_;
  std::optional<std::vector<std::string>> transcript_block_;  ///< the transcript being read
  std::uint32_t transcript_line_ = 0;
  std::uint32_t line_ = 0;             ///< number of the running line
  std::optional<Instant> settled_at_;  ///< when `settle` left the cluster idle
  Instant plain_at_{};                 ///< time of the last line written to RunOptions::plain
  Outcome outcome_;
};

/// The event with this name, as `expect` and `on event` use it; null if no engine has it.
const order::EventKind* event_of_name(std::string_view name);

}  // namespace peal::sim
