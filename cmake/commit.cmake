# Writes the commit of the source tree into a header, at every build, and touches the header only when it has changed:
# cmake -DSOURCE=… -DHEADER=… -P commit.cmake
# A tree with changes that are not committed is no commit: `-dirty` says so. Tags are left out, as the version says that.
execute_process(COMMAND git --no-optional-locks -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "// The commit that this build is of.\n#pragma once\nconstexpr char kCommit[] = \"${commit}\";\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
