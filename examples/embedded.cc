// SPDX-License-Identifier: Apache-2.0
// A chat: all participants read the same lines in the same order. Run it in up to three terminals,
// as `embedded a`, `embedded b` and `embedded c`, and type lines.

#include <peal/member.h>

#include <iostream>
#include <thread>

int main(int argc, char** argv) {
  peal::Config config;
  config.cluster = "chat";
  config.name = argc > 1 ? argv[1] : "a";
  // The packets stay on this machine. Otherwise set key_file to a file from `peal keygen`.
  config.insecure = true;
  config.nodes = {{"a", "127.0.0.1:4800"}, {"b", "127.0.0.1:4802"}, {"c", "127.0.0.1:4804"}};
  // For Paxos in place of the ring: config.order = peal::Paxos{.data_dir = "/var/lib/chat"};
  auto member = peal::Member::embed(config);
  if (!member) {
    std::cerr << member.error().message << '\n';
    return 1;
  }

  std::thread typist([&member] {
    for (std::string line; std::getline(std::cin, line);) {
      const auto ticket = member->multicast(line, peal::Service::agreed);
      if (!ticket) std::cerr << ticket.error().message << '\n';
    }
    member->leave();
  });
  while (auto event = member->wait(std::chrono::hours(1))) {
    if (const auto* message = std::get_if<peal::Message>(&*event)) {
      std::cout << message->sender << ": " << message->text() << std::endl;
    } else if (const auto* view = std::get_if<peal::View>(&*event)) {
      std::cout << "-- " << view->members.size() << " here" << std::endl;
    } else if (std::holds_alternative<peal::Closed>(*event)) {
      break;
    }
  }
  typist.join();
}
