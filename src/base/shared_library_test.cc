// Libraries that are there, and one that is not.
#include "base/shared_library.h"

#include <gtest/gtest.h>

namespace sluice::shared_library_test {
namespace {

TEST(SharedLibrary, GivesWhatALibraryHas) {
  auto library = SharedLibrary::open("libm.so.6", "libc6");
  ASSERT_TRUE(library);
  auto cosine = library->symbol<double(double)>("cos");
  ASSERT_TRUE(cosine);
  EXPECT_EQ((*cosine)(0), 1);
  EXPECT_EQ(library->symbol<double(double)>("no_such_name").error().message,
            "the library libm.so.6 has no no_such_name");
}

TEST(SharedLibrary, NamesThePackageOfOneThatIsNotThere) {
  auto library = SharedLibrary::open("libnone.so.1", "libnone1");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, Code::unavailable);
  EXPECT_EQ(library.error().next, "install it: apt install libnone1");
}

}  // namespace
}  // namespace sluice::shared_library_test
