// SPDX-License-Identifier: MIT OR Apache-2.0
namespace System.Runtime.CompilerServices;

/// <summary>A type that the compiler needs for init properties.</summary>
internal static class IsExternalInit { }
