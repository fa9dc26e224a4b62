// The functions of libgit2 that are used, loaded once. A name of this struct is a function without its "git_".
#pragma once

#include <git2.h>
#include <git2/sys/transport.h>

#include <string>

#include "base/result.h"

namespace sluice::git {

struct Library {
  decltype(&git_libgit2_init) libgit2_init;
  decltype(&git_libgit2_opts) libgit2_opts;
  decltype(&git_error_last) error_last;
  decltype(&git_error_set_str) error_set_str;
  decltype(&git_repository_open_bare) repository_open_bare;
  decltype(&git_repository_init) repository_init;
  decltype(&git_repository_free) repository_free;
  decltype(&git_remote_create_anonymous) remote_create_anonymous;
  decltype(&git_remote_connect) remote_connect;
  decltype(&git_remote_disconnect) remote_disconnect;
  decltype(&git_remote_ls) remote_ls;
  decltype(&git_remote_fetch) remote_fetch;
  decltype(&git_remote_free) remote_free;
  decltype(&git_fetch_options_init) fetch_options_init;
  decltype(&git_remote_init_callbacks) remote_init_callbacks;
  decltype(&git_transport_smart) transport_smart;
  decltype(&git_oid_fromstr) oid_fromstr;
  decltype(&git_oid_tostr) oid_tostr;
  decltype(&git_reference_name_to_id) reference_name_to_id;
  decltype(&git_object_lookup) object_lookup;
  decltype(&git_object_peel) object_peel;
  decltype(&git_object_id) object_id;
  decltype(&git_object_free) object_free;
  decltype(&git_commit_tree) commit_tree;
  decltype(&git_tree_entry_bypath) tree_entry_bypath;
  decltype(&git_tree_entry_free) tree_entry_free;
  decltype(&git_tree_entrycount) tree_entrycount;
  decltype(&git_tree_entry_byindex) tree_entry_byindex;
  decltype(&git_tree_entry_name) tree_entry_name;
  decltype(&git_tree_entry_filemode) tree_entry_filemode;
  decltype(&git_tree_entry_id) tree_entry_id;
  decltype(&git_tree_lookup) tree_lookup;
  decltype(&git_tree_free) tree_free;
  decltype(&git_blob_lookup) blob_lookup;
  decltype(&git_blob_rawsize) blob_rawsize;
  decltype(&git_blob_rawcontent) blob_rawcontent;
  decltype(&git_blob_free) blob_free;

  // What the library says of its last failure in this thread.
  std::string trouble() const;
};

// `unavailable` without the package.
Result<const Library*> library();

}  // namespace sluice::git
