// The nodes of meshes whose config server this home is: what is published for each, what each obeys, and, for the
// server itself, what a node gets.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"

namespace sluice::deploy::views {

struct MeshQuery {
  std::string mesh;  // empty: all
  static constexpr std::string_view kDefaulted[] = {"mesh"};
};
BOOST_DESCRIBE_STRUCT(MeshQuery, (), (mesh))

struct MeshNodeView {
  std::string mesh;
  std::string node;
  int64_t version = 0;  // that it may have now; 0: nothing is published for it any more
  int64_t ctrl_version = 0;
  OrNull<int64_t> held_version;        // that it gets when others have confirmed theirs
  std::vector<std::string> waits_for;  // these
  OrNull<int64_t> reported_version;    // the newest that it has accepted
  OrNull<int64_t> reported_ctrl_version;
  std::string state;    // unseen, behind, unconfirmed, rejected, current, revoked
  std::string trouble;  // what it says
  OrNull<lang::DateTime> reported_at;
};
BOOST_DESCRIBE_STRUCT(MeshNodeView, (),
                      (mesh, node, version, ctrl_version, held_version, waits_for, reported_version,
                       reported_ctrl_version, state, trouble, reported_at))

struct ServedNodeQuery {
  std::string mesh;
  std::string node;
};
BOOST_DESCRIBE_STRUCT(ServedNodeQuery, (), (mesh, node))

// What a node reported last.
struct SaidByNode {
  int64_t version = 0;
  int64_t ctrl_version = 0;
  std::string active;
  bool pending = false;
  bool rejected = false;
  std::string trouble;
  lang::DateTime at;
};
BOOST_DESCRIBE_STRUCT(SaidByNode, (), (version, ctrl_version, active, pending, rejected, trouble, at))

struct ServedNodeView {
  std::string authority;  // the mesh's CA, in PEM
  int64_t version = 0;
  int64_t ctrl_version = 0;
  std::string document;
  std::string revoked;
  OrNull<SaidByNode> said;
};
BOOST_DESCRIBE_STRUCT(ServedNodeView, (), (authority, version, ctrl_version, document, revoked, said))

std::vector<lang::View> mesh_views();

}  // namespace sluice::deploy::views
