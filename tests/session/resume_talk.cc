// SPDX-License-Identifier: Apache-2.0
#include "resume_talk.h"

#include <algorithm>

namespace peal::session::test {
namespace {

constexpr std::size_t kEndless = std::size_t{1} << 40;

void limit(Client& x, std::size_t input, std::size_t output) {
  auto& pipe = x.daemon.pipe(x.connection);
  pipe.input_left = std::min(input, kEndless);
  pipe.output_left = std::min(output, kEndless);
}

/// Client x reads all input, and reconnects if its connection is cut.
void turn(Talk& talk, Client& x, Client& y, const Cut& cut) {
  const auto read = [&] {
    for (std::string& text : x.take()) {
      if (text.rfind("refused", 0) == 0) talk.refused.insert(text);
      if (text.rfind("message", 0) == 0 || text.rfind("gap", 0) == 0) {
        talk.events.push_back(std::move(text));
      }
    }
    for (std::string& text : y.take_events()) talk.observed.push_back(std::move(text));
  };
  x.daemon.run();
  read();
  x.daemon.run();
  while (x.daemon.pipe(x.connection).is_cut()) {
    ++talk.cuts;
    x.cut();
    x.shares = cut.shares_again;
    // The daemon continues while x has no connection.
    x.daemon.run();
    x.connect();
    if (talk.cuts == 1) {
      limit(x, cut.again_input, cut.again_output);
    }
    x.daemon.run();
    read();
    if (!x.welcome) continue;
    x.send_again();
    x.daemon.run();
    read();
  }
}

}  // namespace

Talk talk(const Cut& cut) {
  Talk talk;
  Daemon daemon;
  Client x(daemon, "x"), y(daemon, "y");
  x.shares = cut.shares;
  // Only large events are in shared memory.
  const std::string rest(cut.shares ? 600 : 0, '.');
  for (Client* each : {&x, &y}) {
    each->connect();
    each->join("g");
    daemon.run();
    each->take();
    daemon.run();
  }
  x.take();
  daemon.run();
  x.take();
  y.take();
  daemon.run();
  limit(x, cut.input, cut.output);
  for (int round = 0; round < 3; ++round) {
    const std::string text = std::to_string(round);
    y.send("g", "of y, " + text + rest);
    x.send("g", "first of " + text + rest);
    x.send("#nobody", "refused of " + text);
    x.send("g,#y#n", "safe of " + text + rest, Service::safe);
    turn(talk, x, y, cut);
    y.send("g", "of y, " + text + " again" + rest);
    turn(talk, x, y, cut);
  }
  turn(talk, x, y, cut);
  talk.acked = x.acked;
  talk.shared = x.shared;
  talk.gone = x.gone;
  const auto& pipe = daemon.pipe(x.connection);
  talk.input_bytes = kEndless - pipe.input_left;
  talk.output_bytes = kEndless - pipe.output_left;
  daemon.sessions->check_invariants();
  return talk;
}

bool same(const Talk& a, const Talk& b) {
  return a.events == b.events && a.observed == b.observed && a.refused == b.refused &&
         a.acked == b.acked;
}

}  // namespace peal::session::test
