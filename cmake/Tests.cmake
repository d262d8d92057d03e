# Tests, examples, fuzz targets and benchmarks. In each folder the files are the list; an empty folder is fine.
if(NOT (ULNA_TESTS OR ULNA_BENCH OR ULNA_EXAMPLES OR ULNA_FUZZ))
    return()
endif()
enable_testing()
find_package(Threads REQUIRED)
set(test_environment OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive) # CTest runs tests side by side already

# ulna_add_program(<name> <folder of the executable> SOURCES... [PRIVATE_HEADERS]): a program on the static library.
function(ulna_add_program name folder)
    cmake_parse_arguments(PARSE_ARGV 2 program "PRIVATE_HEADERS" "" "SOURCES")
    add_executable(${name} ${program_SOURCES})
    target_link_libraries(${name} PRIVATE ulna_program_flags ulna_static Threads::Threads m)
    if(program_PRIVATE_HEADERS)
        target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests/support")
        if(NOT ULNA_MINIMAL) # private headers may show what they are built on
            target_link_libraries(${name} PRIVATE LAPACKE::LAPACKE PkgConfig::JANSSON)
        endif()
    endif()
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}${folder}")
endfunction()

# ---- tests/<layer>/test_*.c: one cmocka program and one CTest each ----------------------------------------------
if(ULNA_TESTS)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(CMOCKA IMPORTED_TARGET cmocka)
    if(NOT CMOCKA_FOUND)
        message(FATAL_ERROR "cmocka is not there: run tools/bootstrap, or configure with -DULNA_TESTS=OFF")
    endif()

    file(GLOB support_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/*.c")
    add_library(ulna_test_support INTERFACE)
    target_link_libraries(ulna_test_support INTERFACE PkgConfig::CMOCKA)
    target_compile_definitions(ulna_test_support INTERFACE ULNA_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
        $<$<TARGET_EXISTS:ulna>:ULNA_TEST_CLI="${PROJECT_BINARY_DIR}/ulna"> # the built tool, for tests that run it
        $<$<TARGET_EXISTS:ulna>:ULNA_TEST_FAULTY_CLI="${PROJECT_BINARY_DIR}/tests/faults/ulna">)
    if(support_sources)
        add_library(ulna_test_support_objects STATIC ${support_sources})
        target_include_directories(ulna_test_support_objects PRIVATE
            "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests/support")
        target_link_libraries(ulna_test_support_objects PRIVATE ulna_program_flags ulna_static ulna_test_support)
        set(support_library ulna_test_support_objects)
    endif()

    # The tool with takes that crash or hang, and with allocations that fail, for tests; the tool itself has nothing of the kind.
    if(TARGET ulna)
        add_executable(ulna_with_faults tests/cli/faults/batch_faults.c tests/cli/faults/memory_faults.c $<TARGET_OBJECTS:ulna>)
        get_target_property(tool_libraries ulna LINK_LIBRARIES)
        get_target_property(tool_options ulna LINK_OPTIONS)
        target_link_libraries(ulna_with_faults PRIVATE ${tool_libraries})
        target_link_options(ulna_with_faults PRIVATE ${tool_options})
        set_target_properties(ulna_with_faults PROPERTIES OUTPUT_NAME ulna
            RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/tests/faults")
    endif()

    add_custom_target(tests_threads) # builds only the tests labelled `threads`, for the TSan build
    file(GLOB_RECURSE tests CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/test_*.c")
    if(NOT TARGET ulna)
        message(STATUS "ULNA_CLI is OFF: the tests of the tool are left out")
        list(FILTER tests EXCLUDE REGEX "/tests/cli/")
    endif()
    foreach(source ${tests})
        cmake_path(GET source STEM name)
        ulna_add_program(${name} /tests SOURCES ${source} PRIVATE_HEADERS)
        target_link_libraries(${name} PRIVATE ulna_test_support ${support_library} ulna_static)
        # The limit ends tests that hang; under sanitizers on a busy machine some take minutes.
        add_test(NAME ${name} COMMAND ${name})
        set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT "${test_environment}")
        # Tests that need recorded data run apart, so that CTest shows when they are skipped (tests/support/support.h).
        file(STRINGS ${source} needs_data REGEX "ulna_test_needs\\(")
        if(name MATCHES "^test_data_")
            set_tests_properties(${name} PROPERTIES LABELS "unit;data")
        elseif(needs_data)
            add_test(NAME ${name}_data COMMAND ${name})
            set_tests_properties(${name} PROPERTIES ENVIRONMENT "${test_environment};ULNA_TEST_PART=rest")
            set_tests_properties(${name}_data PROPERTIES LABELS "unit;data" TIMEOUT 900 SKIP_RETURN_CODE 77
                ENVIRONMENT "${test_environment};ULNA_TEST_PART=data")
        endif()
        if(name MATCHES "^test_threads")
            set_tests_properties(${name} PROPERTIES LABELS "unit;threads")
            add_dependencies(tests_threads ${name})
            if(TARGET ulna)
                add_dependencies(tests_threads ulna ulna_with_faults) # which test_threads_batch runs
            endif()
        endif()
        if(name MATCHES "^test_noalloc") # defines __wrap_malloc and the others, so that heap calls can be counted
            target_link_options(${name} PRIVATE
                "LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=aligned_alloc,--wrap=free,--wrap=posix_memalign")
        endif()
    endforeach()

    # The examples at the heads of the public headers: compiled and linked.
    file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/ulna/*.h")
    set(header_examples "${PROJECT_BINARY_DIR}/header_examples.c")
    add_custom_command(OUTPUT "${header_examples}" VERBATIM
        COMMAND sh -c "\"$0\" \"$@\" >\"${header_examples}\" || { rm -f \"${header_examples}\"; exit 1; }" "${PROJECT_SOURCE_DIR}/tools/header-examples" ${public_headers}
        DEPENDS tools/header-examples ${public_headers})
    ulna_add_program(header_examples /tests SOURCES "${header_examples}")
    add_test(NAME header_examples COMMAND header_examples)
    set_tests_properties(header_examples PROPERTIES LABELS example TIMEOUT 60 ENVIRONMENT "${test_environment}")

    # Every public function with one argument wrong.
    set(argument_tests "${PROJECT_BINARY_DIR}/argument_tests.c")
    add_custom_command(OUTPUT "${argument_tests}" VERBATIM
        COMMAND sh -c "\"$0\" \"$@\" >\"${argument_tests}\" || { rm -f \"${argument_tests}\"; exit 1; }" "${PROJECT_SOURCE_DIR}/tools/argument-tests" ${public_headers}
        DEPENDS tools/argument-tests ${public_headers})
    ulna_add_program(argument_tests /tests SOURCES "${argument_tests}")
    target_include_directories(argument_tests PRIVATE "${PROJECT_SOURCE_DIR}/tests/tools")
    add_test(NAME argument_tests COMMAND argument_tests)
    set_tests_properties(argument_tests PROPERTIES LABELS tools TIMEOUT 300 ENVIRONMENT "${test_environment}")

    add_test(NAME tools_check_layers COMMAND "${PROJECT_SOURCE_DIR}/tools/check-layers" "${PROJECT_BINARY_DIR}")
    add_test(NAME tools_check_interface COMMAND "${PROJECT_SOURCE_DIR}/tools/check-interface" $<TARGET_FILE:ulna_shared>)
    add_test(NAME tools_check_layers_self_test COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/check_layers_test.sh")
    add_test(NAME tools_check_map COMMAND "${PROJECT_SOURCE_DIR}/tools/check-map")
    add_test(NAME tools_bench_page COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/bench_page.sh")
    add_test(NAME tools_test_data_page COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/test_data_page.sh")
    add_test(NAME tools_skipped_tests COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/skipped_tests.sh" $<TARGET_FILE:test_track_defaults>)
    add_test(NAME tools_check_options COMMAND "${PROJECT_SOURCE_DIR}/tools/check-options")
    set_tests_properties(tools_check_layers tools_check_interface tools_check_layers_self_test tools_check_map tools_check_options tools_bench_page tools_test_data_page tools_skipped_tests PROPERTIES LABELS tools TIMEOUT 300)

    # Label programs: skipped where a program is missing, but not with ULNA_REQUIRE_DATA=1.
    # The scripts, styles and templates of the tool's pages.
    add_test(NAME tools_check_pages COMMAND "${PROJECT_SOURCE_DIR}/tools/check-pages")
    set_tests_properties(tools_check_pages PROPERTIES LABELS "tools;programs" TIMEOUT 300 SKIP_RETURN_CODE 77)

    # The report page in a browser. Once is enough: not under sanitizers.
    if(TARGET ulna AND NOT ULNA_SANITIZE AND NOT ULNA_FUZZ)
        add_test(NAME tools_report_page COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/report_page.sh" $<TARGET_FILE:ulna>
            "${PROJECT_BINARY_DIR}/report_page")
        set_tests_properties(tools_report_page PROPERTIES LABELS "tools;programs" TIMEOUT 300 SKIP_RETURN_CODE 77
            ENVIRONMENT "${test_environment}")
        add_test(NAME tools_picture COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/picture.sh" $<TARGET_FILE:ulna>)
        set_tests_properties(tools_picture PROPERTIES LABELS tools TIMEOUT 300 ENVIRONMENT "${test_environment}")
    endif()

    # A batch on a real Slurm, started for the test; skipped where its packages are missing.
    if(TARGET ulna AND NOT ULNA_SANITIZE AND NOT ULNA_FUZZ)
        add_test(NAME tools_slurm_batch COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/slurm_batch.sh" $<TARGET_FILE:ulna_with_faults>
            "${PROJECT_BINARY_DIR}/slurm_batch")
        set_tests_properties(tools_slurm_batch PROPERTIES LABELS "tools;programs" TIMEOUT 600 SKIP_RETURN_CODE 77
            ENVIRONMENT "${test_environment}")
    endif()

    # Every command while allocations fail; skipped under sanitizers, which have an allocator of their own.
    if(TARGET ulna)
        add_test(NAME tools_memory_faults COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/memory_faults.py" $<TARGET_FILE:ulna_with_faults>
            "${PROJECT_BINARY_DIR}/memory_faults")
        set_tests_properties(tools_memory_faults PROPERTIES LABELS tools TIMEOUT 600 SKIP_RETURN_CODE 77)
    endif()

    # What we write, judged by the Khronos validator.
    add_test(NAME tools_gltf_validate COMMAND "${PROJECT_SOURCE_DIR}/tests/tools/gltf_validate.sh" "${PROJECT_BINARY_DIR}"
        $<TARGET_FILE:test_gltf_write>)
    set_tests_properties(tools_gltf_validate PROPERTIES LABELS "tools;programs" TIMEOUT 300 SKIP_RETURN_CODE 77
        ENVIRONMENT "${test_environment}")

    # The installed package, used as a stranger would. A sanitized library does not suit a plain consumer.
    if(NOT ULNA_SANITIZE AND NOT ULNA_FUZZ)
        add_test(NAME install_consumer COMMAND "${PROJECT_SOURCE_DIR}/tests/consumer/run.sh"
            "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}" "${CMAKE_C_COMPILER}")
        set_tests_properties(install_consumer PROPERTIES LABELS install TIMEOUT 300)
        if(TARGET ulna)
            add_test(NAME readme COMMAND "${PROJECT_SOURCE_DIR}/tools/walk" --built "${PROJECT_BINARY_DIR}" "${CMAKE_COMMAND}")
            set_tests_properties(readme PROPERTIES LABELS install TIMEOUT 300 ENVIRONMENT "${test_environment}")
        endif()
    endif()
endif()

# ---- examples/*.c: written against the public headers, run as tests ---------------------------------------------
if(ULNA_EXAMPLES)
    file(GLOB examples CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/examples/*.c")
    set(take "${PROJECT_BINARY_DIR}/examples/take")
    set(calibrate_arguments ${take}/human.asf ${take}/walk.c3d ${take}/found.csv)
    set(track_c3d_arguments ${take}/human.asf ${take}/walk.c3d ${take}/walk-markers.csv ${take}/found.amc ${take}/found.bvh)
    foreach(source ${examples})
        cmake_path(GET source STEM name)
        ulna_add_program(example_${name} /examples SOURCES ${source})
        if(DEFINED ${name}_arguments AND NOT TARGET ulna)
            continue() # the tool makes its files
        endif()
        add_test(NAME example_${name} COMMAND example_${name} ${${name}_arguments})
        set_tests_properties(example_${name} PROPERTIES LABELS example TIMEOUT 120 ENVIRONMENT "${test_environment}"
            FIXTURES_REQUIRED example_take)
    endforeach()
    if(TARGET ulna)
        add_test(NAME example_take COMMAND ulna sample --quiet --force --only walk ${take})
        set_tests_properties(example_take PROPERTIES LABELS example FIXTURES_SETUP example_take ENVIRONMENT "${test_environment}")
    endif()
endif()

# ---- fuzz/fuzz_*.c: LLVMFuzzerTestOneInput ----------------------------------------------------------------------
# Always built with fuzz/replay_main.c and run over fuzz/seeds/<name>/ with mutations, so that no harness rots;
# with ULNA_FUZZ also as a libFuzzer program.
if(ULNA_TESTS OR ULNA_FUZZ)
    set(ULNA_REPLAY_MUTATIONS 2000 CACHE STRING "Mutations of each fuzz seed in the replay tests")
    file(GLOB fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/fuzz_*.c")
    foreach(source ${fuzzers})
        cmake_path(GET source STEM program)
        string(REGEX REPLACE "^fuzz_" "" name ${program})
        if(ULNA_FUZZ)
            ulna_add_program(${program} "" SOURCES ${source} PRIVATE_HEADERS)
            target_link_options(${program} PRIVATE -fsanitize=fuzzer)
        endif()
        if(ULNA_TESTS)
            ulna_add_program(replay_${name} /replay SOURCES ${source} fuzz/replay_main.c PRIVATE_HEADERS)
            add_test(NAME fuzz_replay_${name} COMMAND replay_${name} --mutations ${ULNA_REPLAY_MUTATIONS}
                "${PROJECT_SOURCE_DIR}/fuzz/seeds/${name}")
            set_tests_properties(fuzz_replay_${name} PROPERTIES LABELS fuzz TIMEOUT 300
                WORKING_DIRECTORY "${PROJECT_BINARY_DIR}" ENVIRONMENT "${test_environment}")
        endif()
    endforeach()
endif()

# ---- bench/bench_*.c: `bench_<suite> --json FILE` prints a table and writes the numbers -------------------------
# Files that only one suite needs are bench/<suite>_*.c.
if(ULNA_BENCH)
    file(GLOB benchmarks CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/bench_*.c")
    file(GLOB bench_support CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/support*.c")
    foreach(source ${benchmarks})
        cmake_path(GET source STEM name)
        string(REGEX REPLACE "^bench_" "" suite ${name})
        file(GLOB suite_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/${suite}_*.c")
        ulna_add_program(${name} "" SOURCES ${source} ${suite_sources} ${bench_support})
        target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src") # they measure what is inside, too
        target_compile_definitions(${name} PRIVATE "ULNA_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
        if(TARGET ulna) # which writes the built-in take, and which bench_batch runs
            add_dependencies(${name} ulna)
            target_compile_definitions(${name} PRIVATE "ULNA_BENCH_TOOL=\"$<TARGET_FILE:ulna>\"")
        endif()
    endforeach()
    target_sources(bench_calibrate PRIVATE bench/poses_measure.c) # which bench_poses has too
    target_sources(bench_constraints PRIVATE tests/support/support_constraints.c) # the scenes of test_constrained
    target_include_directories(bench_constraints PRIVATE "${PROJECT_SOURCE_DIR}/tests/support")
    include(Peers)
endif()
