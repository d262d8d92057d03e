/* Instances of global inverse kinematics with known answers: the files of oracles/global-ik. */
#ifndef ULNA_TEST_SUPPORT_ORACLE_H
#define ULNA_TEST_SUPPORT_ORACLE_H

enum { ULNA_ORACLE_JOINTS = 64, ULNA_ORACLE_POINTS = 64 };

typedef enum ulna_oracle_type {
    ULNA_ORACLE_FREE = 0,
    ULNA_ORACLE_HINGE,
    ULNA_ORACLE_SITE,
    ULNA_ORACLE_BASE
} ulna_oracle_type;

typedef struct ulna_oracle {
    char family[32]; /* "hand_all_noisy" */
    int index;       /* within its file, from 0 */
    int joints, points;
    int parent[ULNA_ORACLE_JOINTS];
    ulna_oracle_type type[ULNA_ORACLE_JOINTS];
    double axis[ULNA_ORACLE_JOINTS][3], lower[ULNA_ORACLE_JOINTS], upper[ULNA_ORACLE_JOINTS], v[ULNA_ORACLE_JOINTS][3];
    int point_joint[ULNA_ORACLE_POINTS];
    double point[ULNA_ORACLE_POINTS][3];
    double translation[3], rotation[9], angle[ULNA_ORACLE_JOINTS]; /* of the pose that the points were made from */
    /* From expected.txt; NaN where it has a dash. Costs are sum |y - p|^2, without a half. */
    double hull_opt, hull_gap, bone_opt, bone_gap, best;
} ulna_oracle;

/* Reads all instances into an array to be freed; the count, or 0 where the files are absent. Fails the test on a broken file. */
int ulna_oracles_load(ulna_oracle **instances);

/* The instance as relaxations see it: unscaled, nothing cut off. `reduced->nodes` is allocated; free it. */
struct ulna_reduced;
void ulna_oracle_reduced(const ulna_oracle *oracle, struct ulna_reduced *reduced);

#endif
