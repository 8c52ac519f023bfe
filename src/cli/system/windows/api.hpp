// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once
// What <windows.h> needs to be told, in one place.
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
