/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/simd: the vector instructions that code may be compiled for. The build option `simd` sets
 * SHOAL_SIMD: 2 AVX2 and others, chosen at run time (default); 1 SSE2 only; 0 none. Results are the
 * same. Code for AVX2 has a target attribute and asks the processor first.
 */
#pragma once

#ifndef SHOAL_SIMD
#define SHOAL_SIMD 2
#endif

#if defined(__SSE2__) && SHOAL_SIMD >= 1
#define SHOAL_HAS_SSE2 1
#else
#define SHOAL_HAS_SSE2 0
#endif

#if defined(__x86_64__) && SHOAL_HAS_SSE2 && SHOAL_SIMD >= 2
#define SHOAL_HAS_AVX2 1
#else
#define SHOAL_HAS_AVX2 0
#endif
