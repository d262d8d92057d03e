/*
 * Every recorded file of other people, and what must come of it: read as the data's README says, with these remarks and no
 * others, or refused with this message. A file that is not in the table fails the test, so that none is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "support_recorded.h"

#define ACCLAIM (0.0254 / 0.45)

typedef struct expected {
    const char *name;
    ulna_format format;
    int bodies, dofs, markers, frames;
    int first; /* number of the first frame; 0 stands for 1, as most files have it */
    int is_from_zero;
    long long missing;      /* positions */
    double seconds, unit_m; /* between frames, to the bit; of a unit of length */
    char up;
    const char *remarks[8]; /* all of them, in order */
    ulna_status status;
    int line;
    const char *error;
} expected;

// clang-format off
static const expected motions[] = {
    {"bvh/animdraw_cmu1_jumping_jacks.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 125, .seconds = 0.03333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.258 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.46 m"}},
    {"bvh/assimp_Boxing_Toes_extra_frame.bvh", ULNA_FORMAT_BVH, .bodies = 26, .dofs = 66, .frames = 3070, .seconds = 0.01, .unit_m = 0.01, .up = 'y',
     .remarks = {"the file states 3069 frames but has 3070"}},
    {"bvh/bvh_anim_simple.bvh", ULNA_FORMAT_BVH, .bodies = 3, .dofs = 9, .frames = 2, .seconds = 0.033333333, .unit_m = 0.01, .up = 'y'},
    {"bvh/bvhtoolbox_walk01.bvh", ULNA_FORMAT_BVH, .bodies = 24, .dofs = 60, .frames = 101, .seconds = 0.0416667, .unit_m = 0.01, .up = 'y',
     .remarks = {"the positions of 'Hips' are taken to replace its OFFSET"}},
    {"bvh/fairmotion_sinusoidal_no_endsite.bvh", ULNA_FORMAT_BVH, .bodies = 4, .dofs = 15, .frames = 120, .seconds = 1 / 60.0, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.08 m in size; with a unit of 1 dm it would be 0.8 m"}},
    {"bvh/makehuman_benchmark_6ch.bvh", ULNA_FORMAT_BVH, .bodies = 212, .dofs = 891, .frames = 1, .seconds = 0.041667, .unit_m = 0.01, .up = 'y',
     .remarks = {"the positions of 'root' are taken to add to its OFFSET",
                 "the positions of 133 joints below the root are taken to add to their OFFSETs",
                 "with a unit of 0.01 m the skeleton is 0.166 m in size; with a unit of 1 dm it would be 1.66 m"}},
    {"bvh/makehuman_face_poseunits.bvh", ULNA_FORMAT_BVH, .bodies = 212, .dofs = 492, .frames = 60, .seconds = 0.041667, .unit_m = 0.01, .up = 'y',
     .remarks = {"the positions of 'root' are taken to add to its OFFSET",
                 "with a unit of 0.01 m the skeleton is 0.167 m in size; with a unit of 1 dm it would be 1.67 m"}},
    {"bvh/makehuman_walk1.bvh", ULNA_FORMAT_BVH, .bodies = 91, .dofs = 228, .frames = 14, .seconds = 0.041667, .unit_m = 0.01, .up = 'y',
     .remarks = {"the positions of 'Root' are taken to add to its OFFSET",
                 "with a unit of 0.01 m the skeleton is 0.164 m in size; with a unit of 1 dm it would be 1.64 m"}},
    {"bvh/momentum_simple.bvh", ULNA_FORMAT_BVH, .bodies = 6, .dofs = 15, .frames = 3, .seconds = 0.033333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.12 m in size; with a unit of 1 dm it would be 1.2 m"}},
    {"bvh/pybvh_YXZ_23j.bvh", ULNA_FORMAT_BVH, .bodies = 28, .dofs = 72, .frames = 61, .seconds = 0.008333, .unit_m = 0.01, .up = 'y'},
    {"bvh/pybvh_full_precision_frame_time.bvh", ULNA_FORMAT_BVH, .bodies = 3, .dofs = 9, .frames = 3, .seconds = 0.0417083750417, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.15 m in size; with a unit of 1 dm it would be 1.5 m"}},
    {"bvh/pybvh_mixed_orders_24j.bvh", ULNA_FORMAT_BVH, .bodies = 29, .dofs = 75, .frames = 75, .seconds = 0.033333, .unit_m = 0.01, .up = 'y'},
    {"bvh/pybvh_standard_skeleton.bvh", ULNA_FORMAT_BVH, .bodies = 29, .dofs = 75, .frames = 1, .seconds = 0.008333, .unit_m = 0.01, .up = 'y'},
    {"bvh/pymo_AV_8Walk_Meredith.bvh", ULNA_FORMAT_BVH, .bodies = 30, .dofs = 72, .frames = 1064, .seconds = 0.008333, .unit_m = 0.01, .up = 'y',
     .remarks = {"the positions of 'Hips' are taken to replace its OFFSET"}},
    {"bvh/secondlife_per_joint_orders.bvh", ULNA_FORMAT_BVH, .bodies = 24, .dofs = 60, .frames = 19, .seconds = 0.03333333, .unit_m = 0.01, .up = 'y'},
    {"bvh/threejs_pirouette.bvh", ULNA_FORMAT_BVH, .bodies = 57, .dofs = 132, .frames = 592, .seconds = 0.00833333, .unit_m = 0.01, .up = 'y'},
    {"cmu/02.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/02_01.amc", ULNA_FORMAT_AMC, .frames = 343, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/02_01_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 344, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.262 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.48 m"}},
    {"cmu/02_03.amc", ULNA_FORMAT_AMC, .frames = 173, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/02_03_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 174, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.262 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.48 m"}},
    {"cmu/02_05.amc", ULNA_FORMAT_AMC, .frames = 1854, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/02_05_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 1855, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.262 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.48 m"}},
    {"cmu/03.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/03_02.amc", ULNA_FORMAT_AMC, .frames = 365, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/03_02_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 366, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.264 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.49 m"}},
    {"cmu/11.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/11_01.amc", ULNA_FORMAT_AMC, .frames = 597, .unit_m = ACCLAIM, .up = 'y'},
    {"cmu/11_01_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 598, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.276 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.56 m"}},
    {"cmu/16_15_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 472, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.266 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.5 m"}},
    {"cmu/16_35_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 163, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.266 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.5 m"}},
    {"cmu/35_01_cgspeed_mb.bvh", ULNA_FORMAT_BVH, .bodies = 38, .dofs = 96, .frames = 359, .seconds = 0.0083333, .unit_m = 0.01, .up = 'y',
     .remarks = {"with a unit of 0.01 m the skeleton is 0.265 m in size; with a unit of 1/0.45 inch (0.0564444 m) it would be 1.5 m"}},
    {"hand/webxr_generic_hand_right.glb", ULNA_FORMAT_GLB, .bodies = 26, .dofs = 81, .unit_m = 1, .up = 'y'},
    {"hdm05/HDM_bd.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_bd_kickLFront1Reps_001_120.amc", ULNA_FORMAT_AMC, .frames = 161, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_bk.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_bk_kickLFront1Reps_007_120.amc", ULNA_FORMAT_AMC, .frames = 293, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_dg.asf", ULNA_FORMAT_ASF, .bodies = 38, .dofs = 62, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_dg_01-03_01_120.amc", ULNA_FORMAT_AMC, .frames = 3498, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_dg_03-05_02_120.amc", ULNA_FORMAT_AMC, .frames = 3866, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_dg_06-03_03_120.amc", ULNA_FORMAT_AMC, .frames = 202, .unit_m = ACCLAIM, .up = 'y'},
    {"hdm05/HDM_dg_kickLFront1Reps_013_120.amc", ULNA_FORMAT_AMC, .frames = 359, .unit_m = ACCLAIM, .up = 'y'},
    {"urdf/allegro_right_hand.urdf", ULNA_FORMAT_URDF, .bodies = 21, .dofs = 16, .unit_m = 1, .up = 'z'},
    {"urdf/bullet_humanoid_spherical.urdf", ULNA_FORMAT_URDF, .bodies = 16, .dofs = 28, .unit_m = 1, .up = 'z',
     .remarks = {"zero bytes at the end of the file are passed over",
                 "8 joints are of type spherical, which URDF does not have, such as \"chest\": read as ball joints"}},
    {"urdf/dart_test_joint_properties.urdf", ULNA_FORMAT_URDF, .bodies = 3, .dofs = 2, .unit_m = 1, .up = 'z'},
    {"urdf/double_pendulum_continuous.urdf", ULNA_FORMAT_URDF, .bodies = 3, .dofs = 2, .unit_m = 1, .up = 'z'},
    {"urdf/jaxsim_4_bar_opened.urdf", ULNA_FORMAT_URDF, .bodies = 7, .dofs = 4, .unit_m = 1, .up = 'z'},
    {"urdf/kinova_jaco.urdf", ULNA_FORMAT_URDF, .bodies = 13, .dofs = 6, .unit_m = 1, .up = 'z'},
    {"urdf/kuka_iiwa_bullet.urdf", ULNA_FORMAT_URDF, .bodies = 8, .dofs = 7, .unit_m = 1, .up = 'z'},
    {"urdf/nao.urdf", ULNA_FORMAT_URDF, .bodies = 79, .dofs = 42, .unit_m = 1, .up = 'z'},
    {"urdf/panda.urdf", ULNA_FORMAT_URDF, .bodies = 13, .dofs = 9, .unit_m = 1, .up = 'z'},
    {"urdf/stretch_SE3.urdf", ULNA_FORMAT_URDF, .bodies = 61, .dofs = 14, .unit_m = 1, .up = 'z'},
    {"urdf/unitree_g1_29dof.urdf", ULNA_FORMAT_URDF, .bodies = 39, .dofs = 29, .unit_m = 1, .up = 'z',
     .remarks = {"1 element is not of URDF, such as <mujoco>: passed over"}},
    {"urdf/ur5_robot.urdf", ULNA_FORMAT_URDF, .bodies = 11, .dofs = 6, .unit_m = 1, .up = 'z'},
};
// clang-format on

// clang-format off
static const expected recordings[] = {
    {"c3d/btk_Analysis.c3d", ULNA_FORMAT_C3D, .markers = 24, .frames = 101, .seconds = 0.01, .unit_m = 0.001,
     .remarks = {"points that are not positions are listed in POINT:ANGLES (10), FORCES (2), MOMENTS (6), POWERS (6)",
                 "2 positions are exactly zero: they may be missing"}},
    {"c3d/btk_MyCube.c3d", ULNA_FORMAT_C3D, .markers = 14, .frames = 1, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/btk_PiG_Calibration3_FF.c3d", ULNA_FORMAT_C3D, .markers = 66, .missing = 4, .frames = 95, .first = 604, .seconds = 0.01, .unit_m = 0.001, .up = 'z',
     .remarks = {"points that are not positions are listed in POINT:ANGLES (12)"}},
    {"c3d/btk_PiG_Motion3_FF.c3d", ULNA_FORMAT_C3D, .markers = 97, .missing = 4429, .frames = 293, .first = 725, .seconds = 0.01, .unit_m = 0.001, .up = 'z',
     .remarks = {"points that are not positions are listed in POINT:ANGLES (12), FORCES (10), MOMENTS (8), POWERS (6)"}},
    {"c3d/btk_parameterOverflow.c3d", ULNA_FORMAT_C3D, .markers = 142, .frames = 101, .seconds = 0.01, .unit_m = 0.001, .up = 'z',
     .remarks = {"the parameter section continues beyond its stated end at byte 24064",
                 "points that are not positions are listed in POINT:ANGLES (12), FORCES (10), MOMENTS (8), POWERS (6)",
                 "78 positions are exactly zero: they may be missing",
                 "118 markers are at zero in every frame, such as 'LFHD'"}},
    {"c3d/btk_shd01.c3d", ULNA_FORMAT_C3D, .markers = 27, .frames = 237, .first = 91, .seconds = 0.004, .unit_m = 0.001, .up = 'z'},
    {"c3d/mfr_innovative_sports_training.c3d", ULNA_FORMAT_C3D, .markers = 24, .missing = 24, .frames = 134, .seconds = 1 / 60.0, .unit_m = 1},
    {"c3d/mfr_motion_analysis_corporation.c3d", ULNA_FORMAT_C3D, .markers = 49, .missing = 1208, .frames = 151, .seconds = 1 / 60.0, .unit_m = 0.001, .up = 'z',
     .remarks = {"12 markers have the same name as another, such as 'VRTO'; the first one is used"}},
    {"c3d/s01_Eb015pi.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s01_Eb015pr.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s01_Eb015si.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s01_Eb015sr.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s01_Eb015vi.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s01_Eb015vr.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s06_MACsample.c3d", ULNA_FORMAT_C3D, .markers = 33, .missing = 3565, .frames = 180, .seconds = 1 / 60.0, .unit_m = 0.001, .up = 'z',
     .remarks = {"the header's scale is 0.0551136, POINT:SCALE 0.0215412; points are read as integers of 0.0551136",
                 "12 markers have the same name as another, such as 'RTHI'; the first one is used"}},
    {"c3d/s08_TESTAPI.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s08_TESTBPI.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s08_TESTCPI.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s08_TESTDPI.c3d", ULNA_FORMAT_C3D, .markers = 26, .missing = 226, .frames = 450, .seconds = 0.02, .unit_m = 0.001, .up = 'z'},
    {"c3d/s09_PlugInC3D.c3d", ULNA_FORMAT_C3D, .markers = 86, .missing = 9187, .frames = 281, .seconds = 1 / 60.0, .unit_m = 0.001, .up = 'z',
     .remarks = {"points that are not positions are listed in POINT:ANGLES (10), FORCES (8), MOMENTS (8), POWERS (6)",
                 "1254 positions are exactly zero: they may be missing"}},
    {"c3d/s15_peak_FP1.c3d", ULNA_FORMAT_C3D, .markers = 8, .frames = 480, .seconds = 1 / 60.0, .unit_m = 1,
     .remarks = {"the parameter section continues beyond its stated end at byte 2048"}},
    {"c3d/s18_bad_parameter_section.c3d", ULNA_FORMAT_C3D, .markers = 45, .missing = 6044, .frames = 332, .seconds = 1 / 120.0, .unit_m = 0.001, .up = 'z',
     .remarks = {"a parameter points outside the parameter section; the parameters after it are lost"}},
    {"c3d/s24_MotionMonitor.c3d", ULNA_FORMAT_C3D, .markers = 8, .frames = 840, .seconds = 1 / 140.0, .unit_m = 1,
     .remarks = {"the header states 16 analog samples per frame; the length of the file fits 112, which is used",
                 "1 of 8 points has no label: called point1, point2, ... by number"}},
    {"c3d/s28_BTS_type1.c3d", ULNA_FORMAT_C3D, .markers = 28, .missing = 1796, .frames = 296, .seconds = 0.01, .unit_m = 0.001},
    {"cmu/02_01.c3d", ULNA_FORMAT_C3D, .markers = 41, .frames = 343, .first = 50, .seconds = 1 / 120.0, .unit_m = 0.001, .up = 'z'},
    {"hand/dexretarget_human_joint_right.csv", ULNA_FORMAT_CSV, .markers = 21, .frames = 621, .is_from_zero = 1, .unit_m = 1,
     .remarks = {"no unit of length is given (all names such as 'LASI.x_mm', or a line '# lengths: mm'); metres are assumed",
                 "1 marker is at zero in every frame, such as 'wrist'"}},
    {"hdm05/HDM_dg_01-03_01_120.c3d", ULNA_FORMAT_C3D, .markers = 44, .frames = 3498, .seconds = 1 / 120.0, .unit_m = 0.001},
    {"hdm05/HDM_dg_03-02_02_120.c3d", ULNA_FORMAT_C3D, .markers = 44, .frames = 5861, .seconds = 1 / 120.0, .unit_m = 0.001},
    {"hdm05/HDM_dg_03-05_02_120.c3d", ULNA_FORMAT_C3D, .markers = 44, .frames = 3866, .seconds = 1 / 120.0, .unit_m = 0.001},
    {"hdm05/HDM_dg_06-03_03_120.c3d", ULNA_FORMAT_C3D, .markers = 44, .frames = 202, .first = 2925, .seconds = 1 / 120.0, .unit_m = 0.001},
    {"trc/formats/btk_10002-Unnamed.trc", ULNA_FORMAT_TRC, .frames = 882, .seconds = 0.0025, .unit_m = 0.001,
     .remarks = {"no marker is named",
                 "6426 values are in columns without a marker name and are left out"}},
    {"trc/formats/btk_Gait.c3d", ULNA_FORMAT_C3D, .markers = 33, .missing = 9682, .frames = 487, .seconds = 0.01, .unit_m = 0.001, .up = 'z',
     .remarks = {"6 markers have the same name as another, such as 'RKNE'; the first one is used"}},
    {"trc/formats/btk_Gait.trc", ULNA_FORMAT_TRC, .markers = 33, .missing = 7306, .frames = 487, .seconds = 0.01, .unit_m = 0.001,
     .remarks = {"NumMarkers is 66, but 33 markers are named",
                 "10065 values are in columns without a marker name and are left out"}},
    {"trc/formats/motek_ballet_reduced.trc", ULNA_FORMAT_TRC, .markers = 41, .frames = 100, .seconds = 1 / 30.0, .unit_m = 0.001},
    {"trc/formats/osim_dataWithBlanksForMissingMarkers.trc", ULNA_FORMAT_TRC, .markers = 40, .missing = 15005, .frames = 464, .seconds = 0.004, .unit_m = 0.001},
    {"trc/formats/osim_dataWithNaNsOfDifferentCases.trc", ULNA_FORMAT_TRC, .markers = 14, .missing = 5, .frames = 5, .seconds = 0.004, .unit_m = 0.001},
    {"trc/formats/osim_exampleFormat.trc", ULNA_FORMAT_TRC, .markers = 3, .missing = 2, .frames = 5, .first = 2, .seconds = 0.01, .unit_m = 1,
     .remarks = {"frame 1 has the time 0.01 s; frames are numbered from 2 to keep the times"}},
    {"trc/formats/osim_std_walking5_markers.trc", ULNA_FORMAT_TRC, .markers = 40, .missing = 2077, .frames = 112, .seconds = 0.04, .unit_m = 0.001,
     .remarks = {"1 of 111 time steps is not 0.04 s; even steps are assumed",
                 "the stated rate is 250 per second, but times are 0.04 s apart; the times are used"}},
    {"trc/formats/osim_walking5.c3d", ULNA_FORMAT_C3D, .markers = 40, .missing = 20082, .frames = 1103, .seconds = 0.004, .unit_m = 0.001, .up = 'z'},
    {"trc/gait10dof18musc/subject01_walk.trc", ULNA_FORMAT_TRC, .markers = 41, .frames = 151, .seconds = 1 / 60.0, .unit_m = 0.001},
    {"trc/gait2354/subject01_static.trc", ULNA_FORMAT_TRC, .markers = 49, .frames = 300, .seconds = 1 / 60.0, .unit_m = 0.001},
    {"trc/gait2354/subject01_walk1.trc", ULNA_FORMAT_TRC, .markers = 41, .frames = 151, .seconds = 1 / 60.0, .unit_m = 0.001},
    {"trc/opensim_ik_test/subject01_synthetic_marker_data.trc", ULNA_FORMAT_TRC, .markers = 31, .frames = 73, .first = 25, .seconds = 1 / 60.0, .unit_m = 1,
     .remarks = {"frame 1 has the time 0.4 s; frames are numbered from 25 to keep the times"}},
    {"trc/rajagopal/motion_capture_walk.trc", ULNA_FORMAT_TRC, .markers = 41, .frames = 238, .seconds = 0.01, .unit_m = 0.001},
    {"trc/rajagopal/static_walk_2.trc", ULNA_FORMAT_TRC, .markers = 41, .frames = 153, .seconds = 0.01, .unit_m = 0.001},
};
// clang-format on

// clang-format off
static const expected refused[] = {
    {"c3d/btk_Empty.c3d", .status = ULNA_ERR_PARSE, .line = 0, .error = "the file is empty"},
    {"cmu/READMEFIRST_cgspeed.txt", .status = ULNA_ERR_FORMAT, .line = 0, .error = "unknown file format; Ulna reads Ulna model (JSON), Acclaim skeleton (ASF), Acclaim motion (AMC), Biovision (BVH), C3D, TRC, OpenSim motion (MOT, STO), CSV, glTF (JSON), glTF (binary), URDF"},
    {"hand/iwer_pinch_hand_pose.json", .status = ULNA_ERR_PARSE, .line = 1, .error = "this JSON is not an Ulna model: it does not say \"format\": \"ulna-model\""},
    {"hand/iwer_relaxed_hand_pose.json", .status = ULNA_ERR_PARSE, .line = 1, .error = "this JSON is not an Ulna model: it does not say \"format\": \"ulna-model\""},
    {"trc/formats/btk_Truncated.trc", .status = ULNA_ERR_PARSE, .line = 2, .error = "the file ends before the values of DataRate, NumFrames, ..."},
    {"trc/gait10dof18musc/expected_subject01_walk_IK.mot", .status = ULNA_ERR_STATE, .line = 11, .error = "this file holds joint values: reading it needs their skeleton"},
    {"trc/gait2354/expected_subject01_static_output.mot", .status = ULNA_ERR_STATE, .line = 7, .error = "this file holds joint values: reading it needs their skeleton"},
    {"trc/gait2354/expected_subject01_walk1_ik.mot", .status = ULNA_ERR_STATE, .line = 11, .error = "this file holds joint values: reading it needs their skeleton"},
    {"trc/opensim_ik_test/std_markers_coords_ik.sto", .status = ULNA_ERR_STATE, .line = 5, .error = "this file holds joint values: reading it needs their skeleton"},
    {"trc/opensim_ik_test/std_subject01_walk1_ik.mot", .status = ULNA_ERR_STATE, .line = 12, .error = "this file holds joint values: reading it needs their skeleton"},
};
// clang-format on

/* Models and set-ups of OpenSim, beside its motions. */
static const char *const others[] = {
    "trc/gait10dof18musc/subject01.osim",
    "trc/gait10dof18musc/walk_Setup_IK.xml",
    "trc/gait2354/expected_subject01_scaledOnly.osim",
    "trc/gait2354/gait2354_Scale_MarkerSet.xml",
    "trc/gait2354/gait2354_simbody.osim",
    "trc/gait2354/subject01_Setup_IK.xml",
    "trc/gait2354/subject01_Setup_Scale.xml",
    "trc/gait2354/subject01_simbody.osim",
    "trc/opensim_ik_test/gait2354_IK_Tasks.xml",
    "trc/opensim_ik_test/gait2354_IK_Tasks_uniform.xml",
    "trc/opensim_ik_test/subject01_Setup_InverseKinematics.xml",
    "trc/opensim_ik_test/subject01_Setup_InverseKinematics_NoModel.xml",
    "trc/opensim_ik_test/subject01_simbody.osim",
    "trc/rajagopal/Rajagopal2016.osim",
    "trc/rajagopal/ik_setup_walk.xml",
};

/* ---- one file ----------------------------------------------------------------------------------------------------- */

static void check_error(const expected *e, const ulna_error *error)
{
    if (error->status != e->status || error->line != e->line || strcmp(error->message, e->error) != 0)
        fail_msg("%s:%d: %s", e->name, error->line, error->message);
    assert_non_null(strstr(error->path, e->name));
}

static void check_remarks(const expected *e, const ulna_remarks *remarks)
{
    size_t count = 0;
    for (; count < sizeof e->remarks / sizeof *e->remarks && e->remarks[count]; count++)
        if (count >= remarks->count || strcmp(remarks->items[count].message, e->remarks[count]) != 0)
            fail_msg("%s: \"%s\" instead of \"%s\"", e->name,
                     count < remarks->count ? remarks->items[count].message : "", e->remarks[count]);
    if (count < remarks->count)
        fail_msg("%s: %s", e->name, remarks->items[count].message);
}

static void check_number(const expected *e, const char *what, double found, double wanted)
{
    if (found != wanted)
        fail_msg("%s: %s is %.17g, not %.17g", e->name, what, found, wanted);
}

static void check_content(const expected *e, const ulna_content *content)
{
    const ulna_clip *clip = &content->clip;
    const ulna_recording *recording = &content->recording;
    int has_clip = clip->frame_count > 0;
    check_number(e, "format", content->format, e->format);
    check_number(e, "bodies", content->model ? ulna_model_body_count(content->model) : 0, e->bodies);
    check_number(e, "degrees of freedom", content->model ? ulna_model_dof_count(content->model) : 0, e->dofs);
    check_number(e, "markers", recording->marker_count, e->markers);
    check_number(e, "missing", (double)ulna_recording_missing(recording), (double)e->missing);
    check_number(e, "frames", has_clip ? clip->frame_count : recording->frame_count, e->frames);
    check_number(e, "first frame", has_clip ? clip->first_frame : recording->first_frame,
                 e->first || e->is_from_zero ? e->first : 1);
    check_number(e, "seconds", has_clip ? clip->frame_seconds : recording->frame_seconds, e->seconds);
    check_number(e, "unit", content->source.unit_m, e->unit_m);
    check_number(e, "up", content->source.up, e->up);
    check_remarks(e, &content->remarks);
}

static void check_files(const expected *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ulna_content skeleton, content;
        ulna_error error;
        ulna_status status = ulna_test_recorded_read(list[i].name, &skeleton, &content, &error);
        if (status != list[i].status)
            fail_msg("%s: %s", list[i].name, status ? error.message : "is read");
        if (status)
            check_error(&list[i], &error);
        else
            check_content(&list[i], &content);
        ulna_content_release(&content);
        ulna_content_release(&skeleton);
    }
}

/* ---- tests -------------------------------------------------------------------------------------------------------- */

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void skeletons_and_motions_are_read(void **state)
{
    (void)state;
    check_files(motions, COUNT(motions));
}

static void markers_are_read(void **state)
{
    (void)state;
    check_files(recordings, COUNT(recordings));
}

static void the_others_are_refused_by_name_of_the_defect(void **state)
{
    (void)state;
    check_files(refused, COUNT(refused));
}

static int is_listed(const char *name)
{
    const struct {
        const expected *list;
        size_t count;
    } lists[] = {{motions, COUNT(motions)}, {recordings, COUNT(recordings)}, {refused, COUNT(refused)}};
    for (size_t l = 0; l < COUNT(lists); l++)
        for (size_t i = 0; i < lists[l].count; i++)
            if (strcmp(lists[l].list[i].name, name) == 0)
                return 1;
    for (size_t i = 0; i < COUNT(others); i++)
        if (strcmp(others[i], name) == 0)
            return 1;
    return 0;
}

static void no_file_is_forgotten(void **state)
{
    (void)state;
    static const char *const folders[] = {"bvh", "c3d", "cmu", "hand", "hdm05", "trc", "urdf"};
    ulna_test_recorded list = {0};
    for (size_t i = 0; i < COUNT(folders); i++)
        ulna_test_recorded_add(&list, folders[i]);
    for (size_t i = 0; i < list.count; i++)
        if (!is_listed(list.names[i]))
            fail_msg("%s is in no table of this test", list.names[i]);
    assert_int_equal(list.count, COUNT(motions) + COUNT(recordings) + COUNT(refused) + COUNT(others));
    ulna_test_recorded_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("bvh cmu hand hdm05 urdf", cmocka_unit_test(skeletons_and_motions_are_read)),
        ulna_test_needs("c3d cmu hand hdm05 trc", cmocka_unit_test(markers_are_read)),
        ulna_test_needs("c3d cmu hand trc", cmocka_unit_test(the_others_are_refused_by_name_of_the_defect)),
        ulna_test_needs("bvh c3d cmu hand hdm05 trc urdf", cmocka_unit_test(no_file_is_forgotten)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
