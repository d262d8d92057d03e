/* The table of items: what each paper shows, what it reports, and why ours differs. */
#include "cli/paper/paper.h"

#define CONVERGENCE_PARTS(name, what)                                                                                          \
    {name, 0, DRAW_CURVES, "panel,frame,method,iteration,f_cm2", what, "iterations", "f in cm²", NULL},                        \
    {                                                                                                                          \
        name "-summary", 0, DRAW_TABLE, NULL,                                                                                  \
            "Medians over the frames; solved: f less than 1e-2 cm² above the least, which newton finds from the frame's pose", \
            NULL, NULL, NULL                                                                                                   \
    }
#define BOTH_OFFSETS(name, what)                                                                                       \
    {                                                                                                                  \
        CONVERGENCE_PARTS(name, what " Offsets of the frame's own pose, as in the paper: f = 0 can be reached."),      \
            CONVERGENCE_PARTS(name "-fixed",                                                                           \
                              what " Fixed offsets, calibrated on the take: what a user has. f cannot reach 0."),      \
        {                                                                                                              \
            0                                                                                                          \
        }                                                                                                              \
    }

static const paper_part fig3_parts[] = BOTH_OFFSETS("fig3", "From the pose of the frame before.");
static const paper_part fig4_parts[] = BOTH_OFFSETS("fig4", "Limits: the range of the motion and 5 % more.");
static const paper_part fig5_parts[] = BOTH_OFFSETS("fig5", "From θ = 0, the root in the middle of the markers.");
static const paper_part fig7_parts[] = BOTH_OFFSETS("fig7", "A workout: one frame of each exercise.");
static const paper_part fig8_parts[] = {
    {"fig8", 0, DRAW_CURVES, "panel,frame,method,iteration,f_cm2", "One frame, 18 settings of PCG.", "iterations",
     "f in cm²", NULL},
    {"fig8-summary", 0, DRAW_TABLE, NULL, "Iterations until f < 1e-2 cm² (-1: never)", NULL, NULL, NULL},
    {0},
};
static const paper_part table3_parts[] = {
    {"table3-paper", 1, DRAW_BARS, "motion,method,s", "Seconds to f < 1e-2 cm² (MATLAB).", NULL, "s",
     "motion,method,s,calls\n"
     "walking,quasi-Newton,5.30,213\nwalking,exact Hessian,0.59,3.7\nwalking,LM,0.25,7.8\n"
     "punching,quasi-Newton,6.05,299.3\npunching,exact Hessian,2.54,13.3\npunching,LM,0.49,17.3\n"
     "kicking,quasi-Newton,4.68,232.3\nkicking,exact Hessian,0.64,4.7\nkicking,LM,0.29,10\n"
     "workout,quasi-Newton,5.05,219.8\nworkout,exact Hessian,0.78,4.8\nworkout,LM,0.25,9\n"},
    {"table3-paper", 1, DRAW_TABLE, NULL, "Table 3 as printed", NULL, NULL, NULL},
    {"table3", 0, DRAW_BARS, "motion+offsets,method,ms", "Milliseconds to f < 1e-2 cm² above the least.", NULL, "ms",
     NULL},
    {"table3", 0, DRAW_TABLE, NULL,
     "Means over the frames. Oracle: the least f is 0. Fixed: the least is where newton ends from the frame's pose",
     NULL, NULL, NULL},
    {0},
};
static const paper_part timing_parts[] = {
    {"timing-paper", 1, DRAW_BARS, "what,method,s", "Seconds for at most 100 iterations (MATLAB).", NULL, "s",
     "what,method,s\n100 iterations,quasi-Newton,2.6\n100 iterations,exact Hessian,19.2\n"},
    {"timing", 0, DRAW_BARS, "offsets,method,ms", "Milliseconds for at most 100 iterations.", NULL, "ms", NULL},
    {"timing", 0, DRAW_TABLE, NULL, "Means over the frames of Fig. 3", NULL, NULL, NULL},
    {0},
};
static const paper_part table4_parts[] = {
    {"table4-paper", 1, DRAW_BARS, "take,method,error_cm", "Sum of the distances of 41 markers, cm a frame.", NULL,
     "cm",
     "take,method,s,error_cm\n"
     "dg_03-05_02,quasi-Newton 10,0.38,23.78\ndg_03-05_02,quasi-Newton 100,2.63,1.61\ndg_03-05_02,exact Hessian 10,1.01,0.5\n"
     "dg_03-02_03,quasi-Newton 10,0.31,15.25\ndg_03-02_03,quasi-Newton 100,4.25,1.65\ndg_03-02_03,exact Hessian 10,0.69,0.13\n"
     "bk_05-03_03,quasi-Newton 10,0.33,308.06\nbk_05-03_03,quasi-Newton 100,2.19,5.96\nbk_05-03_03,exact Hessian 10,0.91,0.10\n"
     "mm_03-05_02,quasi-Newton 10,0.32,43.3\nmm_03-05_02,quasi-Newton 100,2.29,2.80\nmm_03-05_02,exact Hessian 10,0.77,0.09\n"},
    {"table4-paper", 1, DRAW_TABLE, NULL, "Table 4 as printed", NULL, NULL, NULL},
    {"table4", 0, DRAW_BARS, "take+offsets,method,error_cm", "Sum of the distances of 41 markers, cm a frame.", NULL,
     "cm", NULL},
    {"table4", 0, DRAW_TABLE, NULL, "Means over the frames", NULL, NULL, NULL},
    {0},
};

