/*
 * The reach solver alone, by the standard test, and beside its peers: Orocos KDL on four recorded robots, which also checks forward kinematics, and the prototype of the
 * arms.
 */
#include "reach_peers.h"

int main(int count, char **arguments)
{
    enum { STANDARD_PROBLEMS = 2000, PROBLEMS = 1000, YARDSTICK_PROBLEMS = 2000 };
    static bench_report report;
    const char *path = bench_json_path(count, arguments);
    reach_standard(&report, STANDARD_PROBLEMS);
    int is_same = reach_contest_kdl(&report, PROBLEMS);
    reach_contest_yardstick(&report, YARDSTICK_PROBLEMS);
    if (!is_same)
        fprintf(stderr, "bench_reach: forward kinematics differs from KDL's\n");
    return bench_finish(&report, "reach", path) || !is_same;
}
