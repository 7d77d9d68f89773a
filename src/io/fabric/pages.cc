// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "io/descriptors.h"

namespace peal::io::fabric {
namespace {

#ifdef MFD_NOEXEC_SEAL
constexpr unsigned kNeverExecuted = MFD_NOEXEC_SEAL;
#else
// Linux 6.3 and later know this flag. A system may require it.
constexpr unsigned kNeverExecuted = 0x0008U;
#endif
/// The size of memory with these seals never changes.
constexpr int kFixedSize = F_SEAL_SHRINK | F_SEAL_GROW;

Fd make_region_memfd() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd fd(::memfd_create("peal-region", kFlags | kNeverExecuted));
  if (!fd && errno == EINVAL) fd = Fd(::memfd_create("peal-region", kFlags));
  return fd;
}

Unexpected<IoError> cannot(const std::string& doing, int number) {
  IoError error = system_error("exposed memory: " + doing, number);
  const std::string limit = descriptor_limit_text(number);
  if (!limit.empty()) error.message = "exposed memory: " + limit;
  return unexpected(std::move(error));
}

Unexpected<IoError> no_memory(std::size_t bytes, const std::string& why) {
  return unexpected(
      IoError{Errc::too_large,
              "exposed memory: " + std::to_string(bytes) + " bytes: " + why +
                  ": lower `slots` or the size of messages, or give the machine more memory"});
}

/// Bytes that the machine can give without taking them from other processes. Taking more would not
/// fail: the kernel would end a process.
std::uint64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kilobytes = 0;
  std::string unit;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return kilobytes << 10;
    std::getline(file, unit);
  }
  return ~std::uint64_t{0};  // an unusual kernel: the limit of exposed bytes has to suffice
}

}  // namespace

Result<SharedPages, IoError> make_shared_pages(std::size_t bytes) {
  SharedPages made;
  made.fd = make_region_memfd();
  if (!made.fd) return cannot("make it", errno);
  const std::uint64_t available = available_bytes();
  if (bytes > available) {
    return no_memory(bytes, "the machine has " + std::to_string(available) + " left");
  }
  const auto size = static_cast<off_t>(bytes);
  if (::ftruncate(made.fd.get(), size) != 0) return cannot("give it its size", errno);
  // Takes the pages now: a store to a page that cannot be had would end the process.
  if (::fallocate(made.fd.get(), 0, 0, size) != 0) {
    return no_memory(bytes, system_error("take the pages", errno).message);
  }
  if (::fcntl(made.fd.get(), F_ADD_SEALS, kFixedSize | F_SEAL_SEAL) != 0) {
    return cannot("seal it", errno);
  }
  void* at =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, made.fd.get(), 0);
  if (at == MAP_FAILED) return no_memory(bytes, system_error("map it", errno).message);
  made.pages = Mapping(at, bytes);
  return made;
}

Result<Mapping, IoError> map_pages_of_peer(const Fd& fd, std::size_t bytes) {
  const auto refuse = [](const std::string& why) {
    return unexpected(IoError{Errc::invalid_option, "its memory " + why});
  };
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  // A store to memory that has shrunk would raise SIGBUS.
  if (seals < 0 || (seals & kFixedSize) != kFixedSize) return refuse("could shrink");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) {
    return unexpected(system_error("its memory cannot be looked at", errno));
  }
  if (status.st_size <= 0 || static_cast<std::size_t>(status.st_size) != bytes) {
    return refuse("has " + std::to_string(status.st_size) + " bytes and not " +
                  std::to_string(bytes));
  }
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
  if (at == MAP_FAILED && errno == EPERM) return refuse("cannot be written");
  if (at == MAP_FAILED) return unexpected(system_error("its memory cannot be mapped", errno));
  return Mapping(at, bytes);
}

}  // namespace peal::io::fabric
