# Other people's solvers, bench/peers_*, for bench_solvers. Those that are found are built in; none is needed.
# They are built as well as the compiler can for this very machine: a peer must not lose by our flags.
target_sources(bench_solvers PRIVATE bench/peers_skeleton.c)
set(peer_flags -ffp-contract=fast $<$<NOT:$<CONFIG:Debug>>:-O3>)
include(CheckCCompilerFlag)
check_c_compiler_flag(-march=native ULNA_HAS_MARCH_NATIVE)
if(ULNA_HAS_MARCH_NATIVE)
    list(APPEND peer_flags -march=native)
endif()
set_property(SOURCE bench/peers_skeleton.c APPEND PROPERTY COMPILE_OPTIONS ${peer_flags})

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(NLOPT QUIET IMPORTED_TARGET nlopt)
endif()
if(NLOPT_FOUND)
    target_sources(bench_solvers PRIVATE bench/peers_nlopt.c)
    target_link_libraries(bench_solvers PRIVATE PkgConfig::NLOPT)
    target_compile_definitions(bench_solvers PRIVATE ULNA_BENCH_NLOPT)
endif()

# Ceres is C++, the only use of it here, so the language is asked for no earlier. Eigen's templates are compiled here
# with other flags than in the library of Ceres: hidden, so that neither takes the other's. Not with sanitizers: the C++
# compiler may be another one.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT ULNA_SANITIZE)
    enable_language(CXX)
    set(CMAKE_MESSAGE_LOG_LEVEL ERROR) # QUIET does not reach what Ceres itself looks for
    find_package(Ceres QUIET)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
endif()
if(Ceres_FOUND)
    add_library(ulna_bench_ceres STATIC bench/peers_ceres.cc bench/peers_tiny.cc)
    target_include_directories(ulna_bench_ceres PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
    target_compile_features(ulna_bench_ceres PRIVATE cxx_std_17)
    target_compile_options(ulna_bench_ceres PRIVATE -Wall -Wextra $<$<BOOL:${ULNA_DEVELOPER}>:-Werror> ${peer_flags})
    target_link_libraries(ulna_bench_ceres PRIVATE Ceres::ceres)
    set_target_properties(ulna_bench_ceres PROPERTIES
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
    target_link_libraries(bench_solvers PRIVATE ulna_bench_ceres)
    target_compile_definitions(bench_solvers PRIVATE ULNA_BENCH_CERES)
endif()
