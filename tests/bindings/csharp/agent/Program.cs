// SPDX-License-Identifier: MIT OR Apache-2.0
using System;
using System.IO;
using System.Text;
using Agent;
using Hypomnesis;

// Answers the requests of behaviour.py through the public package.
if (args is ["--framework"])
{
    Console.WriteLine(AnswerText.Framework);
    return;
}
var input = new StreamReader(Console.OpenStandardInput(), new UTF8Encoding(false));
var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
using var requests = new Requests();
while (input.ReadLine() is { } line && line != "quit")
{
    try
    {
        requests.Answer(line.Split('\t'), output);
    }
    catch (ObjectDisposedException)
    {
        output.WriteLine("error\tclosed");
    }
    catch (DllNotFoundException error)
    {
        output.WriteLine("error\tmissing");
        output.WriteLine($"message\t{AnswerText.Quote(error.Message)}");
    }
    catch (Exception error) when (error is IHypomnesisError failure)
    {
        output.WriteLine($"error\t{Library.NameOf(failure.Status)}");
        output.WriteLine($"message\t{AnswerText.Quote(failure.Message)}");
    }
    catch (ArgumentOutOfRangeException error)
    {
        output.WriteLine("error\tHMN_E_RANGE");
        output.WriteLine($"message\t{AnswerText.Quote(error.Message)}");
    }
    output.WriteLine();
    output.Flush();
}
