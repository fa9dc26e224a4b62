// Text is checked here; symlinks are refused by the disk, and only explained here.
#include "base/jail.h"

#include <algorithm>
#include <climits>
#include <cstdio>

namespace sluice {
namespace {

constexpr size_t kMaxNameBytes = NAME_MAX;
constexpr size_t kMaxPathBytes = PATH_MAX - 1;
constexpr size_t kMaxShownBytes = 100;

// How an error shows text from outside: cut short, control characters as \xNN so that they cannot drive a terminal.
std::string shown(std::string_view text) {
  std::string result = "'";
  for (char c : text.substr(0, kMaxShownBytes)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      result += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(byte));
    result += escaped;
  }
  return result + (text.size() > kMaxShownBytes ? "…'" : "'");
}

}  // namespace

Result<std::string> Jail::check(std::string_view path) const {
  auto refuse = [&](Code code, const std::string& why, std::string next = "") {
    return Error{.code = code, .message = "path " + shown(path) + " " + why, .next = std::move(next)};
  };
  if (path.find('\0') != std::string_view::npos) return refuse(Code::invalid, "holds a NUL");
  if (path.size() > kMaxPathBytes) {
    return refuse(
        Code::invalid,
        "has " + std::to_string(path.size()) + " bytes; at most " + std::to_string(kMaxPathBytes) + " are allowed",
        "shorten it");
  }
  if (path.starts_with('/'))
    return refuse(Code::denied, "is absolute; expected one relative to " + root_, "remove the '/' that it begins with");
  std::string plain;
  for (std::string_view left = path; !left.empty();) {
    const std::string_view component = left.substr(0, left.find('/'));
    left.remove_prefix(std::min(component.size() + 1, left.size()));
    if (component.empty() || component == ".") continue;
    if (component == "..")
      return refuse(Code::denied, "has the component '..'; paths may not leave " + root_, "write it without '..'");
    if (component.size() > kMaxNameBytes) {
      return refuse(Code::invalid,
                    "has a component of " + std::to_string(component.size()) + " bytes; at most " +
                        std::to_string(kMaxNameBytes) + " are allowed",
                    "shorten it");
    }
    if (!plain.empty()) plain += '/';
    plain += component;
  }
  if (plain.empty()) return refuse(Code::invalid, "names nothing below " + root_, "name a file or a folder in it");
  return plain;
}

Result<std::unique_ptr<File>> Jail::open(std::string_view path, const OpenFlags& flags) const {
  auto plain = check(path);
  if (!plain) return plain.error();
  auto file = disk_.open_beneath(root_, *plain, flags);
  if (!file) return explain(file.error(), *plain);
  return file;
}

Result<void> Jail::make_folder(std::string_view path, uint32_t mode) const {
  auto plain = check(path);
  if (!plain) return plain.error();
  auto made = disk_.make_folder_beneath(root_, *plain, mode);
  if (!made) return explain(made.error(), *plain);
  return made;
}

// Names the symlink that an operation was denied for. It has been refused already; this look only serves the message.
Error Jail::explain(Error error, const std::string& path) const {
  if (error.code != Code::denied) return error;
  for (size_t end = path.find('/');; end = path.find('/', end + 1)) {
    const std::string upto = path.substr(0, end);
    auto found = disk_.stat(root_ + "/" + upto, FollowLinks::no);
    if (!found) return error;
    if (found->kind == FileKind::symlink) {
      error.message =
          "path " + shown(path) + " passes the symlink " + shown(upto) + "; paths below " + root_ + " may not pass any";
      return error;
    }
    if (end == std::string::npos) return error;
  }
}

}  // namespace sluice
