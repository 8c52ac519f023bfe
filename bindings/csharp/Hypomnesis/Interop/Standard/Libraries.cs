// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

// Without a resolver the shim is loaded beforehand: a loader asked for a name that is loaded already
// gives that one.
internal static partial class Libraries
{
    private const int Now = 2;

    private static bool IsWindows => RuntimeInformation.IsOSPlatform(OSPlatform.Windows);

    private static bool Open(string path, out string why)
    {
        why = "the system's loader refused it";
        return (IsWindows ? LoadLibraryW(path) : Dlopen(path)) != IntPtr.Zero;
    }

    private static bool OpenBySystem(string file) => Open(file, out _);

    private static bool OpenShim(string path) => Open(path, out _);

    private static bool OpenShimBySystem() => Open(ShimFile, out _);

    private static IntPtr Dlopen(string path)
    {
        try
        {
            return DlopenInLibdl(Utf8.Bytes(path), Now);
        }
        catch (Exception error) when (error is DllNotFoundException or EntryPointNotFoundException)
        {
            return DlopenInLibc(Utf8.Bytes(path), Now);
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
