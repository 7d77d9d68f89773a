// SPDX-License-Identifier: Apache-2.0
#include "io/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

namespace peal::io {
namespace {

constexpr const char* kName = "peal-events";
#ifdef MFD_NOEXEC_SEAL
constexpr unsigned kNoExec = MFD_NOEXEC_SEAL;
#else
// Linux 6.3 and later know this flag. A system may require it.
constexpr unsigned kNoExec = 0x0008U;
#endif

Fd make_memfd() {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd fd(::memfd_create(kName, kFlags | kNoExec));
  if (!fd && errno == EINVAL) fd = Fd(::memfd_create(kName, kFlags));
  return fd;
}

Unexpected<IoError> failed(const char* doing) {
  return unexpected(system_error(std::string("shared memory: ") + doing, errno));
}

}  // namespace

Mapping::~Mapping() {
  if (at_ != nullptr) ::munmap(at_, bytes_);
}

Result<SharedMemory, IoError> SharedMemory::make(std::uint32_t bytes) {
  Fd fd = make_memfd();
  if (!fd) return failed("make it");
  if (::ftruncate(fd.get(), bytes) != 0) return failed("give it its size");
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) return failed("seal it");
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return failed("map it");
  Mapping pages(at, bytes);
  // From now on no new mapping can be written; this mapping stays writable.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_FUTURE_WRITE | F_SEAL_SEAL) != 0) {
    return failed("seal it");
  }
  return SharedMemory(std::move(fd), std::move(pages));
}

Result<Mapping, IoError> map_shared_memory(const Fd& fd) {
  const auto refuse = [](const char* why) {
    return unexpected(IoError{Errc::invalid_option, std::string("shared memory: ") + why});
  };
  const int seals = ::fcntl(fd.get(), F_GET_SEALS);
  // If the memory could shrink, reading it could raise SIGBUS.
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) return refuse("it is not sealed");
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed("look at it");
  if (status.st_size <= 0 || status.st_size > off_t{0xffff'ffff}) return refuse("it has no size");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (at == MAP_FAILED) return failed("map it");
  return Mapping(at, bytes);
}

}  // namespace peal::io
