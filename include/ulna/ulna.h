/* ulna/ulna.h: everything Ulna offers, in one include. */
#ifndef ULNA_ULNA_H
#define ULNA_ULNA_H

#include "ulna/base.h"
#include "ulna/calibrate.h"
#include "ulna/constraint.h"
#include "ulna/formats.h"
#include "ulna/global.h"
#include "ulna/kinematics.h"
#include "ulna/mocap.h"
#include "ulna/model.h"
#include "ulna/motion.h"
#include "ulna/papers.h"
#include "ulna/problem.h"
#include "ulna/reach.h"
#include "ulna/sample.h"
#include "ulna/solve.h"
#include "ulna/version.h"

#endif
