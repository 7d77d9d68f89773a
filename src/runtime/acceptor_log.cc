// SPDX-License-Identifier: Apache-2.0
#include "runtime/acceptor_log.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/digest.h"
#include "base/text.h"
#include "config/data_dir.h"
#include "config/domains.h"
#include "seal/random.h"
#include "wal/format.h"
#include "wal/recovery.h"

namespace peal::runtime {
namespace {

constexpr const char* kIdentityFile = "identity";
constexpr const char* kEpochFile = "epoch";
constexpr const char* kFreshIdentityFile = "identity.new";
constexpr std::size_t kIdentityBytesMax = 1U << 16;
/// The size of a segment of the log of votes. A segment is allocated as a whole.
constexpr std::uint64_t kSegmentBytes = 16U << 20;
/// The size of a segment of the log of retained values. This log is mostly empty.
constexpr std::uint64_t kOwedSegmentBytes = 4U << 20;

Unexpected<io::IoError> refused(Errc code, std::string why) {
  return unexpected(io::IoError{code, "data_dir: " + std::move(why)});
}

Unexpected<io::IoError> disk_refused(const port::DiskError& error) {
  return refused(Errc::system, error.message);
}

/// The contents of the identity file: lines of the form "key value".
std::string identity_of(const config::Settings& settings) {
  return "cluster " + settings.cluster + "\nnode " + settings.name + "\nnumber " +
         std::to_string(settings.self().value) + "\n" + log_lines(settings);
}

/// The first lines of the identity file identify the owner; the other lines describe the ensembles
/// or domains.
constexpr int kOwnerLines = 3;

/// The ensembles whose records a log has, in the words of the configuration. `lines` are the lines
/// of the identity file after the owner's lines; they may have any bytes. No lines stand for one
/// ensemble. Returns an empty text if a line does not have the expected form.
std::string ensembles_of(std::istream& lines) {
  std::string text, line;
  while (std::getline(lines, line)) {
    constexpr std::string_view kEnsembles = "ensembles ", kDomain = "domain ";
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyz0123456789 ";
    const bool single = line.starts_with(kEnsembles) && text.empty();
    if (!single && !line.starts_with(kDomain)) return {};
    if (line.find_first_not_of(kPlain) != std::string::npos) return {};
    if (!text.empty()) text += ", ";
    text += single ? "ensembles = " + line.substr(kEnsembles.size())
                   : "a domain with the " + line.substr(kDomain.size());
    constexpr std::size_t kShownMax = 1'000;
    if (text.size() > kShownMax) return text.substr(0, kShownMax) + "…";
  }
  return text.empty() ? "ensembles = 1" : text;
}

/// An error message about `there`, the contents of the identity file at `path`: what differs, what
/// was expected, and what to do. `there` may contain any bytes.
std::string difference(const std::string& path, const std::string& there,
                       const config::Settings& settings) {
  std::istringstream theirs(there);
  std::istringstream ours(identity_of(settings));
  std::string wanted, found;
  for (int i = 0; i < kOwnerLines && std::getline(ours, wanted); ++i) {
    found.clear();
    if (std::getline(theirs, found) && found == wanted) continue;
    constexpr std::size_t kShownMax = 300;
    return path + " says " + quote(found.substr(0, kShownMax)) + ", and this node has " +
           quote(wanted) + ": start each node with its own data_dir";
  }
  const std::string was = ensembles_of(theirs), is = ensembles_of(ours);
  if (was.empty() || was == is) return path + " is not what Peal wrote: restore it";
  return path + " says that the log here is one of " + was + ", and this node has " + is +
         ": set " + was + " again, or stop all nodes and start them with data_dirs that are empty";
}

/// The owner that the segments name, to detect a log that was moved without its identity file.
wal::Identity owner_of(const config::Settings& settings) {
  Digest cluster;
  cluster.add(as_bytes_view(settings.cluster));
  const std::uint32_t ensembles = needs_of(settings).ensembles;
  if (ensembles > 1) cluster.add(ensembles);
  if (!settings.domains.empty()) cluster.add(as_bytes_view(log_lines(settings)));
  return {cluster.value(), settings.self()};
}

/// The owner that the segments of the log of retained values name. This owner differs from `owner`,
/// so that neither log is mistaken for the other.
wal::Identity owner_of_owed(const wal::Identity& owner) {
  Digest cluster;
  cluster.add(owner.cluster);
  cluster.add(as_bytes_view(std::string_view("owed")));
  return {cluster.value(), owner.node};
}

bool has_file(const std::vector<port::DiskFile>& files, std::string_view name) {
  return std::any_of(files.begin(), files.end(),
                     [name](const port::DiskFile& file) { return file.name == name; });
}

/// A random number, but not 0.
std::uint64_t fresh_number() {
  const seal::Salt salt = seal::random_salt();
  std::uint64_t number = 0;
  static_assert(sizeof salt >= sizeof number);
  std::memcpy(&number, &salt, sizeof number);
  return number == 0 ? fresh_number() : number;
}

}  // namespace

Result<std::unique_ptr<AcceptorLog>, io::IoError> AcceptorLog::open(
    const config::Settings& settings) {
  std::unique_ptr<AcceptorLog> log(new AcceptorLog(settings));
  if (auto prepared = log->prepare(settings); !prepared) return unexpected(prepared.error());
  return log;
}

AcceptorLog::AcceptorLog(const config::Settings& settings)
    : identity_(identity_of(settings)),
      owner_(owner_of(settings)),
      state_file_(config::state_file(settings)) {}

Result<void, io::IoError> AcceptorLog::prepare(const config::Settings& settings) {
  if (const auto usable = config::validate_data_dir(settings.data_dir); !usable) {
    return refused(Errc::invalid_option, quote(settings.data_dir) + " (" + usable.error() +
                                             "): accepted is a folder that exists, belongs to this "
                                             "user, and that others cannot write to");
  }
  const std::string path = settings.data_dir + "/" + settings.name;
  auto folder = io::FolderDisk::open(path);
  if (!folder) return refused(folder.error().code, folder.error().message);
  folder_ = std::move(*folder);
  if (state_file_.empty()) state_file_ = folder_->path_of(kEpochFile);
  if (auto checked = check_identity(settings); !checked) return checked;
  for (const auto& [log, name] : {std::pair{&votes_, "/log"}, {&owed_, "/owed"}}) {
    auto opened = WrittenLog::open(path + name);
    if (!opened) return refused(opened.error().code, opened.error().message);
    *log = std::move(*opened);
  }
  return has_identity_ ? Result<void, io::IoError>{} : check_new();
}

Result<void, io::IoError> AcceptorLog::check_identity(const config::Settings& settings) {
  const auto files = folder_->list();
  if (!files) return disk_refused(files.error());
  has_identity_ = has_file(*files, kIdentityFile);
  has_epoch_ = has_file(*files, kEpochFile);
  if (!has_identity_) return {};
  std::vector<std::byte> bytes(kIdentityBytesMax);
  const auto read = folder_->read(kIdentityFile, 0, bytes);
  if (!read) return disk_refused(read.error());
  const std::string there(reinterpret_cast<const char*>(bytes.data()), read->bytes);
  if (there == identity_) return {};
  return refused(Errc::invalid_option,
                 difference(folder_->path_of(kIdentityFile), there, settings));
}

/// Checks that the folder has only files that an interrupted first start leaves.
Result<void, io::IoError> AcceptorLog::check_new() {
  const auto files = votes_->disk().list();
  if (!files) return disk_refused(files.error());
  const std::string first = wal::segment_name(1);
  const auto later = std::find_if(files->begin(), files->end(), [&](const port::DiskFile& file) {
    const std::string_view name = file.name;
    const bool of_log = wal::serial_of(name.substr(0, first.size())).has_value();
    return of_log && name != first && name != first + std::string(wal::kNewSuffix);
  });
  const bool has_log = later != files->end();
  if (!has_log && !has_epoch_) return {};
  const std::string there =
      has_log ? votes_->disk().path_of(later->name) : folder_->path_of(kEpochFile);
  return refused(Errc::invalid_option, folder_->path_of(kIdentityFile) + " is missing, and " +
                                           there + " is there: this node took part before" +
                                           std::string(wal::kRestore));
}

// Call it only once the log is durable: an identity without a log means a lost log.
Result<void, io::IoError> AcceptorLog::write_identity() {
  ignore(folder_->remove(kFreshIdentityFile), "there is none, unless a start was cut off");
  auto done = folder_->create(kFreshIdentityFile, identity_.size());
  if (done) done = folder_->write(kFreshIdentityFile, 0, as_bytes_view(identity_));
  if (done) done = folder_->sync(kFreshIdentityFile);
  if (done) done = folder_->rename(kFreshIdentityFile, kIdentityFile);
  if (done) done = folder_->sync_folder();
  if (!done) return disk_refused(done.error());
  return {};
}

Result<void, io::IoError> AcceptorLog::recover(std::uint64_t epoch) {
  wal::Options options;
  options.owner = owner_;
  options.epoch = epoch;
  options.salt = fresh_number();
  options.log = fresh_number();
  options.segment_bytes = kSegmentBytes;
  options.pages = Pages::large;
  if (auto done = recover(*votes_, options, !has_identity_); !done) return done;
  options.owner = owner_of_owed(owner_);
  options.log = fresh_number();
  options.segment_bytes = kOwedSegmentBytes;
  options.pages = Pages::ordinary;
  // A missing log of retained values is created anew, because its loss loses no votes.
  if (auto done = recover(*owed_, options, true); !done) return done;
  if (has_identity_) return {};
  return write_identity();
}

Result<void, io::IoError> AcceptorLog::recover(WrittenLog& log, const wal::Options& options,
                                               bool may_create) {
  auto done = log.recover(options, wal::Start::existing);
  if (!done && done.error().kind == wal::Problem::Kind::no_log && may_create) {
    done = log.recover(options, wal::Start::create);
  }
  if (done) return {};
  const bool disk = done.error().kind == wal::Problem::Kind::disk;
  return refused(disk ? Errc::system : Errc::invalid_option, done.error().message);
}

Result<void, io::IoError> AcceptorLog::attach(io::Loop& loop, std::function<void()> on_written) {
  for (WrittenLog* log : {votes_.get(), owed_.get()}) {
    if (auto attached = log->attach(loop, on_written); !attached) {
      return refused(attached.error().code, attached.error().message);
    }
  }
  return {};
}

void AcceptorLog::commit() {
  votes_->commit();
  owed_->commit();
}

}  // namespace peal::runtime
