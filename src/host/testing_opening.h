// A home of its own for tests of the host, and what the host says while it opens it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/real_disk.h"
#include "base/testing_folder.h"
#include "host/opening.h"

namespace sluice::host {

class TestingNarrator final : public Narrator {
 public:
  void note(std::string_view sentence) override { said += std::string(sentence) + "\n"; }
  void detail(std::string_view) override {}
  void warn(std::string_view sentence) override { said += "warning: " + std::string(sentence) + "\n"; }
  void last_words(const Error& error) override { said += "error: " + error.message + "\n"; }

  std::string said;
};

struct TestingOpening {
  explicit TestingOpening(std::vector<const lang::ConceptBinding*> concepts)
      : loaded{.concepts = std::move(concepts)} {}

  TestingFolder folder;
  RealDisk disk;
  LoadedConcepts loaded;
  TestingNarrator narrator;
  Home home{disk, folder.path("home")};
  Opening opening{.disk = disk, .home = home, .narrator = narrator, .concepts = loaded, .purpose = "kit run"};
};

}  // namespace sluice::host
