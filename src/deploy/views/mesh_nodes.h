// The nodes of meshes whose config server this home is: what is published for each, what each obeys, and, for the
// server itself, what a node gets.
#pragma once

#include <boost/describe.hpp>
#include <string>
#include <vector>

#include "base/json_fields.h"
#include "lang/run/view.h"
#include "mesh/survey.h"
#include "mesh/tree.h"

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

struct MeshMapQuery {
  std::string mesh;
  std::string initiator;  // with `target`: the ways of this pair alone
  std::string target;
  static constexpr std::string_view kDefaulted[] = {"initiator", "target"};
};
BOOST_DESCRIBE_STRUCT(MeshMapQuery, (), (mesh, initiator, target))

struct MeshPair {
  std::string initiator;
  std::string from;
  std::string target;
  std::string to;
  std::string fault;  // empty: it arrives and returns
};
BOOST_DESCRIBE_STRUCT(MeshPair, (), (initiator, from, target, to, fault))

// What is published of a mesh, read as one. Nodes whose artifacts are held back are shown with those that they have.
struct MeshMap {
  std::string mesh;
  std::vector<::sluice::mesh::SurveyedNode> nodes;
  std::vector<::sluice::mesh::SurveyedLink> links;
  int64_t pairs_in_all = 0;
  std::vector<MeshPair> pairs;               // the first 2,000, each once
  std::vector<::sluice::mesh::Traced> ways;  // of the pair that was asked for
};
BOOST_DESCRIBE_STRUCT(MeshMap, (), (mesh, nodes, links, pairs_in_all, pairs, ways))

struct MeshFile {
  std::string path;  // below the mesh's folder: "rete.yaml", "compiled/web/mgmt/agent.json"
  std::string text;
};
BOOST_DESCRIBE_STRUCT(MeshFile, (), (path, text))

struct MeshPlanQuery {
  std::vector<MeshFile> files;  // of the operator's folder, without its keys
};
BOOST_DESCRIBE_STRUCT(MeshPlanQuery, (), (files))

struct MeshPlanView {
  std::string mesh;
  std::vector<std::string> faults;  // of the sources, all of them; then there is no plan
  std::vector<std::string> warnings;
  ::sluice::mesh::TreePlan plan;  // from what is signed to what the sources say
};
BOOST_DESCRIBE_STRUCT(MeshPlanView, (), (mesh, faults, warnings, plan))

std::vector<lang::View> mesh_views();

}  // namespace sluice::deploy::views
