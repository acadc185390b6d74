/* SPDX-License-Identifier: Apache-2.0 */
/* Sanitizers make programs slow: their builds run a part of the cases, the plain build all. */
#ifndef SHOAL_TESTS_SLICE_H
#define SHOAL_TESTS_SLICE_H

#if defined(__has_feature)
#define SHOAL_HAS_FEATURE(x) __has_feature(x)
#else
#define SHOAL_HAS_FEATURE(x) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    SHOAL_HAS_FEATURE(address_sanitizer) || SHOAL_HAS_FEATURE(thread_sanitizer)
#define SLICE(all, some) (some)
#else
#define SLICE(all, some) (all)
#endif

#endif
