// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

internal static partial class Libraries
{
    private static IntPtr shim;
    private static bool resolving;

    private static bool Open(string path, out string why)
    {
        why = "";
        try
        {
            NativeLibrary.Load(path);
            return true;
        }
        catch (Exception error) when (error is DllNotFoundException or BadImageFormatException)
        {
            why = error.Message.Trim().Replace("\n", "; ").TrimEnd('.');
            return false;
        }
    }

    private static bool OpenBySystem(string file) =>
        NativeLibrary.TryLoad(file, typeof(Libraries).Assembly, null, out _);

    private static bool OpenShim(string path) => NativeLibrary.TryLoad(path, out shim) && Resolve();

    private static bool OpenShimBySystem() =>
        NativeLibrary.TryLoad(ShimFile, typeof(Libraries).Assembly, null, out shim) && Resolve();

    private static bool Resolve()
    {
        if (!resolving)
            NativeLibrary.SetDllImportResolver(typeof(Libraries).Assembly, Answer);
        resolving = true;
        return true;
    }

    private static IntPtr Answer(string name, Assembly assembly, DllImportSearchPath? paths) =>
        name == Shim ? shim : IntPtr.Zero;
}
