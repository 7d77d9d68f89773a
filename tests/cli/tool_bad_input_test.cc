// SPDX-License-Identifier: Apache-2.0
// The tool's messages about files, lines and arguments that it cannot use.
#include <netinet/in.h>
#include <sys/socket.h>

#include "io/fd.h"
#include "tool.h"

namespace peal::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class BadInput : public Tool {};

TEST_F(BadInput, PathsAndAddressesThatCannotBeUsedAreNamedWithTheirLine) {
  const auto ports = free_port_pairs(1);
  ASSERT_EQ(ports.size(), 1U);
  const std::string good = "cluster = \"t\"\nnode = \"a\"\ninsecure = true\n";
  const std::string nodes =
      "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:" + std::to_string(ports[0]) + "\"\n";
  write("file", "");
  const std::string in = dir_ + "/c.toml:4: ";
  const std::pair<std::string, std::string> rows[] = {
      {"socket = \"/nonexistent/x/a.sock\"\n",
       in + "socket: \"/nonexistent/x\": accepted is a folder, or a new name in a folder that"},
      {"socket = \"" + dir_ + "\"\n", in + "socket: \"" + dir_ + "\": is there and is no socket"},
      {"socket = \"" + dir_ + "/file\"\n", "is there and is no socket: accepted is a new path"},
      {"trace = \"/nonexistent/t\"\n", in + "trace = \"/nonexistent/t\" (\"/nonexistent\": No"},
      {"trace = \"" + dir_ + "\"\n", "(it is a folder): accepted is a file that can be written"},
      {"trace = \"" + dir_ + "/file/t\"\n", "accepted is a file that can be written"},
      {"data_dir = \"/nonexistent\"\norder = \"paxos\"\n",
       in + "data_dir = \"/nonexistent\" (No such file or directory): accepted is a folder that"},
      {"data_dir = \"" + dir_ + "/file\"\norder = \"paxos\"\n", "(it is not a folder): accepted"},
      {"data_dir = \"/tmp\"\norder = \"paxos\"\n", in + "data_dir = \"/tmp\" ("},
      {"order = \"paxos\"\n", "(or, on all nodes, set paxos.storage = \"memory\")"},
      {"state_dir = \"/nonexistent\"\n", in + "state_dir = \"/nonexistent\" (No such file"},
      {"state_dir = \"" + dir_ + "/file\"\n", "(it is not a folder): accepted is a folder that"},
  };
  for (const auto& [line, what] : rows) {
    SCOPED_TRACE(line);
    write("c.toml", good + line + nodes);
    const Ran ran = run("peal node --config $DIR/c.toml");
    expect_refused(ran.status, ran.err, what);
  }
  write("c.toml", good + nodes);
  const Ran argument = run("peal node --config $DIR/c.toml --trace /nonexistent/t");
  expect_refused(argument.status, argument.err, "peal: node: --trace = \"/nonexistent/t\" (");
  write("c.toml", good + "[[nodes]]\nname = \"a\"\naddress = \"192.0.2.7:4801\"\n");
  const Ran ran = run("peal node --config $DIR/c.toml");
  expect_refused(ran.status, ran.err, dir_ + "/c.toml:6: nodes.address = \"192.0.2.7:4801\"");
}

TEST_F(BadInput, ANodeStartsWithAKeyFileThatItsOwnerAloneCanRead) {
  const auto ports = free_port_pairs(1);
  ASSERT_EQ(ports.size(), 1U);
  const std::string top = "cluster = \"t\"\nnode = \"a\"\n";
  const std::string nodes =
      "[[nodes]]\nname = \"a\"\naddress = \"127.0.0.1:" + std::to_string(ports[0]) + "\"\n";
  ASSERT_EQ(run("peal keygen $DIR/open.key && chmod 640 $DIR/open.key").status, 0);
  ASSERT_EQ(run("peal keygen $DIR/good.key").status, 0);
  write("text.key", "no key\n");
  ASSERT_EQ(run("chmod 600 $DIR/text.key").status, 0);
  const std::string in = dir_ + "/c.toml:3: key_file = \"" + dir_;
  const std::pair<std::string, std::string> rows[] = {
      {"", "c.toml: key_file is missing: accepted is a file of `peal keygen`"},
      {"insecure = false\n", "key_file is missing"},
      {"key_file = \"good.key\"\ninsecure = true\n", "c.toml:4: insecure = true together with"},
      {"key_file = \"none.key\"\n", in + "/none.key\""},
      {"key_file = \"none.key\"\n", "`peal keygen " + dir_ + "/none.key` makes the first one"},
      {"key_file = \"open.key\"\n", in + "/open.key\""},
      {"key_file = \"open.key\"\n", "chmod 600"},
      {"key_file = \"text.key\"\n", "c.toml:3: key_file = " + dir_ + "/text.key:1: "},
      {"insecure = \"yes\"\n", "c.toml:3: insecure = \"yes\": accepted is true or false"},
  };
  for (const auto& [lines, what] : rows) {
    SCOPED_TRACE(lines);
    write("c.toml", top + lines + nodes);
    const Ran ran = run("peal node --config $DIR/c.toml");
    expect_refused(ran.status, ran.err, what);
  }
}

