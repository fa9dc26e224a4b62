// From templates to the objects of one instance: placeholders filled in, objects checked, namespace and labels set, and
// a hash that is the same wherever and whenever the same is rendered.
//
//   auto files = read_local_templates(disk, "/etc/templates", "k8s");
//   auto made = make_objects(*files, values, {.host = "h1", .instance = "petstore", …}, hmac);
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "base/result.h"
#include "crypto/hmac.h"
#include "render/taint.h"
#include "render/template.h"

namespace sluice::rendering {

// What the labels say, as Light-Deployer writes them.
inline constexpr std::string_view kManager = "light-deployer";
inline constexpr std::string_view kManagedBy = "app.kubernetes.io/managed-by";
inline constexpr std::string_view kHostLabel = "lightapi.net/host-id";
inline constexpr std::string_view kInstanceLabel = "lightapi.net/instance-id";
inline constexpr std::string_view kRequestLabel = "lightapi.net/request-id";

struct Labels {
  std::string host;
  std::string instance;
  std::string request;
};

struct Manifest {
  std::string path;
  json::value object;
};

struct Manifests {
  std::vector<Manifest> objects;  // in the order of the files
  std::string hash;               // "sha256:…", before namespace and labels are set
  Taint taint;
};

// Every .yaml and .yml beneath the path, in the order of their paths. The path stays inside `base`, symlinks are not
// followed, and there must be at least one file. Errors name the path as it was asked for, never the disk's.
Result<std::vector<TemplateFile>> read_local_templates(Disk& disk, const std::string& base, const std::string& path);

// `invalid` with all faults, one a line. `hmac` stands for the values of Secrets in the hash.
Result<Manifests> make_objects(const std::vector<TemplateFile>& files, const json::value& values,
                               const crypto::Hmac& hmac);

// Sets the namespace where there is none (but not on what `cluster_scoped` says has none) and the labels.
void place(json::value& object, const std::string& name_space, bool cluster_scoped, const Labels& labels);

// Why this cannot be the value of a label; empty if it can.
std::string label_fault(std::string_view value);

}  // namespace sluice::rendering