static const paper_part a10_parts[] = {
    {"a10", 0, DRAW_REGIONS, "panel,shoulder_deg,elbow_deg,region",
     "White: positive definite; light: indefinite; dark: negative definite; red: semidefinite.", "shoulder", "elbow",
     NULL},
    {"a10-shares", 0, DRAW_TABLE, NULL, "Shares of the regions, by the sweep and in closed form", NULL, NULL, NULL},
    {0},
};
static const paper_part condition_parts[] = {
    {"condition", 0, DRAW_CURVES, "take,line,where,frame,condition",
     "Condition number of the exact Hessian along a take.", "frame", "condition number", NULL},
    {"condition-summary", 0, DRAW_TABLE, NULL, "At the solution of each frame", NULL, NULL, NULL},
    {0},
};
static const paper_part stills_parts[] = {
    {"stills", 0, DRAW_STILLS, "panel,kind,ax,ay,az,bx,by,bz", "Skeleton in the pose of the frame, and its markers.",
     NULL, NULL, NULL},
    {0},
};
static const paper_part player_parts[] = {
    {"player", 0, DRAW_PLAYER, NULL, "The motion of the file, and what two methods make of its markers.", NULL, NULL,
     NULL},
    {0},
};
static const paper_part convex3_parts[] = {
    {"convex3", 0, DRAW_BOXES, "panel,method,cost_mm", "Cost (15) of all starts; below 1e-9 mm drawn there.", NULL,
     "cost in mm", NULL},
    {"convex3-summary", 0, DRAW_TABLE, NULL, "Exact: cost below 0.001 mm", NULL, NULL, NULL},
    {0},
};
static const paper_part convex4_parts[] = {
    {"convex4", 0, DRAW_BOXES, "panel,method,cost_mm", "Cost (15) of all poses and starts; below 1e-9 mm drawn there.",
     NULL, "cost in mm", NULL},
    {"convex4-summary", 0, DRAW_TABLE, NULL, "Over all poses and starts", NULL, NULL, NULL},
    {0},
};
static const paper_part convex5_parts[] = {
    {"convex5", 0, DRAW_BOXES, "panel,method,normalised_mm",
     "Cost minus that of the best start of the pose. At the bottom: as good as that one, or better.", NULL,
     "normalised cost in mm", NULL},
    {"convex5-summary", 0, DRAW_TABLE, NULL, "Normalised costs over all poses and starts", NULL, NULL, NULL},
    {0},
};
static const paper_part convex6_parts[] = {
    {"convex6", 0, DRAW_STILLS, "panel,kind,ax,ay,az,bx,by,bz",
     "Red: observed points; blue: the same points of the skeleton; lines: what is between them.", NULL, NULL, NULL},
    {"convex6-costs", 0, DRAW_TABLE, NULL, "Cost (15)", NULL, NULL, NULL},
    {0},
};
static const paper_part convex_time_parts[] = {
    {"sdp-time-paper", 1, DRAW_BARS, "skeleton,method,seconds", "Mean time of (14) by MOSEK.", NULL, "s",
     "skeleton,method,seconds\nbody and hand,SDP-IK by MOSEK,17\n"},
    {"sdp-time", 0, DRAW_BARS, "skeleton,method,seconds", "Mean time of a pose, all joints observed with noise.", NULL,
     "s", NULL},
    {"sdp-time", 0, DRAW_TABLE, NULL, "The same in numbers", NULL, NULL, NULL},
    {0},
};

