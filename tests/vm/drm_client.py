# SPDX-License-Identifier: MIT OR Apache-2.0
"""drm_client.py NODE MIB: a client of a virtio GPU that holds buffers until end of file on stdin."""
import fcntl
import os
import struct
import sys

# DRM_IOCTL_VIRTGPU_RESOURCE_CREATE of uapi/drm/virtgpu_drm.h: 14 numbers of 32 bits.
RESOURCE_CREATE = 0xC0386444
TEXTURE_2D, FORMAT_B8G8R8A8, BIND_RENDER_TARGET = 2, 1, 2

node, mib = sys.argv[1], int(sys.argv[2])
descriptor = os.open(node, os.O_RDWR | os.O_CLOEXEC)
for _ in range(mib // 4):
    fcntl.ioctl(descriptor, RESOURCE_CREATE, struct.pack(
        "14I", TEXTURE_2D, FORMAT_B8G8R8A8, BIND_RENDER_TARGET, 1024, 1024, 1, 1, 0, 0, 0, 0, 0, 4 << 20, 4096))
print(f"holds {descriptor}", flush=True)
sys.stdin.read()
