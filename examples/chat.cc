// SPDX-License-Identifier: Apache-2.0
// A chat: all participants read the same lines in the same order. Usage: chat [SOCKET].

#include <peal/client.h>

#include <iostream>
#include <thread>

int main(int argc, char** argv) {
  peal::ClientOptions options;
  if (argc > 1) options.daemon = argv[1];
  auto client = peal::Client::connect(options);
  if (!client || !client->join("chat")) {
    std::cerr << (client ? "the daemon lets nobody join" : client.error().message) << '\n';
    return 1;
  }
  std::thread typist([&client] {
    bool fine = true;
    for (std::string line; fine && std::getline(std::cin, line);) {
      fine = client->send({"chat"}, line).ok();
    }
    if (!fine || !client->flush() || !client->leave("chat")) std::cerr << "the chat is over\n";
  });
  while (auto event = client->wait(peal::kForever)) {
    if (auto* message = std::get_if<peal::GroupMessage>(&*event)) {
      std::cout << message->sender << ": " << message->text() << std::endl;
    } else if (auto* view = std::get_if<peal::GroupView>(&*event)) {
      std::cout << "-- " << view->members.size() << " here" << std::endl;
    } else if (std::holds_alternative<peal::Left>(*event) ||
               std::holds_alternative<peal::Ended>(*event)) {
      break;
    }
  }
  typist.join();
}
