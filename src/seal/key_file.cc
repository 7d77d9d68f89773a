// SPDX-License-Identifier: Apache-2.0
#include "seal/key_file.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/text.h"

namespace peal::seal {
namespace {

constexpr std::string_view kExplanation =
    R"(# Keys of a Peal cluster. Written by `peal keygen`, which also changes it.
#
# Whoever has this file can read, change and invent what the nodes say to each other: keep it as
# mode 0600, and bring it to the nodes over a way that is safe.
#
# The file is the same on every node. Each line is one key:
#
#   key ID USE CREATED SECRET
#
#   ID       eight hexadecimal digits that follow from SECRET
#   USE      send: used for what this node sends, and accepted; exactly one key is
#            accept: accepted from others
#   CREATED  when it was made, for you
#   SECRET   32 random bytes as 64 hexadecimal digits
#
# To change the key without a stop, in three steps. After each, bring the file to every node and
# `kill -HUP` its `peal node`; go on when all nodes have said `reloaded` in their logs:
#
#   peal keygen --add FILE         a new key: accepted everywhere before anybody sends with it
#   peal keygen --use ID FILE      send with it; the old one is still accepted
#   peal keygen --remove ID FILE   the old key is accepted no more
#
# Comments of your own are lost when `peal keygen` changes the file.

)";

Unexpected<std::string> refuse(std::string_view file, std::size_t line, const std::string& what) {
  return unexpected(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

/// A word of the file, as an error shows it. A long word might be a misplaced secret, so the error
/// shows only the length of the word.
std::string shown(std::string_view word) {
  constexpr std::size_t kShownMax = 20;
  if (word.size() <= kShownMax) return quote(word);
  return "a word of " + std::to_string(word.size()) + " characters";
}

constexpr std::size_t kWords = 5;
struct Words {
  std::array<std::string_view, kWords> at;
  std::size_t count = 0;  ///< words of the line; may be more than kWords
};

Words split(std::string_view line) {
  Words words;
  while (true) {
    const auto start = line.find_first_not_of(" \t");
    if (start == std::string_view::npos) return words;
    line.remove_prefix(start);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    if (words.count < kWords) words.at[words.count] = line.substr(0, end);
    ++words.count;
    line.remove_prefix(end);
  }
}

/// True for text in the form 2026-11-22T09:00:00Z; whether the day exists does not matter.
bool is_time(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00Z";
  if (text.size() != kShape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (kShape[i] == '0' ? !digit : text[i] != kShape[i]) return false;
  }
  return true;
}

/// Adds the key of one line. Returns an empty text, or what is wrong with the line.
std::string add_line(const Words& words, Keys& keys, bool& has_sending) {
  if (words.at[0] != "key") {
    return shown(words.at[0]) + ": accepted is a line that starts with key or #";
  }
  if (words.count != kWords) {
    return "a key with " + std::to_string(words.count - 1) +
           " words: accepted is key ID USE CREATED SECRET";
  }
  const auto [key_word, id_word, use, created, secret_word] = words.at;
  const auto id = parse_key_id(id_word);
  if (!id) return "ID = " + shown(id_word) + ": accepted are 8 of 0-9 and a-f";
  if (use != "send" && use != "accept") {
    return "USE = " + shown(use) + ": accepted is send or accept";
  }
  if (!is_time(created)) {
    return "CREATED = " + shown(created) + ": accepted is a time like 2026-11-22T09:00:00Z";
  }
  Secret secret;
  if (!from_hex(secret_word, secret.bytes)) {
    return "SECRET = a word of " + std::to_string(secret_word.size()) +
           " characters: accepted are 64 of 0-9 and a-f";
  }
  if (key_id_of(secret) != *id) {
    return "SECRET of key " + to_text(*id) +
           " is not that key's: accepted is the line as `peal keygen` wrote it; copy it again";
  }
  if (keys.find(*id) != nullptr) {
    return "ID = " + to_text(*id) + " is there twice: remove one of the lines";
  }
  if (keys.all.size() == kKeysMax) {
    return "ID = " + to_text(*id) + " is one key too many: accepted are up to " +
           std::to_string(kKeysMax) + "; remove one that nobody sends with";
  }
  if (use == "send" && has_sending) {
    return "USE = \"send\" is there twice: accepted is one key to send with; make the other accept";
  }
  keys.all.push_back({*id, std::string(created), secret});
  if (use == "send") {
    keys.sending = *id;
    has_sending = true;
  }
  return {};
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

Unexpected<std::string> failed(const std::string& path, std::string_view what, int error) {
  return unexpected(quote(path) + ": " + std::string(what) + " (" + std::strerror(error) + ")");
}

/// Text with secrets; the destructor wipes it from memory.
struct Wiped {
  std::string text;
  ~Wiped() { OPENSSL_cleanse(text.data(), text.size()); }
};

/// Reads up to `limit` bytes; false on an error.
bool read_all(int fd, std::size_t limit, std::string& out) {
  out.resize(limit);
  std::size_t count = 0;
  while (count < limit) {
    const ssize_t got = ::read(fd, out.data() + count, limit - count);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    count += static_cast<std::size_t>(got);
  }
  out.resize(count);
  return true;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t put = ::write(fd, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return ::fsync(fd) == 0;
}

/// Creates a file on which no other user has rights at any time.
int open_new(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
}

}  // namespace

Result<Keys, std::string> parse_keys(std::string_view text, std::string_view name) {
  if (text.size() > kKeyFileBytesMax) {
    return unexpected(std::string(name) + ": is longer than " + std::to_string(kKeyFileBytesMax) +
                      " bytes: accepted is a key file as `peal keygen` writes it");
  }
  Keys keys;
  keys.all.reserve(kKeysMax);  // a list that grows would leave secrets in its old memory
  bool has_sending = false;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const auto end = std::min(text.find('\n'), text.size());
    const Words words = split(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.count == 0 || words.at[0].front() == '#') continue;
    const std::string wrong = add_line(words, keys, has_sending);
    if (!wrong.empty()) return refuse(name, number, wrong);
  }
  if (keys.all.empty()) {
    return unexpected(std::string(name) + ": has no key: make a new file with `peal keygen FILE`");
  }
  if (!has_sending) {
    return unexpected(std::string(name) +
                      ": has no key to send with: change accept to send in one line");
  }
  return keys;
}

std::string format_keys(const Keys& keys) {
  std::string text(kExplanation);
  // Reserved in full, because a string that grows would leave secrets in its old memory.
  text.reserve(text.size() + kKeysMax * 128);
  for (const Key& key : keys.all) {
    Wiped secret{to_hex(key.secret.bytes)};
    text += "key " + to_text(key.id) + (key.id == keys.sending ? " send   " : " accept ");
    text += key.created;
    text += ' ';
    text += secret.text;
    text += '\n';
  }
  return text;
}

Result<Keys, std::string> load_keys(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not block.
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return failed(path, "cannot be read", errno);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed(path, "cannot be read", errno);
  if (!S_ISREG(status.st_mode)) {
    return unexpected(quote(path) + ": is no file: accepted is a key file");
  }
  if ((status.st_mode & 077) != 0) {
    std::array<char, 8> mode{};
    std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(status.st_mode & 07777));
    return unexpected(quote(path) + ": others than its owner may use it (mode " + mode.data() +
                      "): chmod 600 " + path);
  }
  Wiped content;
  if (!read_all(fd.get(), kKeyFileBytesMax + 1, content.text)) {
    return failed(path, "cannot be read", errno);
  }
  return parse_keys(content.text, path);
}

Result<void, std::string> create_key_file(const std::string& path, const Keys& keys) {
  const Fd fd(open_new(path));
  if (fd.get() < 0 && errno == EEXIST) {
    return unexpected(quote(path) + ": is there already, and was not changed: `peal keygen " +
                      "--add` adds a key to it");
  }
  if (fd.get() < 0) return failed(path, "cannot be made", errno);
  const Wiped content{format_keys(keys)};
  if (!write_all(fd.get(), content.text)) {
    const int error = errno;
    ::unlink(path.c_str());
    return failed(path, "cannot be written", error);
  }
  return {};
}

Result<void, std::string> replace_key_file(const std::string& path, const Keys& keys) {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0) return failed(path, "cannot be read", errno);
  const std::string beside = path + ".new";
  const Fd fd(open_new(beside));
  if (fd.get() < 0 && errno == EEXIST) {
    return unexpected(quote(beside) + ": is there: another `peal keygen` is at work, or was " +
                      "stopped at it; then remove this file");
  }
  if (fd.get() < 0) return failed(beside, "cannot be made", errno);
  const Wiped content{format_keys(keys)};
  const bool same_owner = old.st_uid == ::geteuid() && old.st_gid == ::getegid();
  if ((!same_owner && ::fchown(fd.get(), old.st_uid, old.st_gid) != 0) ||
      !write_all(fd.get(), content.text) || ::rename(beside.c_str(), path.c_str()) != 0) {
    const int error = errno;
    ::unlink(beside.c_str());
    return failed(path, "cannot be written anew", error);
  }
  return {};
}

}  // namespace peal::seal
