// One read: find the copy, ask the server where the reference leads unless the commit is there, fetch what is missing,
// and read the tree.
#include "git/repositories.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/jail.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"
#include "git/transport.h"

namespace sluice::git {
namespace {

constexpr char kFetched[] = "refs/sluice/fetched";
constexpr int kDeepest = 32;

// What libgit2 gave, freed at the end.
template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

bool is_commit_id(const std::string& text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Whether this may stand in a name of a reference (git check-ref-format), so that none becomes a pattern or an option.
bool is_reference(const std::string& text) {
  if (text.empty() || text.size() > 250 || text.starts_with('-') || text.starts_with('/') || text.ends_with('/'))
    return false;
  if (text.ends_with('.') || text.ends_with(".lock")) return false;
  for (const char* part : {"..", "@{", "//", "/."}) {
    if (text.find(part) != std::string::npos) return false;
  }
  return std::ranges::all_of(text, [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("~^:?*[\\").find(c) == std::string_view::npos;
  });
}

Result<void> remove_folder(Disk& disk, const std::string& path) {
  auto entries = disk.list(path);
  if (!entries) return entries.error();
  for (const FolderEntry& each : *entries) {
    const std::string inner = path + "/" + each.name;
    auto removed = each.kind == FileKind::folder ? remove_folder(disk, inner) : disk.remove(inner);
    if (!removed) return removed;
  }
  return disk.remove_folder(path);
}

uint64_t bytes_of(Disk& disk, const std::string& path) {
  uint64_t bytes = 0;
  auto entries = disk.list(path);
  if (!entries) return 0;
  for (const FolderEntry& each : *entries) {
    const std::string inner = path + "/" + each.name;
    if (each.kind == FileKind::folder) {
      bytes += bytes_of(disk, inner);
    } else if (auto stat = disk.stat(inner, FollowLinks::no)) {
      bytes += stat->size;
    }
  }
  return bytes;
}

// One read of one repository.
struct Reading {
  const Library& library;
  const Wanted& wanted;
  const Limits& limits;
  Transport transport;
  Owned<git_repository> repository{nullptr, nullptr};
  Commit commit;
  uint64_t bytes = 0;

  // What went wrong: what the transport noted, else what libgit2 says.
  Error failed(const std::string& doing) const {
    if (transport.trouble) return *transport.trouble;
    return {.code = Code::unavailable, .message = "the repository cannot be " + doing + ": " + library.trouble()};
  }
  Error missing() const {
    return {.code = Code::not_found, .message = "the repository has no branch, tag or commit '" + wanted.ref + "'"};
  }

  static int progress(const git_indexer_progress* stats, void* payload) {
    auto* transport = static_cast<Transport*>(payload);
    if (stats->total_objects > transport->most_objects) {
      return transport->fail(
          {.code = Code::limit,
           .message = "the repository has more than " + std::to_string(transport->most_objects) + " objects"});
    }
    if (transport->over()) {
      return transport->fail({.code = Code::timeout, .message = "the repository was not read in time"});
    }
    return 0;
  }

  git_remote_callbacks callbacks() {
    git_remote_callbacks made;
    library.remote_init_callbacks(&made, GIT_REMOTE_CALLBACKS_VERSION);
    made.transport = Transport::make;
    made.transfer_progress = progress;
    made.payload = &transport;
    return made;
  }

  Result<void> open(const std::string& folder, Disk& disk) {
    git_repository* opened = nullptr;
    if (library.repository_open_bare(&opened, folder.c_str()) != 0) {
      if (disk.stat(folder, FollowLinks::no)) {
        if (auto removed = remove_folder(disk, folder); !removed) return removed;
      }
      if (library.repository_init(&opened, folder.c_str(), 1) != 0) return failed("kept");
    }
    repository = {opened, library.repository_free};
    return {};
  }

  // The commit that an object is or, if it is a tag, leads to; nullptr if the copy does not have it.
  Owned<git_object> commit_of(const git_oid& id) {
    git_object* found = nullptr;
    if (library.object_lookup(&found, repository.get(), &id, GIT_OBJECT_ANY) != 0)
      return {nullptr, library.object_free};
    Owned<git_object> owned(found, library.object_free);
    git_object* peeled = nullptr;
    if (library.object_peel(&peeled, found, GIT_OBJECT_COMMIT) != 0) return {nullptr, library.object_free};
    return {peeled, library.object_free};
  }

  Result<void> fetch(git_remote* remote, std::vector<std::string> what) {
    git_fetch_options options;
    library.fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
    options.callbacks = callbacks();
    options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
    options.update_fetchhead = 0;
    options.prune = GIT_FETCH_NO_PRUNE;
    options.follow_redirects = GIT_REMOTE_REDIRECT_NONE;
    std::vector<char*> texts;
    for (std::string& each : what) texts.push_back(each.data());
    const git_strarray specs{.strings = texts.data(), .count = texts.size()};
    if (library.remote_fetch(remote, &specs, &options, nullptr) != 0) return failed("fetched");
    return {};
  }

  // Where the server says that a branch or a tag leads; its full name is noted.
  Result<git_oid> ask(git_remote* remote, std::string& name) {
    const git_remote_callbacks calls = callbacks();
    if (library.remote_connect(remote, GIT_DIRECTION_FETCH, &calls, nullptr, nullptr) != 0) return failed("asked");
    const git_remote_head** heads = nullptr;
    size_t count = 0;
    const int listed = library.remote_ls(&heads, &count, remote);
    git_oid found{};
    bool known = false;
    for (const std::string& form : {"refs/heads/" + wanted.ref, "refs/tags/" + wanted.ref, wanted.ref}) {
      for (size_t index = 0; listed == 0 && index < count && !known; ++index) {
        if (heads[index]->name != form) continue;
        found = heads[index]->oid;
        name = form;
        known = true;
      }
    }
    library.remote_disconnect(remote);
    if (listed != 0) return failed("asked");
    if (!known) return missing();
    return found;
  }

  Result<Owned<git_object>> find() {
    git_remote* made = nullptr;
    if (library.remote_create_anonymous(&made, repository.get(), transport.url.c_str()) != 0) return failed("asked");
    const Owned<git_remote> remote(made, library.remote_free);
    git_oid id;
    if (is_commit_id(wanted.ref)) {
      library.oid_fromstr(&id, wanted.ref.c_str());
      if (auto known = commit_of(id)) return known;
      // Not every server gives a commit that no reference leads to.
      if (auto fetched = fetch(remote.get(), {"+" + wanted.ref + ":" + kFetched}); !fetched) {
        if (transport.trouble) return *transport.trouble;
        if (auto all = fetch(remote.get(), {"+refs/heads/*:refs/sluice/heads/*", "+refs/tags/*:refs/sluice/tags/*"});
            !all)
          return all.error();
      }
      if (auto found = commit_of(id)) return found;
      return missing();
    }
    std::string name;
    auto asked = ask(remote.get(), name);
    if (!asked) return asked.error();
    if (auto known = commit_of(*asked)) return known;
    if (auto fetched = fetch(remote.get(), {"+" + name + ":" + kFetched}); !fetched) return fetched.error();
    if (library.reference_name_to_id(&id, repository.get(), kFetched) != 0) return missing();
    if (auto found = commit_of(id)) return found;
    return missing();
  }

  Result<void> read(git_object* found) {
    char id[GIT_OID_HEXSZ + 1];
    commit.id = library.oid_tostr(id, sizeof id, library.object_id(found));
    git_tree* root = nullptr;
    if (library.commit_tree(&root, reinterpret_cast<git_commit*>(found)) != 0) return failed("read");
    Owned<git_tree> tree(root, library.tree_free);
    if (!wanted.path.empty()) {
      git_tree_entry* entry = nullptr;
      const bool there = library.tree_entry_bypath(&entry, root, wanted.path.c_str()) == 0;
      const Owned<git_tree_entry> owned(entry, library.tree_entry_free);
      git_tree* below = nullptr;
      if (!there || library.tree_entry_filemode(entry) != GIT_FILEMODE_TREE ||
          library.tree_lookup(&below, repository.get(), library.tree_entry_id(entry)) != 0) {
        return Error{.code = Code::not_found,
                     .message = "commit " + commit.id + " has no folder '" + wanted.path + "'"};
      }
      tree = {below, library.tree_free};
    }
    if (auto read = walk(tree.get(), "", 0); !read) return read;
    std::ranges::sort(commit.files, {}, &File::path);
    return {};
  }

  Result<void> walk(git_tree* tree, const std::string& beneath, int depth) {
    if (depth > kDeepest) return Error{.code = Code::limit, .message = "the repository's folders are too deep"};
    const size_t count = library.tree_entrycount(tree);
    for (size_t index = 0; index < count; ++index) {
      if (transport.over()) return Error{.code = Code::timeout, .message = "the repository was not read in time"};
      const git_tree_entry* entry = library.tree_entry_byindex(tree, index);
      const std::string path = beneath + library.tree_entry_name(entry);
      const git_oid* id = library.tree_entry_id(entry);
      const git_filemode_t mode = library.tree_entry_filemode(entry);
      if (mode == GIT_FILEMODE_TREE) {
        git_tree* below = nullptr;
        if (library.tree_lookup(&below, repository.get(), id) != 0) return failed("read");
        const Owned<git_tree> owned(below, library.tree_free);
        if (auto read = walk(below, path + "/", depth + 1); !read) return read;
      } else if (mode != GIT_FILEMODE_LINK && mode != GIT_FILEMODE_COMMIT &&
                 std::ranges::any_of(wanted.endings, [&](const std::string& each) { return path.ends_with(each); })) {
        if (auto read = file(path, id); !read) return read;
      }
    }
    return {};
  }

  Result<void> file(const std::string& path, const git_oid* id) {
    git_blob* found = nullptr;
    if (library.blob_lookup(&found, repository.get(), id) != 0) return failed("read");
    const Owned<git_blob> blob(found, library.blob_free);
    const uint64_t size = library.blob_rawsize(found);
    bytes += size;
    if (commit.files.size() >= limits.most_files || bytes > limits.most_file_bytes) {
      return Error{.code = Code::limit,
                   .message = "a folder is read with at most " + std::to_string(limits.most_files) + " files and " +
                              std::to_string(limits.most_file_bytes) + " bytes"};
    }
    commit.files.push_back({path, std::string(static_cast<const char*>(library.blob_rawcontent(found)), size)});
    return {};
  }
};

std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return to_lower(c); });
  return text;
}