TEST_F(BadInput, APortThatIsTakenIsNamedWithTheRemedy) {
  const auto ports = free_port_pairs(1);
  ASSERT_EQ(ports.size(), 1U);
  const std::string own = "127.0.0.1:" + std::to_string(ports[0]);
  write("c.toml",
        "cluster = \"t\"\nnode = \"a\"\ninsecure = true\norder = \"paxos\"\ndata_dir = \"data\"\n"
        "[[nodes]]\nname = \"a\"\naddress = \"" +
            own + "\"\n[network]\ndata = \"streams\"\n");
  ASSERT_EQ(run("mkdir -m 700 $DIR/data").status, 0);
  const auto above = static_cast<std::uint16_t>(ports[0] + 1);
  const io::Fd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(above);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(::bind(other.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(::listen(other.get(), 1), 0);
  const Ran ran = run("peal node --config $DIR/c.toml");
  expect_refused(
      ran.status, ran.err,
      "c.toml:8: nodes.address = \"" + own + "\": listen at 127.0.0.1:" + std::to_string(above));
  EXPECT_THAT(ran.err, HasSubstr("stop that one, or choose another port"));
}

TEST_F(BadInput, AFolderThatTakesNoFilesIsNotSaidToBeInUse) {
  ASSERT_EQ(run("mkdir $DIR/up.lock").status, 0);
  const Ran ran = run("peal up --dir $DIR");
  expect_refused(ran.status, ran.err, "/up.lock\" cannot be made (Is a directory)");
}

TEST_F(BadInput, ConfigurationsThatCannotBeReadSayWhy) {
  for (const auto& [command, what] :
       {std::pair("peal node --config $DIR/none", "cannot be read (No such file or directory)"),
        std::pair("peal node --config $DIR", "cannot be read (Is a directory)")}) {
    SCOPED_TRACE(command);
    const Ran ran = run(command);
    expect_refused(ran.status, ran.err, what);
  }
}

TEST_F(BadInput, TracesThatAreNoneAreToldFromTracesThatBreakAPromise) {
  const std::string node = R"("layer":"order","node":"a.1",)";
  const std::string start = "{\"at\":1," + node + "\"ev\":\"start\"}\n";
  const std::string twice = "{\"at\":3," + node + "\"ev\":\"deliver\",\"msg\":\"a.1:1\"," +
                            "\"view\":\"1@a.1\",\"seq\":1,\"service\":\"agreed\"," +
                            "\"hash\":\"00c0ffee00c0ffee\"}\n";
  write("good", start);
  write("broken", start + twice);
  write("cut", start + twice.substr(0, 40));
  write("cut-inside", start + twice.substr(0, 40) + "\n" + start);
  write("garbage", start + "garbage\n");
  write("type", start + "{\"at\":\"x\"," + node + "\"ev\":\"leave\"}\n");
  write("field", start + "{\"at\":2," + node + "\"ev\":\"submit\",\"msg\":\"a.1:1\"}\n");
  write("empty", "");
  write("binary", std::string("\0\1\2\xff\n", 5));
  write("no-line", "garbage");
  write("copy", start);
  std::filesystem::create_symlink(dir_ + "/good", dir_ + "/link");
  for (const char* name : {"good", "cut"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(run("peal check $DIR/" + std::string(name)).status, 0);
  }
  EXPECT_EQ(run("peal check $DIR/good $DIR/empty").status, 0);
  const Ran broken = run("peal check $DIR/broken");
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.out, HasSubstr("violation"));
  const std::pair<const char*, const char*> rows[] = {
      {"cut-inside", "/cut-inside:2: the line is not JSON"},
      {"garbage", "/garbage:2: the line is not JSON"},
      {"type", "/type:2: key 'at'"},
      {"field", "/field:2: key '"},
      {"binary", "/binary:1: the line is not JSON"},
      {"empty", "/empty has no events: accepted are traces"},
      {"no-line", "/no-line has no events"},
      {"good $DIR/good", "/good is there twice: accepted is each trace once"},
      {"good $DIR/./good", "/./good has the events of"},
      {"good $DIR/link", "/link has the events of"},
      {"good $DIR/copy", "/copy has the events of"},
      {"none", "/none: No such file or directory"},
      {"", "Is a directory"},
  };
  for (const auto& [name, what] : rows) {
    SCOPED_TRACE(name);
    const Ran ran = run("peal check $DIR/" + std::string(name));
    expect_refused(ran.status, ran.err, what);
    EXPECT_EQ(ran.out, "");
  }
}

TEST_F(BadInput, WithoutANodeTheSocketAndTheRemedyAreNamed) {
  write("x.sock", "");  // as after the crash of a node
  const std::pair<std::string, std::string> rows[] = {
      {"echo x | peal send --to $DIR/none.sock", dir_ + "/none.sock\": no node runs there"},
      {"peal recv --to $DIR/none.sock", "`peal up --dir DIR` makes one"},
      {"XDG_RUNTIME_DIR=$DIR; export XDG_RUNTIME_DIR; peal recv", dir_ + "/peal: start one with"},
      {"peal recv --to $DIR", "no node runs at " + dir_ + "/x.sock: start it with `peal node"},
  };
  for (const auto& [command, what] : rows) {
    SCOPED_TRACE(command);
    const Ran ran = run(command);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr(what));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(BadInput, WaitingForNodesThatAreNotThereSaysSo) {
  const Ran ran = run("peal status --to $DIR/none --wait members=3 --timeout 0");
  EXPECT_EQ(ran.status, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("--wait members=3 did not come true in 0 s; --to \"" + dir_));
  EXPECT_THAT(ran.err, HasSubstr("no node runs there"));
}

TEST_F(BadInput, AFolderInWhichSocketsHaveNoRoomIsRefused) {
  const std::string fits = dir_ + "/" + std::string(97 - dir_.size(), 'd');
  const Ran ran = run("peal up --dir " + fits + "d");
  expect_refused(ran.status, ran.err, "has 99 bytes: accepted are up to 98, as the sockets");
  start({"up", "--dir", fits, "--nodes", "10"}, "up.out");
  const Ran waited = run("peal status --to " + fits + "/n10.sock --wait delivered=0 --timeout 60");
  EXPECT_EQ(waited.status, 0) << waited.err << content(dir_ + "/up.out");
}

TEST_F(BadInput, OutputThatNobodyTakesEndsTheTool) {
  EXPECT_EQ(run("peal help | head -n 1").err, "");
  const Ran full = run("peal help > /dev/full");
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err, StartsWith("peal: cannot write to standard output"));
  up({"--nodes", "1"});
  wait_for("members=1");
  const Ran closed = run("(timeout 20 " PEAL_PROGRAM
                         " recv --to $DIR --views; echo $? > $DIR/status) | head -n 1 & "
                         "while ! test -s $DIR/status; do echo x | peal send --to $DIR; done");
  EXPECT_THAT(closed.out, StartsWith("# view "));
  EXPECT_EQ(closed.err, "");
  EXPECT_EQ(content(dir_ + "/status"), "141\n");  // 128 + SIGPIPE
}

TEST_F(BadInput, LinesArriveAsTheyAre) {
  up({"--nodes", "1"});
  wait_for("members=1");
  start({"recv", "--to", dir_, "--count", "7", "--views"}, "received");
  ASSERT_EQ(run("timeout 20 tail -n +1 -F $DIR/received | head -n 1").status, 0);
  std::string text("\0\1\r\xff\n\n\n\xc3(\r\n", 11);
  text += "last";
  write("lines", text);
  const Ran sent =
      run("peal send --to $DIR $DIR/lines && printf '' | peal send --to $DIR && "
          "printf 'no end' | peal send --to $DIR && echo x | peal send --to $DIR");
  EXPECT_EQ(sent.status, 0) << sent.err;
  children_.back().wait();
  const std::string received = content(dir_ + "/received");
  EXPECT_EQ(received.substr(received.find('\n') + 1), text + "\nno end\nx\n");
}

TEST_F(BadInput, TheLargestLineIsSentAndOneByteMoreIsNot) {
  up({"--nodes", "1"});
  wait_for("members=1");
  // 64 MiB, the default of limits.message_bytes_max, less the space for names and headers.
  EXPECT_EQ(run("head -c 67092480 /dev/zero | peal send --to $DIR").status, 0);
  wait_for("delivered=1");
  const Ran more =
      run("(echo before; head -c 67092481 /dev/zero; echo; echo after) | "
          "peal send --to $DIR");
  EXPECT_EQ(more.status, 1);
  EXPECT_THAT(more.err, HasSubstr("standard input:2: the line is too long for one message"));
  EXPECT_THAT(more.err,
              HasSubstr("up to 67092480 bytes, which follows from limits.message_bytes_max"));
  EXPECT_THAT(more.err, HasSubstr("1 of 1 messages were delivered in order"));
  wait_for("delivered=2");
}

}  // namespace
}  // namespace peal::cli
