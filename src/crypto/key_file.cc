// The checks of a key file stand in the order in which a person would repair them: path, kind, contents, owner, mode.
// Whoever names a file that is no key is not told to change its owner or mode.
#include "crypto/key_file.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <utility>

#include "crypto/pem.h"
#include "crypto/secret_buffer.h"

namespace sluice::crypto {

namespace {

constexpr uint32_t kKeyMode = 0600;
constexpr uint32_t kOthers = 0077;

// The path as a word of a shell command.
std::string shell_word(const std::string& path) {
  auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+@%").find(c) != std::string_view::npos;
  };
  if (!path.empty() && path.front() != '-' && std::all_of(path.begin(), path.end(), plain)) return path;
  std::string word = "'";
  for (char c : path) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string octal(uint32_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

// Each folder on the way must be one itself, not a symlink to one: whoever may change a symlink chooses our key.
Result<void> check_folders(Disk& disk, const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    auto stat = disk.stat(folder, FollowLinks::no);
    if (!stat) return stat.error();
    if (stat->kind == FileKind::symlink) {
      return Error{.code = Code::denied,
                   .message = "the path of the key " + path + " goes through a symlink, " + folder,
                   .next = "give the path that this prints: readlink -f " + shell_word(path)};
    }
  }
  return {};
}

Result<void> check_kind(const FileStat& stat, const std::string& path) {
  if (stat.kind == FileKind::symlink) {
    return Error{.code = Code::denied,
                 .message = "the key " + path + " is a symlink, expected a file",
                 .next = "give the path that this prints: readlink -f " + shell_word(path)};
  }
  if (stat.kind != FileKind::file) {
    return Error{.code = Code::invalid,
                 .message = "the key " + path + " is " +
                            (stat.kind == FileKind::folder ? "a folder" : "a device, a pipe or a socket") +
                            ", expected a file",
                 .next = "give the path of the file that holds the key"};
  }
  if (stat.size > kMaxPemBytes) {
    return Error{.code = Code::limit,
                 .message = "the key " + path + " is " + std::to_string(stat.size) +
                            " bytes long; a PEM key has at most " + std::to_string(kMaxPemBytes),
                 .next = "give the file of one key"};
  }
  return {};
}

Result<void> check_closed(const FileStat& stat, const std::string& path, uint32_t user) {
  if (stat.owner != user && stat.owner != 0) {
    const std::string owner = std::to_string(user);
    return Error{.code = Code::denied,
                 .message = "the key " + path + " belongs to user " + std::to_string(stat.owner) + ", expected user " +
                            owner + " or root",
                 .next = "chown " + owner + " " + shell_word(path)};
  }
  if ((stat.mode & kOthers) != 0) {
    return Error{
        .code = Code::denied,
        .message = "the key " + path + " is open to others (mode " + octal(stat.mode) + "), expected mode 0600",
        .next = "chmod 600 " + shell_word(path)};
  }
  return {};
}

Result<void> fill(File& file, std::string_view bytes) {
  if (auto done = file.chmod(kKeyMode); !done) return done;  // whatever the umask
  if (auto done = file.write_at(0, bytes); !done) return done;
  return file.sync(SyncWhat::all);
}

}  // namespace

uint32_t current_user() { return ::geteuid(); }

Result<PrivateKey> load_private_key(Disk& disk, const std::string& path, uint32_t user) {
  if (auto sound = check_folders(disk, path); !sound) return sound.error();
  auto before = disk.stat(path, FollowLinks::no);
  if (!before) return before.error();
  if (auto sound = check_kind(*before, path); !sound) return sound.error();

  auto file = disk.open(path, {.follow = false});
  if (!file) {
    auto closed = check_closed(*before, path, user);
    return closed ? file.error() : closed.error();
  }
  // The file that is open is the one that counts; the path may lead to another by now.
  auto opened = (*file)->stat();
  if (!opened) return opened.error();
  if (auto sound = check_kind(*opened, path); !sound) return sound.error();
  if (opened->inode != before->inode) {
    return Error{.code = Code::conflict,
                 .message = "the key " + path + " was replaced while it was opened",
                 .next = "try again"};
  }

  SecretBuffer text(kMaxPemBytes + 1);
  auto room = text.writable();
  auto size = (*file)->read_at(0, std::span(reinterpret_cast<char*>(room.data()), room.size()));
  if (!size) return size.error();
  auto key = PrivateKey::from_pem(text.reveal().substr(0, *size));
  if (!key) {
    Error error = std::move(key).error();
    if (error.position) {
      error.position->file = path;
    } else {
      error.message = path + ": " + error.message;
    }
    return error;
  }
  if (auto sound = check_closed(*opened, path, user); !sound) return sound.error();
  return key;
}

Result<void> store_private_key(Disk& disk, const std::string& path, const PrivateKey& key) {
  if (auto sound = check_folders(disk, path); !sound) return sound;
  const SecretBuffer text = key.to_pem();
  // Beside the target, under a name that no other key has; the link then shows it whole, and never over another.
  const std::string staged = path + "." + key.public_key().key_id();
  // What a crash left there may be a link to the stored key itself: it is removed, never written to.
  if (auto left = disk.remove(staged); !left && left.error().code != Code::not_found) return left;
  auto file = disk.open(staged, {.write = true, .create = true, .exclusive = true, .mode = kKeyMode});
  if (!file) return file.error();
  auto done = fill(**file, text.reveal());
  file->reset();
  if (done) done = disk.link(staged, path);
  if (!done && done.error().code == Code::conflict) {
    done = Error{.code = Code::conflict,
                 .message = "there is a file at " + path + " already, and a key is never stored over another",
                 .next = "use that key, or move it away: mv " + shell_word(path) + " " + shell_word(path + ".old")};
  }
  // Also when the link failed: no copy of the key may stay. The first failure is the one to report.
  auto removed = disk.remove(staged);
  if (!done) return done;
  if (!removed) return removed;
  return disk.sync_folder(folder_of(path));
}

}  // namespace sluice::crypto
