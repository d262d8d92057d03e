/* registry.h (private): the methods of this folder, each defined in the file of its family. By name: src/papers/methods.c. */
#ifndef ULNA_SRC_REGISTRY_H
#define ULNA_SRC_REGISTRY_H

#include "solve/solver.h"

extern const ulna_method ulna_method_hybrid;
extern const ulna_method ulna_method_bfgs;
extern const ulna_method ulna_method_lbfgs;
extern const ulna_method ulna_method_gradient;
extern const ulna_method ulna_method_cg;
extern const ulna_method ulna_method_newton;
extern const ulna_method ulna_method_newton_pcg;
extern const ulna_method ulna_method_lm;
extern const ulna_method ulna_method_lm_marquardt;
extern const ulna_method ulna_method_gauss_newton;
extern const ulna_method ulna_method_dls;
extern const ulna_method ulna_method_pinv;
extern const ulna_method ulna_method_qr;
extern const ulna_method ulna_method_transpose;
extern const ulna_method ulna_method_ccd;
extern const ulna_method ulna_method_fabrik;
extern const ulna_method ulna_method_penalty;

#endif
