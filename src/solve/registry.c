/* The methods by name. A new one is a line here and a file of its own. */
#include "solve/registry.h"

static const ulna_method *const methods[] = {
    &ulna_method_hybrid,
    &ulna_method_newton,
    &ulna_method_newton_pcg,
    &ulna_method_bfgs,
    &ulna_method_lbfgs,
    &ulna_method_lm,
    &ulna_method_lm_marquardt,
    &ulna_method_gauss_newton,
    &ulna_method_dls,
    &ulna_method_pinv,
    &ulna_method_qr,
    &ulna_method_transpose,
    &ulna_method_gradient,
    &ulna_method_cg,
    &ulna_method_ccd,
    &ulna_method_fabrik,
    &ulna_method_penalty,
    &ulna_method_sdp,
    NULL,
};

int ulna_method_count(void)
{
    int count = 0;
    while (methods[count])
        count++;
    return count;
}

const ulna_method_info *ulna_method_at(int index)
{
    return index >= 0 && index < ulna_method_count() ? &methods[index]->info : NULL;
}

const ulna_method *ulna_method_entry(const char *name)
{
    for (int i = 0; name && methods[i]; i++)
        if (strcmp(methods[i]->info.name, name) == 0)
            return methods[i];
    return NULL;
}

const ulna_method_info *ulna_method_find(const char *name)
{
    const ulna_method *method = ulna_method_entry(name);
    return method ? &method->info : NULL;
}