static const paper_part survey_parts[] = {
    {"survey", 0, DRAW_CURVES, "panel,line,method,iteration,f_m2", "f over iterations, all methods from rest.",
     "iterations", "f in m²", NULL},
    {"survey-results", 0, DRAW_TABLE, NULL, "Where each method ends", NULL, NULL, NULL},
    {0},
};
static const paper_part cold_parts[] = {
    {"cold", 0, DRAW_TABLE, NULL,
     "Frames with f < 1e-2 cm² above the least by so many iterations; and how many iterations use which Hessian", NULL,
     NULL, NULL},
    {0},
};
static const paper_part growth_parts[] = {
    {"growth", 0, DRAW_CURVES, "panel,line,what,count,us", "Time of f, gradient and an exact Newton step.", "count",
     "µs", NULL},
    {"growth", 0, DRAW_TABLE, NULL, "The same in numbers", NULL, NULL, NULL},
    {0},
};
static const paper_part recipe_parts[] = {
    {"recipe-times", 0, DRAW_BARS, "effectors,route,us", "Time of a Jacobian, six rows for each effector.", NULL, "µs",
     NULL},
    {"recipe", 0, DRAW_TABLE, NULL, "Largest difference from ulna_pose_jacobian, in m/rad and rad/rad; and µs", NULL,
     NULL, NULL},
    {0},
};
static const paper_part recipe8_parts[] = {
    {"recipe8-paper", 1, DRAW_TABLE, NULL, "Fig. 8 as printed: n joints, m rows", NULL, NULL,
     "method,flops,about\n"
     "singularity robust,,2n²\nSVD,2mn² + 2n³,2n³\nQR,2n³ + 3n²,2n³\nJacobian transpose,,n²\n"
     "pseudo-inverse (Matlab),16mn² + 12n³,12n³\n"},
    {"recipe8", 0, DRAW_BARS, "poses,solver,median_us_per_iteration", "Time of an iteration.", NULL, "µs", NULL},
    {"recipe8", 0, DRAW_TABLE, NULL, "Solved: tool within 0.01 mm and 1e-4 rad by 1000 iterations", NULL, NULL, NULL},
    {0},
};
static const paper_part clamp_parts[] = {
    {"clamp", 0, DRAW_TABLE, NULL,
     "Goals that a pose within the limits reaches; solved: within 0.01 mm and 1e-4 rad. Of what is left, a radian counts as 100 mm",
     NULL, NULL, NULL},
    {0},
};
static const paper_part gaps_parts[] = {
    {"gaps", 0, DRAW_TABLE, NULL, "Proven: within 0.1 % of the lower bound, or 0", NULL, NULL, NULL},
    {0},
};

