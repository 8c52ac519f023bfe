// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

// There is no resolver, so the shim is loaded beforehand: a loader returns a library that is loaded already when
// asked for its name.
internal static partial class Libraries
{
    private const int RtldNow = 2;

    private static bool IsWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

    private static bool Open(string path, out string problem)
    {
        problem = "the system's loader refused it";
        return (IsWindows ? LoadLibraryW(path) : Dlopen(path)) != IntPtr.Zero;
    }

    private static bool OpenBySystem(string file) => Open(file, out _);

    private static bool OpenShim(string path) => Open(path, out _);

    private static bool OpenShimBySystem() => Open(ShimFile, out _);

    private static IntPtr Dlopen(string path)
    {
        try
        {
            return DlopenInLibdl(Utf8.Bytes(path), RtldNow);
        }
        catch (Exception error) when (error is DllNotFoundException or EntryPointNotFoundException)
        {
            return DlopenInLibc(Utf8.Bytes(path), RtldNow);
        }
    }

    [DllImport("libdl.so.2", EntryPoint = "dlopen")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern IntPtr DlopenInLibdl(byte[]? path, int flags);

    [DllImport("libc", EntryPoint = "dlopen")]
    [DefaultDllImportSearchPaths(DllImportSearchPath.SafeDirectories)]
    private static extern IntPtr DlopenInLibc(byte[]? path, int flags);

    [DllImport("kernel32", CharSet = CharSet.Unicode, ExactSpelling = true)]
    [DefaultDllImportSearchPaths(DllImportSearchPath.System32)]
    private static extern IntPtr LoadLibraryW(string path);
}
