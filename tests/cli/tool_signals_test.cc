// SPDX-License-Identifier: Apache-2.0
// How commands of the tool end on SIGINT and SIGTERM.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <csignal>
#include <cstring>

#include "io/fd.h"
#include "tool.h"

namespace peal::cli {
namespace {

class ToolSignals : public Tool {
 protected:
  /// Sends `signal` to the newest command. Returns its exit status, or -1 if the signal killed it.
  int end(int signal) {
    children_.back().signal(signal);
    children_.back().wait();
    return children_.back().status();
  }
  std::string socket() const { return dir_ + "/n1.sock"; }
};

TEST_F(ToolSignals, RecvEndsWell) {
  up({"--nodes", "1"});
  wait_for("members=1");
  for (const int signal : {SIGINT, SIGTERM}) {
    start({"recv", "--to", socket(), "--views"}, std::to_string(signal));
    const std::string file = "$DIR/" + std::to_string(signal);
    ASSERT_EQ(run("timeout 20 tail -n +1 -F " + file + " | head -n 1").status, 0);
    EXPECT_EQ(end(signal), 0);
  }
}

TEST_F(ToolSignals, SendSaysHowMuchWasDelivered) {
  up({"--nodes", "1"});
  wait_for("members=1");
  const std::string pipe = dir_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  start({"send", "--to", socket(), pipe}, "sent");
  const io::Fd in(::open(pipe.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::write(in.get(), "a\nb\n", 4), 4);
  wait_for("delivered=2");
  EXPECT_EQ(end(SIGINT), 1);
  EXPECT_EQ(content(dir_ + "/sent"),
            "peal: send: interrupted; 2 of 2 messages were delivered in order\n");
}

TEST_F(ToolSignals, WhoWaitsForSomebodyEndsAtOnce) {
  const io::Fd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket().c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  for (const char* command : {"recv", "send"}) {
    start({command, "--to", socket()}, command);
    const io::Fd connection(::accept(listener.get(), nullptr, nullptr));
    ASSERT_TRUE(connection);
    EXPECT_EQ(end(SIGINT), -1);
    EXPECT_EQ(content(dir_ + "/" + command), "") << "it waited for the node";
  }
}

}  // namespace
}  // namespace peal::cli
