/* SPDX-License-Identifier: MIT OR Apache-2.0 */
void *MTLCopyAllDevices(void);
void *stranger(void);

void *stranger(void) { return MTLCopyAllDevices(); }
