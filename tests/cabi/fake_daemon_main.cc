// SPDX-License-Identifier: Apache-2.0
// A daemon for tests in other languages. It prints its address and obeys the lines that it reads.
// "tell TEXT" sends a message to the client. "gap GROUP" sends the event of a gap in GROUP. "cut"
// ends the connection. "mute" stops all answers and acknowledgements. "causal": from now on, fifo
// and causal messages have no place. The daemon exits at the end of its input.

#include <iostream>
#include <string>

#include "fake_daemon.h"

int main() {
  peal::client::test::FakeDaemon daemon;
  std::cout << daemon.path() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "cut") daemon.cut();
    if (line == "mute") {
      daemon.with([](auto& model) { model.answers = model.echoes = false; });
    }
    if (line == "causal") daemon.with([](auto& model) { model.causal = true; });
    if (line.starts_with("tell ")) {
      daemon.with([&](auto& model) { model.tell(line.substr(5)); });
    }
    if (line.starts_with("gap ")) {
      daemon.with([&](auto& model) { model.tell_gap(line.substr(4)); });
    }
    std::cout << "done" << std::endl;
  }
}
