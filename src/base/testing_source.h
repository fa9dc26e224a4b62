// Where the sources lie, for tests that read examples and fixtures.
#pragma once

namespace sluice {

extern const char* const kSourceDir;  // defined in the build tree, linked into every test program

}  // namespace sluice
