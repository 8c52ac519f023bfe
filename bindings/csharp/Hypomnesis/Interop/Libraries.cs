// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.IO;
using System.Runtime.InteropServices;

namespace Hypomnesis.Interop;

/// <summary>Finds libhypomnesis and the shim of this package, once, before the first call.</summary>
internal static partial class Libraries
{
    internal const string Variable = "HYPOMNESIS_LIBRARY";
    internal const string Shim = "hypomnesis_csharp";

    private static readonly object LoadLock = new();
    private static volatile bool isLoaded;

    /// <summary>The file name of libhypomnesis on this system.</summary>
    internal static string LibraryFile =>
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "hypomnesis-0.1.dll"
        : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "libhypomnesis.0.1.dylib"
        : "libhypomnesis.so.0.1";

    /// <summary>The file name of the shim on this system.</summary>
    internal static string ShimFile =>
        RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? Shim + ".dll"
        : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "lib" + Shim + ".dylib"
        : "lib" + Shim + ".so";

    /// <exception cref="DllNotFoundException">One of the two is missing; the message lists the places and what
    /// to set. A later call tries again.</exception>
    internal static void Ensure()
    {
        if (isLoaded)
            return;
        lock (LoadLock)
        {
            if (isLoaded)
                return;
            var libraryPath = Environment.GetEnvironmentVariable(Variable);
            if (string.IsNullOrEmpty(libraryPath))
                libraryPath = null;
            LoadLibrary(libraryPath);
            LoadShim(libraryPath);
            CheckSizes();
            isLoaded = true;
        }
    }

    private static void LoadLibrary(string? libraryPath)
    {
        if (libraryPath is not null)
        {
            if (!Path.IsPathRooted(libraryPath))
                throw new DllNotFoundException($"{Variable} is \"{libraryPath}\", which is not an absolute path."
                    + $" Set it to the absolute path of {LibraryFile}, or unset it.");
            if (!Open(libraryPath, out var problem))
                throw new DllNotFoundException($"{Variable} is \"{libraryPath}\", which cannot be loaded: {problem}."
                    + $" Set it to the absolute path of {LibraryFile}, or unset it.");
            return;
        }
        if (!OpenFirst(Paths(LibraryFile)) && !OpenBySystem(LibraryFile))
            throw new DllNotFoundException(DescribeMissing(LibraryFile, "the system's own places",
                $"Install libhypomnesis, or set {Variable} to the absolute path of {LibraryFile}."));
    }

    private static void LoadShim(string? libraryPath)
    {
        var paths = Paths(ShimFile);
        if (libraryPath is not null && Path.GetDirectoryName(libraryPath) is { Length: > 0 } folder)
            paths.Add(Path.Combine(folder, ShimFile));
        if (!OpenShimFirst(paths) && !OpenShimBySystem())
            throw new DllNotFoundException(DescribeMissing(ShimFile, "the system's own places",
                "It comes with the NuGet package Hypomnesis for this system, or with a build of the"
                + $" C# binding; put it next to the program, or next to the library that {Variable} names."));
    }

    private static string DescribeMissing(string file, string lastPlace, string remedy)
    {
        var value = Environment.GetEnvironmentVariable(Variable);
        var variable = string.IsNullOrEmpty(value) ? $"{Variable} is not set" : $"{Variable} is \"{value}\"";
        return $"{file} was not found. {variable}. Looked for {string.Join(", ", Paths(file))}, and in {lastPlace}."
            + $" {remedy}";
    }

    /// <summary>The paths at which a file of this package may be.</summary>
    private static List<string> Paths(string file)
    {
        var paths = new List<string>();
        foreach (var folder in Folders())
        {
            var path = Path.Combine(folder, file);
            if (!paths.Contains(path))
                paths.Add(path);
        }
        return paths;
    }

    private static IEnumerable<string> Folders()
    {
        var program = AppContext.BaseDirectory;
        yield return program;
        yield return Path.Combine(program, "runtimes", Rid, "native");
        if (AppContext.GetData("NATIVE_DLL_SEARCH_DIRECTORIES") is string native)
            foreach (var folder in native.Split(new[] { Path.PathSeparator }, StringSplitOptions.RemoveEmptyEntries))
                yield return folder;
    }

    private static string Rid
    {
        get
        {
            var system = RuntimeInformation.IsOSPlatform(OSPlatform.Windows) ? "win"
                : RuntimeInformation.IsOSPlatform(OSPlatform.OSX) ? "osx" : "linux";
            return system + "-" + RuntimeInformation.ProcessArchitecture.ToString().ToLowerInvariant();
        }
    }

    private static bool OpenFirst(List<string> paths)
    {
        foreach (var path in paths)
            if (File.Exists(path) && Open(path, out _))
                return true;
        return false;
    }

    private static bool OpenShimFirst(List<string> paths)
    {
        foreach (var path in paths)
            if (File.Exists(path) && OpenShim(path))
                return true;
        return false;
    }

    /// <summary>The records of a shim of another version would have other offsets.</summary>
    private static void CheckSizes()
    {
        foreach (var (name, size) in RecordSizes.All)
        {
            var actualSize = Raw.size_of(name);
            if (actualSize != size)
                throw new DllNotFoundException($"{ShimFile} is of another version: its {name} has {actualSize} bytes,"
                    + $" {size} are wanted. Use the one that comes with this assembly.");
        }
    }
}
