// SPDX-License-Identifier: MIT OR Apache-2.0
using System.Reflection;
using System.Runtime.InteropServices;

// As IsTrimmable and IsAotCompatible would write: no reflection, no code generated at run time.
[assembly: AssemblyMetadata("IsTrimmable", "True")]
[assembly: AssemblyMetadata("IsAotCompatible", "True")]

[assembly: DefaultDllImportSearchPaths(
    DllImportSearchPath.AssemblyDirectory | DllImportSearchPath.SafeDirectories)]