const paper_item paper_items[] = {
    {"fig3", "exact Hessian", "Fig. 3", "Convergence of single frames, unconstrained",
     "With fewer than 10 iterations the exact method usually is several orders of magnitude more accurate than quasi-Newton; LM "
     "converges as well at much less cost. The paper gives only a picture: f from 1e4 down to 1e-25 over 100 iterations.",
     "Same order. Frames differ where the take is not at hand, and all methods are compiled C with the same kinematics, so that "
     "only their iterations compare.",
     "after 10 iterations f is {bfgs.f_at_10%.1e} cm² by quasi-Newton, {newton-pcg.f_at_10%.1e} by the exact Hessian, "
     "{lm-marquardt.f_at_10%.1e} by LM, {hybrid.f_at_10%.1e} by hybrid",
     fig3_parts, paper_run_fig3, 1},
    {"fig4", "exact Hessian", "Fig. 4", "Convergence of single frames, with joint limits",
     "Slightly better than without limits in some instances. LM is left out: it keeps no bounds. The paper gives only a picture.",
     "Quasi-Newton is a projected BFGS here, where the authors' fmincon changes to an interior-point method.",
     "{newton-pcg.solved} of {newton-pcg.frames} frames below 1e-2 cm² by the exact Hessian, {bfgs.solved} by quasi-Newton, "
     "{hybrid.solved} by hybrid; with fixed offsets within 1e-2 cm² of the least: {fixed.newton-pcg.solved}, {fixed.bfgs.solved} and {fixed.hybrid.solved}",
     fig4_parts, paper_run_fig4, 1},
    {"fig5", "exact Hessian", "Fig. 5", "Convergence from a bad start",
     "All methods become worse; the exact Hessian alone consistently reaches a low error, linearly at first. LM tends to be caught "
     "in local minima. The paper gives only a picture.",
     "The text says θ = 0; the authors' code puts the root into the middle of the markers, and so do we. Higham's nearest matrix is in "
     "the text, but not in the code, and not here.",
     "{newton-pcg.solved} of {newton-pcg.frames} frames below 1e-2 cm² by the exact Hessian, {bfgs.solved} by quasi-Newton, "
     "{lm-marquardt.solved} by LM, {newton.solved} by newton, {hybrid.solved} by hybrid; with fixed offsets within 1e-2 cm² of the least: {fixed.newton-pcg.solved}, {fixed.bfgs.solved}, "
     "{fixed.lm-marquardt.solved}, {fixed.newton.solved} and {fixed.hybrid.solved}",
     fig5_parts, paper_run_fig5, 1},
    {"fig7", "exact Hessian", "Fig. 7", "The same three experiments on a workout",
     "As in Figs. 3 to 5, but LM does better from zero. The paper gives only a picture, and not the numbers of its frames.",
     "Frames are chosen by what the exercise is: hands highest with feet apart, feet and hands farthest ahead and behind, elbow nearest "
     "to the other knee, root lowest.",
     "from zero: {newton-pcg.solved} of {newton-pcg.frames} frames below 1e-2 cm² by the exact Hessian, {lm-marquardt.solved} by LM, "
     "{bfgs.solved} by quasi-Newton, {hybrid.solved} by hybrid; with fixed offsets within 1e-2 cm² of the least: {fixed.newton-pcg.solved}, "
     "{fixed.lm-marquardt.solved}, {fixed.bfgs.solved} and {fixed.hybrid.solved}",
     fig7_parts, paper_run_fig7, 1},
    {"fig8", "exact Hessian", "Fig. 8", "Tolerance and bandwidth of PCG",
     "The trust region is sensitive to both; ε = 0.1 and b = 24 are chosen. The paper gives only a picture.",
     "The authors' code has b = 8. Near a solution most settings are alike, since the preconditioner is the matrix itself for b ≥ 57 "
     "and a few dozen inner iterations replace it for the others.",
     "{reached} of {runs} settings reach 1e-2 cm²", fig8_parts, paper_run_fig8, 1},
    {"table3", "exact Hessian", "Table 3", "Time and calls until f < 1e-2",
     "LM is the fastest from a good start, the exact Hessian several times slower, quasi-Newton ten times slower than that.",
     "The same order in milliseconds: second derivatives cost O(DOF) here, not the quadratic time of the MATLAB code, but PCG is still slower than LM. newton eliminates "
     "on the tree instead and comes near LM; hybrid is before both. The paper's calls seem to be added up over iterations: both counts are given.",
     "walking: quasi-Newton {bfgs.walking%.3g} ms, exact Hessian {newton-pcg.walking%.3g}, LM {lm-marquardt.walking%.3g}, hybrid "
     "{hybrid.walking%.3g}; with fixed offsets {fixed.bfgs.walking%.3g}, {fixed.newton-pcg.walking%.3g}, {fixed.lm-marquardt.walking%.3g} and "
     "{fixed.hybrid.walking%.3g}",
     table3_parts, paper_run_table3, 1},
    {"timing", "exact Hessian", "Section 6.2", "Time of 100 iterations",
     "2.6 s for quasi-Newton, 19.2 s for the exact Hessian, on average over the frames of Fig. 3.",
     "The exact Hessian took seven times as long as quasi-Newton in MATLAB because of its second derivatives; here these cost no more than "
     "the gradient's tree pass, and what is left is PCG's: an iteration of newton, without PCG, takes about as long as one of quasi-Newton. Methods that cannot improve f any more stop before 100.",
     "quasi-Newton {bfgs%.3g} ms, exact Hessian {newton-pcg%.3g} ms", timing_parts, paper_run_timing, 1},
    {"table4", "exact Hessian", "Table 4", "Whole takes, frame after frame",
     "The exact Hessian with 10 iterations has the least error; quasi-Newton with 10 iterations is very poor, and with 100 still worse.",
     "Same order, and centimetres of the same size by the paper's own methods. Line searches and trust regions are not MATLAB's line by "
     "line. With fixed offsets the error is that of the skeleton, which no method removes.",
     "{take}: quasi-Newton 10 {bfgs_10.cm%.2f} cm, quasi-Newton 100 {bfgs_100.cm%.2f}, exact Hessian 10 {newton-pcg_10.cm%.2f}, newton 10 "
     "{newton_10.cm%.2f}, hybrid 10 {hybrid_10.cm%.2f}",
     table4_parts, paper_run_table4, 30},
    {"a10", "exact Hessian", "Fig. A.10", "Definiteness of the Hessian of two links",
     "The Hessian is positive definite only where the residual is small, and negative definite where it is large. Goals at (1, 0), (2, 0) and (3, 0), "
     "links of 1 m. The paper gives only a picture, no shares.",
     "Nothing differs but that shares are given: they are those of the closed form. Semidefinite cells lie on curves, which have no area.",
     "positive definite: {positive_1%.1f}, {positive_2%.1f} and {positive_3%.1f} % of all poses; negative definite: {negative_1%.1f}, {negative_2%.1f} and "
     "{negative_3%.1f} %",
     a10_parts, paper_run_a10, 1},
    {"condition", "exact Hessian", "Section 6.7", "Condition numbers along a take",
     "The condition number of the Hessian can become quite large: more than 1e5. The paper gives no other number.",
     "Units are radians and centimetres. Some directions move no marker at all, such as neck joints against each other: without them the number would be "
     "infinite, and with them left out it is as large as the paper says.",
     "median {median%.1e}, largest {largest%.1e}, above 1e5 in {above_percent%.0f} % of the frames, {unseen} direction{unseen:/s} left out; at the pose of the frame before, the Hessian is "
     "indefinite in {indefinite_percent%.0f} %",
     condition_parts, paper_run_condition, 1},
    {"stills", "exact Hessian", "Figs. 2 and 6", "Frames of the motions",
     "Walking, punching and kicking; jumping jacks, skiing, elbow to knee, squat. Pictures only.",
     "The frames are those of our Figs. 3 and 7.", "{fight} and {workout}", stills_parts, paper_run_stills, 1},
    {"player", "exact Hessian", "Video", "Reconstructed motion, side by side",
     "A video shows the reconstructed motions beside the original; the exact Hessian gives the qualitatively best one, quasi-Newton with 10 iterations a very "
     "poor one.",
     "The same take as in the first row of Table 4, solved in the same way.", "{take}, {frames} frames", player_parts,
     paper_run_player, 1},
    {"convex3", "convex", "Fig. 3", "Local methods from random starts",
     "Gradient descent, trust region and CG end with similar costs, L-BFGS significantly worse; gradient descent and CG are significantly slower. "
     "8 poses of a hand, 5 starts each, at most 30 s. The paper gives only a picture.",
     "With the recordings of docs/papers.md L-BFGS fits exactly about as often as CG does, in a similar time. The authors ran the methods of "
     "Manopt, with its rules for stopping. λ = 100 is taken for millimetres.",
     "exact fits: GD {gradient.exact_percent%.0f} %, TR {newton.exact_percent%.0f} %, CG {cg.exact_percent%.0f} %, L-BFGS {lbfgs.exact_percent%.0f} %; "
     "median times {gradient.seconds%.1e}, {newton.seconds%.1e}, {cg.seconds%.1e} and {lbfgs.seconds%.1e} s",
     convex3_parts, paper_run_convex3, 1},
    {"convex4", "convex", "Fig. 4", "Noise-free observations: local starts against SDP-IK",
     "SDP-IK almost always fits exactly; local optimisation has many outliers by bad starts. 100 natural poses, 20 starts, all shown. The paper gives only "
     "a picture.",
     "The same: where all joints are observed, SDP-IK is exact and single starts often are not. Where only ends are observed, many poses fit, and a good "
     "trust region finds one of them from most starts.",
     "below 0.1 mm: body, all joints: TR {body_all.tr.good_percent%.0f} % of the starts, SDP-IK {body_all.sdp.good_percent%.0f} % of the poses, global "
     "{body_all.global.good_percent%.0f} %; hand: {hand_all.tr.good_percent%.0f}, {hand_all.sdp.good_percent%.0f}, {hand_all.global.good_percent%.0f} %",
     convex4_parts, paper_run_convex4, 200},
    {"convex5", "convex", "Fig. 5", "Noisy observations: normalised costs",
     "SDP-IK is as good as the best of 20 starts or better. Noise r·d with r up to 10 mm for the hand, 100 mm for the body. The paper gives only a picture.",
     "The same but for few poses. All three end with a trust region on (16), whose limits are penalties: λ = 100 is taken for millimetres.",
     "within 0.1 mm of the best start: body, all joints: TR {body_all.tr.good_percent%.0f} %, SDP-IK {body_all.sdp.good_percent%.0f} %, global "
     "{body_all.global.good_percent%.0f} %; hand: {hand_all.tr.good_percent%.0f}, {hand_all.sdp.good_percent%.0f}, {hand_all.global.good_percent%.0f} %",
     convex5_parts, paper_run_convex5, 200},
    {"convex6", "convex", "Fig. 6", "Noisy points, local result, projected relaxation, SDP-IK",
     "Pictures of the noisy points, of a local result with wrong limbs, of the projected solution of (14), and of SDP-IK. The "
     "paper gives no numbers for them.",
     "Poses and noise are our own: of five poses, the one in which the costs of 20 starts differ most. The local result is the worst of these.",
     "body: local {body.local_mm%.1f} mm, projected {body.projected_mm%.1f}, SDP-IK {body.sdp_mm%.1f}; hand: {hand.local_mm%.1f}, {hand.projected_mm%.1f}, "
     "{hand.sdp_mm%.1f}",
     convex6_parts, paper_run_convex6, 1},
    {"sdp-time", "convex", "Section 6", "Time of the relaxation",
     "About 17 s on average for (14) on an i5, by YALMIP and MOSEK, for the hand and for the body.",
     "The redundancy of (14) is removed before DSDP solves it; Ulna's own relaxation is tighter and is solved along the tree of the skeleton.",
     "body {body.sdp_s%.2f} s by DSDP, {body.global_ms%.1f} ms by global; hand {hand.sdp_s%.2f} s, {hand.global_ms%.1f} ms",
     convex_time_parts, paper_run_convex_time, 9},
    {"survey", "survey", "Sections 4 to 7", "Its methods on one reaching problem",
     "The survey has no experiments: it derives transpose, pseudo-inverse, damped least squares, virtual work, steepest descent, Levenberg-Marquardt and Lagrange "
     "multipliers.",
     "There is nothing to differ from. An arm of seven hinges reaches for a point, from rest, 200 iterations at most; then with a height for its middle, which "
     "virtual-work, lagrange and hybrid keep.",
     "{solved} methods reach the point; with the constraint {kept} do", survey_parts, paper_run_survey, 1},
    {"recipe", "recipe", "Procedures 1 to 3", "Its Jacobians: agreement and cost",
     "Procedures by cross products, by adjoints and by adjoints with an Euler adjustment; body and spatial frame; effectors share columns of joints that move "
     "them all. The paper measures nothing.",
     "There is nothing to differ from. All markers of the built-in human, in random poses; reference is the library's own Jacobian.",
     "{effectors} effectors: procedure 2 {generic.us%.3g} µs, procedure 3 {adjusted.us%.3g}, shared columns of the spatial frame {shared.us%.3g}, library {library.us%.3g}; "
     "procedures differ by at most {adjusted.difference%.1e}, shared columns by {shared.difference%.1e}",
     recipe_parts, paper_run_recipe, 1},
    {"recipe8", "recipe", "Fig. 8", "Its solvers near singular poses",
     "The singularity-robust inverse is a very suitable candidate both in robustness and speed. Robustness and speed are shown as symbols, complexity as flops; "
     "nothing is measured.",
     "An arm of seven hinges, place and orientation of its tool; every solver stops at the same f. Times include forward kinematics and derivatives, which the paper's "
     "flops leave out, and steps of dls are made by elimination on the tree, not by (35) as a matrix.",
     "solved near singular goals: robust with λ = 1e-3 {robust.near%.0f} %, with λ by the error {dls.near%.0f}, SVD {svd.near%.0f}, QR {qr.near%.0f}, (34) {rows.near%.0f}, "
     "transpose {transpose.near%.0f}, hybrid {hybrid.near%.0f} %",
     recipe8_parts, paper_run_recipe8, 4},
    {"clamp", "recipe", "Section 3.3", "Limits inside the solver against clamping",
     "Clamping the solution outside the solver might lead to unstable behaviour: the best place for constraints is within the solver. The paper measures nothing.",
     "There is nothing to differ from. The arm's own limits; starts and goals are random poses within them.",
     "place and orientation solved by hybrid: inside {hybrid_oriented.inside%.0f} %, clamped after the solve {hybrid_oriented.after%.0f}, after each step "
     "{hybrid_oriented.steps%.0f}; by dls {dls_oriented.inside%.0f}, {dls_oriented.after%.0f}, {dls_oriented.steps%.0f} %",
     clamp_parts, paper_run_clamp, 1},
    {"cold", "exact Hessian", "Section 7, beyond", "Cold starts of all methods, and how exact hybrid is",
     "Future work: a method that chooses between exact and approximate Hessians by what to expect of them.",
     "hybrid is such a method; from θ = 0 it uses Gauss-Newton far from the goals and the exact Hessian near them.",
     "by 20 iterations: hybrid {hybrid.by_20}, newton {newton.by_20}, lm {lm.by_20} of {hybrid.frames} frames, with fixed offsets {fixed.hybrid.by_20}, "
     "{fixed.newton.by_20} and {fixed.lm.by_20}; hybrid's iterations: {hybrid.newton_percent%.0f} % exact, "
     "{hybrid.blended_percent%.0f} % between",
     cold_parts, paper_run_cold, 12},
    {"growth", "exact Hessian", "Algorithm 4, beyond", "How the cost of a Newton step grows",
     "Quadratic time in the number of bones to fill the Hessian, and cubic to factor it.",
     "The step is made by elimination on the tree, without the matrix: time goes with the bones, and hardly with depth or markers.",
     "{factor} times as many bones take {bones%.1f} times as long, {factor} times the depth {depth%.1f} times, {factor} times as many markers {markers%.1f} times",
     growth_parts, paper_run_growth, 1},
    {"gaps", "convex", "Section 7, beyond", "Proven gaps",
     "The relaxation has a global optimum, but the paper does not use it as a bound.",
     "`ulna global` computes a lower bound of the cost over all poses, and stops when the best pose found is proven.",
     "proven: body, all joints {body_0%.0f} % without noise and {body_1%.0f} % with; hand {hand_0%.0f} and {hand_1%.0f} %",
     gaps_parts, paper_run_gaps, 1},
    {0},
};
