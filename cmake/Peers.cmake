# Other people's solvers, bench/peers_*, for bench_solvers and bench_track. Those that are found are built in; none is
# needed.
# They are built as well as the compiler can for this very machine: a peer must not lose by our flags.
target_sources(bench_solvers PRIVATE bench/peers_skeleton.c)
set(peer_flags -ffp-contract=fast $<$<NOT:$<CONFIG:Debug>>:-O3>)
include(CheckCCompilerFlag)
check_c_compiler_flag(-march=native ULNA_HAS_MARCH_NATIVE)
if(ULNA_HAS_MARCH_NATIVE)
    list(APPEND peer_flags -march=native)
endif()
set_property(SOURCE bench/peers_skeleton.c bench/track_skeleton.c APPEND PROPERTY COMPILE_OPTIONS ${peer_flags})

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
    pkg_check_modules(NLOPT QUIET IMPORTED_TARGET nlopt)
endif()
if(NLOPT_FOUND)
    target_sources(bench_solvers PRIVATE bench/peers_nlopt.c)
    target_link_libraries(bench_solvers PRIVATE PkgConfig::NLOPT)
    target_compile_definitions(bench_solvers PRIVATE ULNA_BENCH_NLOPT)
endif()

# ulna_add_peers(<name> <bench> <what defines it> SOURCES... LIBRARIES...): peers in C++. Templates of their headers are
# compiled here with other flags than in their libraries: hidden, so that neither takes the other's.
function(ulna_add_peers name bench definition)
    cmake_parse_arguments(PARSE_ARGV 3 peers "" "" "SOURCES;LIBRARIES")
    add_library(${name} STATIC ${peers_SOURCES})
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
    target_compile_features(${name} PRIVATE cxx_std_17)
    target_compile_options(${name} PRIVATE -Wall -Wextra $<$<BOOL:${ULNA_DEVELOPER}>:-Werror> ${peer_flags})
    target_link_libraries(${name} PRIVATE ${peers_LIBRARIES})
    set_target_properties(${name} PROPERTIES
        CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_EXTENSIONS OFF)
    target_link_libraries(${bench} PRIVATE ${name})
    target_compile_definitions(${bench} PRIVATE ${definition})
endfunction()

# The only C++ here, so the language is asked for no earlier. Not with sanitizers: the C++ compiler may be another one.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER AND NOT ULNA_SANITIZE)
    enable_language(CXX)
    set(CMAKE_MESSAGE_LOG_LEVEL ERROR) # QUIET does not reach what Ceres itself looks for
    find_package(Ceres QUIET)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
    find_package(Simbody QUIET)
endif()
if(Ceres_FOUND)
    ulna_add_peers(ulna_bench_ceres bench_solvers ULNA_BENCH_CERES
        SOURCES bench/peers_ceres.cc bench/peers_tiny.cc LIBRARIES Ceres::ceres)
    ulna_add_peers(ulna_bench_track_ceres bench_track ULNA_BENCH_CERES
        SOURCES bench/peers_track_ceres.cc LIBRARIES Ceres::ceres)
endif()
if(Simbody_FOUND)
    ulna_add_peers(ulna_bench_track_simbody bench_track ULNA_BENCH_SIMBODY
        SOURCES bench/peers_track_simbody.cc LIBRARIES SimTKsimbody)
    target_include_directories(ulna_bench_track_simbody SYSTEM PRIVATE "${Simbody_INCLUDE_DIR}")
endif()
