// SPDX-License-Identifier: Apache-2.0
// A chat room in which everybody reads the same lines in the same order. Run it in up to three
// terminals, as `embedded a`, `embedded b` and `embedded c`, and type.

#include <peal/member.h>

#include <iostream>
#include <thread>

int main(int argc, char** argv) {
  peal::Config config;
  config.cluster = "chat";
  config.name = argc > 1 ? argv[1] : "a";
  config.insecure = true;  // the network stays on this machine; otherwise set key_file, which `peal
                           // keygen` creates
  config.nodes = {{"a", "127.0.0.1:4800"}, {"b", "127.0.0.1:4802"}, {"c", "127.0.0.1:4804"}};
  // config.order = peal::Paxos{.data_dir = "/var/lib/chat"};  // else the ring
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
