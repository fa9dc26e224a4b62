// A folder is looked at without following links. Once it is known to be the caller's own, nobody else can change it.
#include "host/home.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>

namespace sluice::host {
namespace {

constexpr uint32_t kPrivate = 0700;

std::string quoted(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

Error link_refused(Disk& disk, const std::filesystem::path& path) {
  auto named = disk.read_link(path);
  std::filesystem::path target = named ? *named : "";
  if (target.is_relative()) target = path.parent_path() / target;
  return {.code = Code::invalid,
          .message = path.string() + " is a symbolic link; Sluice keeps keys there and does not follow links",
          .next = "export SLUICE_HOME=" + quoted(target.lexically_normal())};
}

// Checks that a folder is one to trust. One that is not there is as good.
Result<void> check_private_folder(Disk& disk, const std::filesystem::path& path) {
  auto status = disk.stat(path, FollowLinks::no);
  if (!status) {
    Error error = std::move(status).error();
    if (error.code == Code::not_found) return {};
    error.next = "ls -ld " + quoted(path);
    return error;
  }
  if (status->kind == FileKind::symlink) return link_refused(disk, path);
  if (status->kind != FileKind::folder) {
    return Error{.code = Code::invalid, .message = path.string() + " is not a folder", .next = "sluice help home"};
  }
  if (status->owner != geteuid()) {
    return Error{.code = Code::denied,
                 .message = path.string() + " belongs to user " + std::to_string(status->owner) + ", not to you (" +
                            std::to_string(geteuid()) + ")",
                 .next = "export SLUICE_HOME=/a/folder/of/your/own"};
  }
  if ((status->mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Error{.code = Code::invalid,
                 .message = path.string() + " can be written by others; Sluice keeps keys there",
                 .next = "chmod 700 " + quoted(path)};
  }
  return {};
}

// Makes the folder if there is none, and checks that it is one to trust.
Result<void> ensure_private_folder(Disk& disk, const std::filesystem::path& path) {
  auto made = disk.make_folder(path, kPrivate);
  if (!made && made.error().code != Code::conflict) {
    Error error = std::move(made).error();
    error.next = error.code == Code::not_found ? "mkdir -p " + quoted(path.parent_path()) : "sluice help home";
    return error;
  }
  return check_private_folder(disk, path);
}

[[maybe_unused]] bool in_layout(std::string_view name) {
  const auto& layout = home_layout();
  return std::any_of(layout.begin(), layout.end(), [&](const HomeFolder& folder) { return folder.name == name; });
}

}  // namespace

const std::vector<HomeFolder>& home_layout() {
  static const std::vector<HomeFolder> kLayout = {
      {"kits", "kits that were installed"},
      {"keys", "signing keys, readable by you alone"},
      {"store", "the state and the journal"},
      {"blobs", "bundles and other content, by digest"},
      {"artifacts", "what was built, by digest"},
      {"logs", "what background processes say"},
      {"run", "sockets and locks of running processes"},
      {"rules", "signed rules packs of deployers, one folder an environment"},
      {"mesh", "what this machine obeys as a node of a mesh"},
      {"secrets", "sealed secrets, one folder an environment"},
      {"runtime", "what runs on this machine: replicas with their logs, and unpacked bundles"},
      {"router", "what routers obey and count, one folder each"},
      {"tls", "certificates that routers show, with their keys, one folder each"},
      {"ca", "the authority that issues certificates for this machine"},
      {"acme", "accounts with certificate authorities, and orders under way"},
  };
  return kLayout;
}

Result<void> Home::ensure() const { return ensure_private_folder(*disk_, root_); }

Result<std::filesystem::path> Home::folder(std::string_view name) const {
  assert(in_layout(name) && "the layout has such a folder");
  if (auto made = ensure(); !made) return std::move(made).error();
  auto path = root_ / name;
  if (auto made = ensure_private_folder(*disk_, path); !made) return std::move(made).error();
  return path;
}

Result<std::filesystem::path> Home::check(std::string_view name) const {
  assert(in_layout(name) && "the layout has such a folder");
  auto path = root_ / name;
  if (auto trusted = check_private_folder(*disk_, root_); !trusted) return std::move(trusted).error();
  if (auto trusted = check_private_folder(*disk_, path); !trusted) return std::move(trusted).error();
  return path;
}

Result<Home> find_home(Disk& disk, const Variables& variables) {
  std::string given = variables("SLUICE_HOME").value_or("");
  std::filesystem::path path = given;
  if (given.empty()) {
    std::string user = variables("HOME").value_or("");
    if (user.empty()) {
      return Error{.code = Code::invalid,
                   .message = "neither SLUICE_HOME nor HOME is set, so there is no place for Sluice's home",
                   .next = "export SLUICE_HOME=/var/lib/sluice"};
    }
    path = std::filesystem::path(user) / ".sluice";
  }
  if (!path.is_absolute()) {
    return Error{.code = Code::invalid,
                 .message = "the home must be an absolute path, not '" + path.string() + "'",
                 .next = "export SLUICE_HOME=\"$PWD/" + path.string() + "\""};
  }
  // A trailing slash would make the system follow a link.
  path = path.lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return Home(disk, path);
}

}  // namespace sluice::host
