# How a `.concept` becomes part of a target: conceptc makes C++, schema, reference page and tests in the build tree
# (build/…/concepts/TARGET/), again only when the `.concept`, its handlers or conceptc itself have changed.
#
#   sluice_reach_variants(deploy_test)                  # before the test program: every variant must be reached
#   sluice_folder(deploy LINK lang)
#   sluice_concepts(deploy NAMESPACE sluice::deploy TEST deploy_test FILES concepts/rollout/rollout.concept …)
#
# rollout.cc beside rollout.concept, if it is there, is searched for the look-ups that it uses (`find_by_…`);
# rollout_work.h is where the Work structs of its effects are. Generated files are included by name: "rollout.gen.h".

# All headers that the sources include and that are not in the repository: what clang-tidy needs.
add_custom_target(generated)

# sluice_concepts(TARGET NAMESPACE ns [TEST test_target] FILES file.concept…): adds what is made of the files to TARGET,
# in namespaces ns::file, and their conformance tests to TEST.
function(sluice_concepts target)
  cmake_parse_arguments(arg "" "NAMESPACE;TEST" "FILES" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/concepts/${target})
  target_include_directories(${target} PUBLIC ${out})
  target_link_libraries(${target} PUBLIC lang)
  foreach(file ${arg_FILES})
    get_filename_component(path ${file} ABSOLUTE)
    get_filename_component(folder ${path} DIRECTORY)
    get_filename_component(name ${path} NAME_WE)
    string(REPLACE "-" "_" stem ${name})
    set(handlers "")
    if(EXISTS ${folder}/${stem}.cc)
      set(handlers ${folder}/${stem}.cc)
    endif()
    # As the target's own sources include it: from the folder above the one that src/ or tests/ has for the target.
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE work_folder)
    if(work_folder MATCHES "^\\.\\.")
      set(work_header ${stem}_work.h)
    else()
      set(work_header ${work_folder}/${stem}_work.h)
    endif()
    add_custom_command(
      OUTPUT ${out}/${stem}.gen.h ${out}/${stem}.gen.cc ${out}/${stem}.schema.json ${out}/${stem}.md
             ${out}/${stem}.variants ${out}/${stem}_conformance_test.gen.cc
      COMMAND conceptc ${path} --out ${out} --namespace ${arg_NAMESPACE}::${stem} --stem ${stem}
              --work-header ${work_header} "$<$<BOOL:${handlers}>:--handlers;${handlers}>"
      DEPENDS conceptc ${path} ${handlers}
      COMMENT "conceptc ${name}"
      COMMAND_EXPAND_LISTS VERBATIM)
    target_sources(${target} PRIVATE ${out}/${stem}.gen.cc ${out}/${stem}.gen.h)
    list(APPEND generated ${out}/${stem}.gen.h)
    if(arg_TEST AND TARGET ${arg_TEST})
      target_sources(${arg_TEST} PRIVATE ${out}/${stem}_conformance_test.gen.cc)
      set_property(TARGET ${arg_TEST} APPEND PROPERTY SLUICE_VARIANTS ${out}/${stem}.variants)
    endif()
  endforeach()
  add_custom_target(${target}_generated DEPENDS ${generated})
  add_dependencies(generated ${target}_generated)
endfunction()

# sluice_reach_variants(TEST): from here on, tests of the test program TEST note the variants that they reach, and ctest
# `variants.TEST`, which runs after all of them, fails for each variant of its concepts that none has reached.
function(sluice_reach_variants test)
  if(NOT SLUICE_TESTS)
    return()
  endif()
  set(seen ${CMAKE_BINARY_DIR}/variants/${test})
  add_test(NAME variants.${test}.forget COMMAND sh -c "rm -rf '${seen}' && mkdir -p '${seen}'")
  add_test(NAME variants.${test}
           COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/cmake/check_variants.py --seen ${seen}
                   $<TARGET_PROPERTY:${test},SLUICE_VARIANTS>
           COMMAND_EXPAND_LISTS)
  set_tests_properties(variants.${test}.forget PROPERTIES FIXTURES_SETUP variants.forgotten.${test})
  set_tests_properties(variants.${test} PROPERTIES FIXTURES_REQUIRED variants.noted.${test})
  set(SLUICE_TEST_PROPERTIES ${SLUICE_TEST_PROPERTIES} ENVIRONMENT SLUICE_VARIANTS_SEEN=${seen}
      FIXTURES_REQUIRED variants.forgotten.${test} FIXTURES_SETUP variants.noted.${test} PARENT_SCOPE)
endfunction()
