// Bundles are packed as `bundles build` does, without signing them.
#include "cli/testing_objects.h"

#include <boost/json.hpp>
#include <stdexcept>

#include "base/atomic_file.h"
#include "bundle/archive/pack.h"
#include "deploy/deploy_kit.h"

namespace sluice::cli {

ObjectsHome::ObjectsHome() {
  loaded_.concepts = deploy::concepts();
  loaded_.first_action = deploy::kFirstAction;
  loaded_.tools.add(seal_);
  loaded_.tools.add(shelf_);
  loaded_.tools.add<Disk>(disk_);
  loaded_.tools.add(means_);
  loaded_.tools.add(certificates_);
  loaded_.tools.add<Clock>(clock_);
}

Ran ObjectsHome::run(const std::vector<std::string>& words) {
  return run_line(commands_, words, {}, {{{"SLUICE_HOME", folder.path("home")}}, "", &loaded_});
}

json::value ObjectsHome::data(std::vector<std::string> words) {
  words.insert(words.end(), {"-o", "json"});
  Ran ran = run(words);
  if (ran.exit != 0) throw std::runtime_error(ran.err);
  return json::parse(ran.out);
}

std::string ObjectsHome::archive(const std::string& name) {
  const std::string root = folder.path(name);
  auto made = disk_.make_folder(root, 0755);
  auto put =
      write_atomically(disk_, root + "/bundle.yaml", "name: " + name + "\nversion: \"1.0.0\"\nrun: [./run]\n", 0644);
  auto packed = bundle::pack(disk_, root, {"bundle.yaml"}, root + ".bundle");
  if (!made || !put || !packed) throw std::runtime_error("the bundle cannot be packed");
  return root + ".bundle";
}

}  // namespace sluice::cli
