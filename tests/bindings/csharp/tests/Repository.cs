// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.Json;

namespace Hypomnesis.Tests;

/// <summary>Files of the repository, whose root is in HMN_SOURCE.</summary>
internal static class Repository
{
    private static readonly string Root = Environment.GetEnvironmentVariable("HMN_SOURCE")
        ?? throw new InvalidOperationException("HMN_SOURCE is not set");

    internal static readonly JsonElement Abi =
        JsonDocument.Parse(File.ReadAllText(Path.Combine(Root, "bindings/abi.json"))).RootElement;

    internal static string Machine(string name) => Path.Combine(Root, "tests/bindings/machines", name);

    internal static IEnumerable<string> Machines() =>
        Directory.GetFiles(Path.Combine(Root, "tests/bindings/machines"), "*.json")
            .Concat(Directory.GetFiles(Path.Combine(Root, "examples/machines"), "*.json"))
            .Where(path => Path.GetFileName(path) is not ("hanging.json" or "slow.json" or "stuck.json"));

    /// <summary>Opens a context on a machine file of tests/bindings/machines or at an absolute path.</summary>
    internal static Context Open(string machine, ContextOptions? options = null)
    {
      var context =
          new Context(options ?? new ContextOptions { Deadline = TimeSpan.FromMinutes(1) });
      context.SetPath(SourcePath.Simulation, Machine(machine));
      return context;
    }

    internal static string ToPascalCase(string name) =>
        string.Concat(name.Split('_').Select(word => word switch
        {
            "hresult" => "HResult",
            "ntstatus" => "NtStatus",
            _ => char.ToUpperInvariant(word[0]) + word[1..],
        }));
}
