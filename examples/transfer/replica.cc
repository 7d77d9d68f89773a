// SPDX-License-Identifier: Apache-2.0
#include "replica.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <sstream>

namespace {

constexpr int kTransfers = 1'000;  // of each replica
constexpr int kTransfersPerAudit = 250;
constexpr auto kPatience = std::chrono::seconds(30);  // without any event
constexpr int kUnderWay = 8;                          // transfers of one replica without a place

const std::vector<std::string_view> kBoth = {"east", "west"};

}  // namespace

Replica::Replica(std::string name, peal::Member member)
    : name_(std::move(name)),
      member_(std::move(member)),
      accounts_(bank::shard_of(name_)),
      audits_(kTransfers / kTransfersPerAudit),
      random_(static_cast<std::mt19937::result_type>(std::hash<std::string>()(name_))) {}

std::string Replica::serve(const std::function<bool()>& stop,
                           const std::function<void()>& checked) {
  bool done = false;
  auto last_event = std::chrono::steady_clock::now();
  while (problem_.empty() && !stop()) {
    flush();
    if (const auto event = member_.wait(std::chrono::milliseconds(100))) {
      last_event = std::chrono::steady_clock::now();
      handle(*event);
    } else if (!done && std::chrono::steady_clock::now() - last_event > kPatience) {
      problem_ = "nothing happens; this member waits for " + member_.status().waits_for;
    }
    if (!done && problem_.empty() && audits_.are_complete()) {
      done = true;
      std::cout << name_ + ": all audits are right\n" << std::flush;
      checked();
    }
  }
  if (problem_.empty() && !done) problem_ = "stopped before all audits were complete";
  return problem_.empty() ? problem_ : name_ + ": " + problem_;
}

void Replica::handle(const peal::Event& event) {
  if (const auto* message = std::get_if<peal::Message>(&event)) {
    apply(*message);
  } else if (const auto* view = std::get_if<peal::View>(&event)) {
    take_view(*view);
  } else if (const auto* warning = std::get_if<peal::Warning>(&event)) {
    std::cerr << name_ + ": " + warning->message + "\n";
  } else if (const auto* closed = std::get_if<peal::Closed>(&event)) {
    problem_ = closed->reason;
  }
}

// Views are those of the own shard. Its first view has all three replicas.
void Replica::take_view(const peal::View& view) {
  if (view.transitional) {
    // A replica that comes to the next view without any other one was excluded, and messages were
    // ordered without it. A real replica would now get the state of another one, and go on.
    if (view.members.size() == 1) problem_ = "this replica was excluded";
    return;
  }
  std::cout << name_ + ": " + std::to_string(view.members.size()) + " replicas in the view\n"
            << std::flush;
  for (const std::string& each : bank::kReplicas) {
    if (bank::shard_of(each) != bank::shard_of(name_)) continue;
    const bool here =
        std::any_of(view.members.begin(), view.members.end(),
                    [&each](const std::string& id) { return id.starts_with(each + "."); });
    if (!here) send("lost " + each, kBoth);
  }
  if (transfers_ > 0) return;
  for (int i = 0; i < kUnderWay; ++i) send_transfer();
}

// Applies a message at its place in the order. Its first word says what it is.
void Replica::apply(const peal::Message& message) {
  const std::string sender(message.sender.substr(0, message.sender.find('.')));
  std::istringstream words{std::string(message.text())};
  std::string what;
  words >> what;
  if (what == "transfer") {
    int from = 0, to = 0;
    long amount = 0;
    words >> from >> to >> amount;
    accounts_.transfer(from, to, amount);
    if (message.own) send_transfer();
  } else if (what == "audit") {
    std::string number;
    words >> number;
    send("report " + sender + " " + number + accounts_.balances(), kBoth);
  } else if (what == "report") {
    std::string auditor, balances;
    int number = 0;
    std::getline(words >> auditor >> number, balances);
    problem_ = audits_.report(auditor, number, sender, balances);
  } else if (what == "lost") {
    std::string replica;
    words >> replica;
    audits_.lose(replica);
  }
  if (!words) problem_ = "not understood: " + std::string(message.text());
}

// Sends the next transfer, from an account of this shard to any other one. Only the shards of both
// accounts learn of it. Naming a shard twice is the same as naming it once.
void Replica::send_transfer() {
  if (transfers_ == kTransfers) return;
  const int from = 2 * pick(bank::kAccounts / 2) + (bank::shard_of(name_) == "west" ? 1 : 0);
  const int to = pick(bank::kAccounts);
  send("transfer " + std::to_string(from) + " " + std::to_string(to) + " " +
           std::to_string(pick(100)),
       {bank::shard_of(from), bank::shard_of(to)});
  ++transfers_;
  if (transfers_ % kTransfersPerAudit == 0) {
    send("audit " + std::to_string(transfers_ / kTransfersPerAudit), kBoth);
  }
}

void Replica::send(std::string text, std::vector<std::string_view> shards) {
  waiting_.emplace_back(std::move(text), std::move(shards));
  flush();
}

void Replica::flush() {
  while (!waiting_.empty() && problem_.empty()) {
    const auto& [text, shards] = waiting_.front();
    const auto ticket = member_.multicast(text, peal::Service::agreed, shards);
    if (!ticket && ticket.error().code == peal::ErrorCode::would_block) return;  // events first
    if (!ticket) problem_ = ticket.error().message;
    waiting_.pop_front();
  }
}
