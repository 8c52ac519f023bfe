// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Reflection;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

internal static partial class Libraries
{
    private static IntPtr shim;
    private static bool hasResolver;

    private static bool Open(string path, out string problem)
    {
        problem = "";
        try
        {
            NativeLibrary.Load(path);
            return true;
        }
        catch (Exception error) when (error is DllNotFoundException or BadImageFormatException)
        {
            problem = error.Message.Trim().Replace("\n", "; ").TrimEnd('.');
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
        if (!hasResolver)
            NativeLibrary.SetDllImportResolver(typeof(Libraries).Assembly, ResolveShim);
        hasResolver = true;
        return true;
    }

    private static IntPtr ResolveShim(string name, Assembly assembly, DllImportSearchPath? paths) =>
        name == Shim ? shim : IntPtr.Zero;
}