Error invalid(const std::string& message) { return {.code = Code::invalid, .message = message}; }

http::Outgoing::Settings to_public(http::Outgoing::Settings settings) {
  settings.addresses.only_public = true;
  return settings;
}

}  // namespace

std::string usual_username(const std::string& host) {
  return host == "bitbucket.org" ? "x-token-auth" : "x-access-token";
}

Repositories::Repositories(Settings settings, Disk& disk, const Clock& clock)
    : settings_(std::move(settings)),
      disk_(disk),
      clock_(clock),
      outgoing_(settings_.network, clock),
      public_(to_public(settings_.network), clock) {}

Repositories::~Repositories() = default;

Result<Commit> Repositories::read(const Wanted& wanted) {
  std::string url = wanted.url;
  while (url.ends_with('/')) url.pop_back();
  if (!url.starts_with("https://")) return invalid("a repository's URL begins with https://");
  auto parsed = http::parse_url(url);
  if (!parsed) return parsed.error();
  if (!parsed->user.empty()) return invalid("a repository's URL holds no user: credentials are set for a host");
  if (url.find_first_of("?#") != std::string::npos)
    return invalid("a repository's URL has neither a query nor a fragment");
  if (!is_reference(wanted.ref)) return invalid("'" + wanted.ref + "' is no branch, tag or commit");
  Wanted asked = wanted;
  if (!wanted.path.empty() && wanted.path != ".") {
    auto plain = Jail(disk_, settings_.folder).check(wanted.path);
    if (!plain) return plain.error();
    asked.path = *plain;
  } else {
    asked.path.clear();
  }
  auto loaded = library();
  if (!loaded) return loaded.error();

  if (auto there = disk_.exists(settings_.folder); !there || !*there) {
    if (auto made = disk_.make_folder(settings_.folder, 0700); !made && made.error().code != Code::conflict)
      return made.error();
  }
  const std::string folder = settings_.folder + "/" + crypto::to_hex(crypto::sha256(url)).substr(0, 32);
  std::shared_ptr<std::mutex> busy;
  {
    std::lock_guard lock(mutex_);
    auto& kept = busy_[folder];
    if (!kept) kept = std::make_shared<std::mutex>();
    busy = kept;
  }
  std::lock_guard lock(*busy);

  const int64_t deadline_ns = clock_.monotonic_ns() + settings_.limits.timeout_ms * 1'000'000;
  std::string authorization;
  const std::string own = lowered(parsed->host) + (parsed->port == 443 ? "" : ":" + std::to_string(parsed->port));
  for (const Credential& each : wanted.credentials) {
    if (lowered(each.host) != own) continue;
    const std::string user = each.username.empty() ? usual_username(parsed->host) : each.username;
    authorization = "Basic " + crypto::to_base64(user + ":" + each.token);
  }
  Reading reading{
      .library = **loaded,
      .wanted = asked,
      .limits = settings_.limits,
      .transport = {
          .library = **loaded,
          .outgoing = wanted.only_public ? public_ : outgoing_,
          .url = url,
          .authorization = authorization,
          .most_bytes = settings_.limits.most_bytes,
          .most_objects = settings_.limits.most_objects,
          .timeout_ms = settings_.limits.timeout_ms,
          .over = [&] { return clock_.monotonic_ns() >= deadline_ns || (wanted.cancelled && wanted.cancelled()); }}};
  if (auto opened = reading.open(folder, disk_); !opened) return opened.error();
  auto found = reading.find();
  Result<void> outcome;
  if (!found) {
    outcome = found.error();
  } else {
    outcome = reading.read(found->get());
  }
  if (!outcome) {
    found = Owned<git_object>(nullptr, reading.library.object_free);
    reading.repository.reset();
    // What came of a repository that is too large is not kept.
    if (outcome.error().code == Code::limit) {
      if (auto removed = remove_folder(disk_, folder); !removed) return removed.error();
    }
    return outcome.error();
  }
  // Its time says when the copy was used last.
  if (auto mark = disk_.open(folder + "/used", {.write = true, .create = true, .truncate = true})) {
    if (auto marked = (*mark)->write_at(0, reading.commit.id); !marked) return marked.error();
  }
  make_room(folder);
  return std::move(reading.commit);
}

void Repositories::make_room(const std::string& keep) {
  std::lock_guard lock(mutex_);
  auto entries = disk_.list(settings_.folder);
  if (!entries) return;
  struct Copy {
    std::string folder;
    int64_t used_ns;
    uint64_t bytes;
  };
  std::vector<Copy> copies;
  uint64_t bytes = 0;
  for (const FolderEntry& each : *entries) {
    const std::string folder = settings_.folder + "/" + each.name;
    auto used = disk_.stat(folder + "/used", FollowLinks::no);
    copies.push_back({folder, used ? used->mtime_ns : 0, bytes_of(disk_, folder)});
    bytes += copies.back().bytes;
  }
  std::ranges::sort(copies, {}, &Copy::used_ns);
  for (const Copy& each : copies) {
    if (bytes <= settings_.limits.most_kept_bytes) return;
    auto& busy = busy_[each.folder];
    if (!busy) busy = std::make_shared<std::mutex>();
    if (each.folder == keep || !busy->try_lock()) continue;
    if (remove_folder(disk_, each.folder)) bytes -= each.bytes;
    busy->unlock();
  }
}

}  // namespace sluice::git
