// The kernels for one generation of CPUs. A source file includes this after telling the compiler the features of these CPUs,
// and defines
//   GENERATION  the name of its table of kernels
//   NATIVE      the number of floats in a register
#include "attention.h"
#include "head.h"
#include "product_float.h"
#include "rows.h"

const Kernels GENERATION = {
    .multiply_panel = multiply_panel,
    .embed_row = embed_row,
    .quantize_row = quantize_row,
    .relu_quantize_row = relu_quantize_row,
    .ssru_row = ssru_row,
    .embed_int8_row = embed_int8_row,
    .activation_quantize_row = activation_quantize_row,
    .gate_row = gate_row,
    .add_norm_row = add_norm_row,
    .add_rms_norm_row = add_rms_norm_row,
    .store_tokens = store_tokens,
    .attend = attend,
    .self_attend = self_attend,
    .best_candidates = best_candidates,
    .exp_sum = exp_sum,
    .log_sum_exp = log_sum_exp,
    .add_candidates = add_candidates,
    .table_logits = table_logits,
    .rescore = rescore,
    .add_bias = add_bias,
    .to_floats = to_floats,
};
