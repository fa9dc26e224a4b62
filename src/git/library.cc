// Loaded at the first use, and told to read no configuration: neither the machine's nor a person's says where a URL
// leads.
#include "git/library.h"

#include "base/shared_library.h"

namespace sluice::git {
namespace {

Result<Library> load() {
  auto shared = SharedLibrary::open("libgit2.so.1.5", "libgit2-1.5");
  if (!shared) return shared.error();
  Library made;
  Result<void> outcome;
  auto take = [&](const char* name, auto& into) {
    auto found = shared->symbol<std::remove_pointer_t<std::remove_reference_t<decltype(into)>>>(name);
    if (found) {
      into = *found;
    } else {
      outcome = found.error();
    }
  };
  take("git_libgit2_init", made.libgit2_init);
  take("git_libgit2_opts", made.libgit2_opts);
  take("git_error_last", made.error_last);
  take("git_error_set_str", made.error_set_str);
  take("git_repository_open_bare", made.repository_open_bare);
  take("git_repository_init", made.repository_init);
  take("git_repository_free", made.repository_free);
  take("git_remote_create_anonymous", made.remote_create_anonymous);
  take("git_remote_connect", made.remote_connect);
  take("git_remote_disconnect", made.remote_disconnect);
  take("git_remote_ls", made.remote_ls);
  take("git_remote_fetch", made.remote_fetch);
  take("git_remote_free", made.remote_free);
  take("git_fetch_options_init", made.fetch_options_init);
  take("git_remote_init_callbacks", made.remote_init_callbacks);
  take("git_transport_smart", made.transport_smart);
  take("git_oid_fromstr", made.oid_fromstr);
  take("git_oid_tostr", made.oid_tostr);
  take("git_reference_name_to_id", made.reference_name_to_id);
  take("git_object_lookup", made.object_lookup);
  take("git_object_peel", made.object_peel);
  take("git_object_id", made.object_id);
  take("git_object_free", made.object_free);
  take("git_commit_tree", made.commit_tree);
  take("git_tree_entry_bypath", made.tree_entry_bypath);
  take("git_tree_entry_free", made.tree_entry_free);
  take("git_tree_entrycount", made.tree_entrycount);
  take("git_tree_entry_byindex", made.tree_entry_byindex);
  take("git_tree_entry_name", made.tree_entry_name);
  take("git_tree_entry_filemode", made.tree_entry_filemode);
  take("git_tree_entry_id", made.tree_entry_id);
  take("git_tree_lookup", made.tree_lookup);
  take("git_tree_free", made.tree_free);
  take("git_blob_lookup", made.blob_lookup);
  take("git_blob_rawsize", made.blob_rawsize);
  take("git_blob_rawcontent", made.blob_rawcontent);
  take("git_blob_free", made.blob_free);
  if (!outcome) return outcome.error();
  if (made.libgit2_init() < 0) {
    return Error{.code = Code::unavailable, .message = "libgit2 does not start: " + made.trouble()};
  }
  for (int level :
       {GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL, GIT_CONFIG_LEVEL_PROGRAMDATA}) {
    made.libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, "");
  }
  made.libgit2_opts(GIT_OPT_SET_TEMPLATE_PATH, "");
  made.libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1);
  made.libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
  made.libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, size_t{64} << 20);
  made.libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, static_cast<ssize_t>(8 << 20));
  return made;
}

}  // namespace

std::string Library::trouble() const {
  const git_error* last = error_last();
  return last == nullptr || last->message == nullptr ? "it does not say why" : last->message;
}

Result<const Library*> library() {
  static const Result<Library> loaded = load();
  if (!loaded) return loaded.error();
  return &loaded.value();
}

}  // namespace sluice::git
