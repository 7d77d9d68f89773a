// SPDX-License-Identifier: Apache-2.0
// Writes the seeds of fuzz_session_client: the output of a daemon in several kinds of
// conversations.

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "model_daemon.h"
#include "seeds.h"
#include "shared_page.h"

namespace {

using Bytes = std::vector<std::byte>;
using peal::client::test::ModelDaemon;
namespace wire = peal::wire;

Bytes greeting(ModelDaemon& daemon) {
  Bytes hello;
  append(hello, wire::Hello{});
  daemon.received(hello);
  return daemon.said();
}

void add(Bytes& to, const Bytes& more) { to.insert(to.end(), more.begin(), more.end()); }

/// Splits conversations into pieces, in the form that fuzz_session_client reads. Between two
/// conversations, the connection breaks.
Bytes pieces(const std::vector<Bytes>& talks) {
  constexpr std::size_t kPiece = 200;
  Bytes out;
  for (const Bytes& talk : talks) {
    if (!out.empty()) out.push_back(std::byte{0});
    for (std::size_t at = 0; at < talk.size(); at += kPiece) {
      const std::size_t bytes = std::min(kPiece, talk.size() - at);
      out.push_back(static_cast<std::byte>(bytes));
      const auto from = talk.begin() + static_cast<std::ptrdiff_t>(at);
      out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(bytes));
    }
  }
  return out;
}

Bytes views() {
  wire::GroupViewEvent view;
  view.group = "chat";
  view.cause = wire::ViewCause::network;
  view.own_set = 1;
  view.members.push_back({"#ada#n1", 1});
  Bytes out;
  append(out, view);
  append(out, wire::RecordKind::transitional, wire::GroupEvent{"chat"});
  append(out, wire::RecordKind::left, wire::GroupEvent{"chat"});
  append(out, wire::Reply{1, wire::ClientCode::ok, ""});
  append(out, wire::Refused{1, wire::ClientCode::too_large, "no"});
  return out;
}

bool write_all(peal::fuzz::Folder folder) {
  ModelDaemon daemon;
  const Bytes welcome = greeting(daemon);
  bool fine = folder.write("welcome", pieces({welcome}));
  daemon.tell("a");
  daemon.tell("b");
  Bytes messages = welcome;
  add(messages, daemon.said());
  fine = folder.write("messages", pieces({messages})) && fine;

  wire::Welcome back = daemon.limits;
  back.resumed = true;
  back.events_next = 3;
  Bytes resumed;
  append(resumed, back);
  append(resumed, wire::RecordKind::acked, wire::Acked{0});
  fine = folder.write("resumed", pieces({messages, resumed})) && fine;

  ModelDaemon sharing;
  const peal::fuzz::SharedPage page;
  sharing.limits.shared_bytes = peal::fuzz::SharedPage::kBytes;
  Bytes shared = greeting(sharing);
  append(shared, page.event());
  append(shared, page.event());
  append(shared, page.other());
  fine = folder.write("shared", pieces({shared})) && fine;

  Bytes closing = welcome;
  daemon.close(wire::ClientCode::evicted, "enough");
  add(closing, daemon.said());
  fine = folder.write("closing", pieces({closing})) && fine;
  Bytes all = welcome;
  add(all, views());
  return folder.write("views", pieces({all})) && fine;
}

}  // namespace

int main(int count, char** arguments) {
  return peal::fuzz::seeds_main("session_client_seeds", count, arguments, write_all);
}
