// SPDX-License-Identifier: MIT OR Apache-2.0
namespace System.Runtime.CompilerServices;

/// <summary>What the compiler wants of a framework that has init properties.</summary>
internal static class IsExternalInit { }
