// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/plan.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/bench/clock.h"

namespace peal::cli {
namespace {

using PlanJson = nlohmann::json;

bool write_file(const std::string& path, const PlanJson& content) {
  std::ofstream out(path, std::ios::trunc);
  out << content.dump();
  out.close();
  return static_cast<bool>(out);
}

PlanJson read_file(const std::string& path) {
  std::ifstream in(path);
  return in ? PlanJson::parse(in, nullptr, false) : PlanJson();
}

PlanJson json_of(const BenchLatency& latency) {
  PlanJson out = {
      {"min_ns", latency.min_ns}, {"max_ns", latency.max_ns}, {"counts", PlanJson::array()}};
  const auto& counts = latency.ns.counts();
  for (std::size_t bucket = 0; bucket < counts.size(); ++bucket) {
    if (counts[bucket] > 0) out["counts"].push_back({bucket, counts[bucket]});
  }
  return out;
}

BenchLatency latency_of(const PlanJson& in) {
  BenchLatency latency;
  latency.min_ns = in.at("min_ns").get<std::uint64_t>();
  latency.max_ns = in.at("max_ns").get<std::uint64_t>();
  for (const PlanJson& bucket : in.at("counts")) {
    latency.ns.add_bucket(bucket.at(0).get<std::uint32_t>(), bucket.at(1).get<std::uint64_t>());
  }
  return latency;
}

BenchView view_of(const PlanJson& in) {
  BenchView view;
  view.id = in.at(0).get<std::string>();
  view.digest.value = in.at(1).get<std::uint64_t>();
  view.digest.messages = in.at(2).get<std::uint64_t>();
  view.unplaced_digest = in.at(3).get<std::uint64_t>();
  view.unplaced_messages = in.at(4).get<std::uint64_t>();
  return view;
}

PlanJson json_of(const LimitPhase& phase) {
  return {{"packets_sent", phase.packets_sent},
          {"packets_received", phase.packets_received},
          {"packets_lost", phase.packets_lost},
          {"cpu_s", phase.cpu_s}};
}

LimitPhase phase_of(const PlanJson& in) {
  return {in.at("packets_sent").get<std::uint64_t>(),
          in.at("packets_received").get<std::uint64_t>(),
          in.at("packets_lost").get<std::uint64_t>(), in.at("cpu_s").get<double>()};
}

}  // namespace

std::uint64_t messages_under_way(const BenchCommand& command) {
  if (command.under_way) return *command.under_way;
  return std::clamp<std::uint64_t>((1U << 20) / command.payload_bytes, 16, 8'192);
}

std::uint32_t senders_of(const BenchPlan& plan) {
  return plan.senders == BenchSenders::all ? plan.nodes : 1;
}

BenchRole role_of(const BenchPlan& plan, std::uint32_t index) {
  BenchRole role;
  const std::uint32_t inside = plan.nodes - (plan.outside ? 1 : 0);
  role.domain_nodes = inside / plan.domains;
  const bool is_outside = index >= inside;
  role.domain = is_outside ? 0 : index / role.domain_nodes + 1;
  const std::uint32_t last = plan.nodes - 1;
  const std::uint32_t sender = plan.senders == BenchSenders::last ? last : 0;
  role.sends = plan.senders == BenchSenders::all || index == sender;
  // A node outside is told nothing, so it has to know by itself.
  const bool outside_sends = plan.outside && plan.senders != BenchSenders::first;
  role.starts = index == (outside_sends ? last : sender);
  const std::uint32_t rank = outside_sends ? (is_outside ? 0 : index + 1) : index;
  role.polls = plan.poll && rank < *plan.poll;
  return role;
}

void BenchLatency::add(std::uint64_t value) {
  ns.add(value);
  min_ns = std::min(min_ns, value);
  max_ns = std::max(max_ns, value);
}

void BenchLatency::add(const BenchLatency& other) {
  const auto& counts = other.ns.counts();
  for (std::uint32_t bucket = 0; bucket < counts.size(); ++bucket) {
    ns.add_bucket(bucket, counts[bucket]);
  }
  min_ns = std::min(min_ns, other.min_ns);
  max_ns = std::max(max_ns, other.max_ns);
}

void BenchView::add(std::string_view sender, std::uint64_t number, bool has_place,
                    ByteView payload) {
  if (has_place) return digest.add(sender, number, payload);
  daemon::OrderDigest single;
  single.add(sender, number, payload);
  unplaced_digest += single.value;
  ++unplaced_messages;
}

bool write_plan(const std::string& dir, const BenchPlan& plan) {
  return write_file(dir + "/plan.json", {{"limit", plan.limit},
                                         {"own_thread", plan.own_thread},
                                         {"daemon", plan.daemon},
                                         {"nodes", plan.nodes},
                                         {"domains", plan.domains},
                                         {"outside", plan.outside},
                                         {"senders", static_cast<int>(plan.senders)},
                                         {"poll", plan.poll ? PlanJson(*plan.poll) : PlanJson()},
                                         {"payload_bytes", plan.payload_bytes},
                                         {"service", static_cast<int>(plan.service)},
                                         {"rate", plan.rate},
                                         {"under_way", plan.under_way},
                                         {"loss", plan.loss},
                                         {"warm_up_s", plan.warm_up_s},
                                         {"seconds", plan.seconds}});
}

std::optional<BenchPlan> read_plan(const std::string& dir) {
  const PlanJson in = read_file(dir + "/plan.json");
  if (!in.is_object()) return std::nullopt;
  BenchPlan plan;
  plan.limit = in.at("limit").get<bool>();
  plan.own_thread = in.at("own_thread").get<bool>();
  plan.daemon = in.at("daemon").get<bool>();
  plan.nodes = in.at("nodes").get<std::uint32_t>();
  plan.domains = in.at("domains").get<std::uint32_t>();
  plan.outside = in.at("outside").get<bool>();
  plan.senders = static_cast<BenchSenders>(in.at("senders").get<int>());
  if (!in.at("poll").is_null()) plan.poll = in.at("poll").get<std::uint32_t>();
  plan.payload_bytes = in.at("payload_bytes").get<std::uint32_t>();
  plan.service = static_cast<Service>(in.at("service").get<int>());
  plan.rate = in.at("rate").get<double>();
  plan.under_way = in.at("under_way").get<std::uint64_t>();
  plan.loss = in.at("loss").get<double>();
  plan.warm_up_s = in.at("warm_up_s").get<double>();
  plan.seconds = in.at("seconds").get<double>();
  return plan;
}

bool write_result(const std::string& dir, const std::string& name, const BenchResult& result) {
  const auto view = [](const BenchView& of) {
    return PlanJson::array(
        {of.id, of.digest.value, of.digest.messages, of.unplaced_digest, of.unplaced_messages});
  };
  PlanJson out = {{"problem", result.problem},
                  {"domain", result.domain},
                  {"due", result.due},
                  {"sent", result.sent},
                  {"delivered", result.delivered},
                  {"delivered_bytes", result.delivered_bytes},
                  {"cpu_s", result.cpu_s},
                  {"latency", json_of(result.latency)},
                  {"early", json_of(result.early)},
                  {"own", json_of(result.own)},
                  {"all", view(result.all)},
                  {"views", PlanJson::array()},
                  {"counters", result.counters},
                  {"gauges", result.gauges}};
  for (const BenchView& each : result.views) out["views"].push_back(view(each));
  return write_file(dir + "/" + name + ".json", out);
}

void wait_for_results(const std::string& dir, const std::vector<config::NodeEntry>& nodes,
                      const std::function<void(std::int64_t until_ns)>& wait) {
  constexpr std::int64_t kMost = 5 * kSecondNs;
  constexpr std::int64_t kStep = kSecondNs / 200;
  const auto written = [&](const config::NodeEntry& node) {
    return ::access((dir + "/" + node.name + ".json").c_str(), F_OK) == 0;
  };
  const std::int64_t end = now_ns() + kMost;
  while (now_ns() < end && !std::all_of(nodes.begin(), nodes.end(), written)) {
    wait(now_ns() + kStep);
  }
}

std::optional<BenchResult> read_result(const std::string& dir, const std::string& name) {
  const PlanJson in = read_file(dir + "/" + name + ".json");
  if (!in.is_object()) return std::nullopt;
  BenchResult result;
  result.problem = in.at("problem").get<std::string>();
  result.due = in.at("due").get<std::uint64_t>();
  result.sent = in.at("sent").get<std::uint64_t>();
  result.delivered = in.at("delivered").get<std::uint64_t>();
  result.delivered_bytes = in.at("delivered_bytes").get<std::uint64_t>();
  result.cpu_s = in.at("cpu_s").get<double>();
  result.latency = latency_of(in.at("latency"));
  result.early = latency_of(in.at("early"));
  result.own = latency_of(in.at("own"));
  result.domain = in.at("domain").get<std::uint32_t>();
  result.all = view_of(in.at("all"));
  for (const PlanJson& view : in.at("views")) result.views.push_back(view_of(view));
  result.counters = in.at("counters").get<std::map<std::string, std::uint64_t>>();
  result.gauges = in.at("gauges").get<std::map<std::string, std::uint64_t>>();
  return result;
}

bool write_limit_result(const std::string& dir, const std::string& name,
                        const LimitResult& result) {
  return write_file(dir + "/" + name + ".json", {{"problem", result.problem},
                                                 {"packet_bytes", result.packet_bytes},
                                                 {"one", json_of(result.one)},
                                                 {"all", json_of(result.all)},
                                                 {"round_trip", json_of(result.round_trip)}});
}

std::optional<LimitResult> read_limit_result(const std::string& dir, const std::string& name) {
  const PlanJson in = read_file(dir + "/" + name + ".json");
  if (!in.is_object()) return std::nullopt;
  LimitResult result;
  result.problem = in.at("problem").get<std::string>();
  result.packet_bytes = in.at("packet_bytes").get<std::uint32_t>();
  result.one = phase_of(in.at("one"));
  result.all = phase_of(in.at("all"));
  result.round_trip = latency_of(in.at("round_trip"));
  return result;
}

}  // namespace peal::cli
