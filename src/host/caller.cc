// A socket knows whom its process acts for; /proc knows who started it.
#include "host/caller.h"

#include <charconv>
#include <optional>
#include <string_view>

#include "base/atomic_file.h"

namespace sluice::host {
namespace {

struct Users {
  uint32_t real = 0, effective = 0;
};

// Of the line "Uid:\t1000\t1000\t1000\t1000": the real, effective, saved and file system's user.
std::optional<Users> users_in(std::string_view status) {
  constexpr std::string_view kLine = "\nUid:\t";
  size_t at = status.find(kLine);
  if (at == std::string_view::npos) return std::nullopt;
  Users users;
  const char* end = status.data() + status.size();
  auto real = std::from_chars(status.data() + at + kLine.size(), end, users.real);
  if (real.ec != std::errc() || real.ptr == end || *real.ptr != '\t') return std::nullopt;
  auto effective = std::from_chars(real.ptr + 1, end, users.effective);
  if (effective.ec != std::errc()) return std::nullopt;
  return users;
}

}  // namespace

std::string name_of_user(uint32_t user) { return "uid:" + std::to_string(user); }

std::string caller_behind(Disk& disk, const http::Credentials& credentials) {
  auto status = read_file(disk, "/proc/" + std::to_string(credentials.pid) + "/status", size_t{64} << 10U);
  auto users = status ? users_in(*status) : std::nullopt;
  // Another process may have the number by now.
  bool same = users && users->effective == credentials.user;
  return name_of_user(same ? users->real : credentials.user);
}

}  // namespace sluice::host
