#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# fetch_packages.sh FOLDER [windows]: downloads the NuGet packages that are not part of the SDK and that checks
# of the binding use where they are present: net8.0's reference assemblies and runtime, the trimming and AOT analyzers,
# and the trimmer; for windows, the runtime that programs carry there. Asks the configured NuGet sources; builds and
# tests have FOLDER as their only source.
set -eu
folder=$(mkdir -p "${1:?a folder}" && cd "$1" && pwd)
system=${2:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

case $system in
  windows) cat > "$scratch/fetch.csproj" <<'END' ;;
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net10.0</TargetFramework>
    <RuntimeIdentifier>win-x64</RuntimeIdentifier>
    <SelfContained>true</SelfContained>
    <DisableTransitiveFrameworkReferenceDownloads>true</DisableTransitiveFrameworkReferenceDownloads>
  </PropertyGroup>
</Project>
END
  *) cat > "$scratch/fetch.csproj" <<'END' ;;
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFrameworks>net10.0;net8.0</TargetFrameworks>
    <IsAotCompatible>true</IsAotCompatible>
    <PublishTrimmed Condition="'$(TargetFramework)' == 'net10.0'">true</PublishTrimmed>
    <OutputType>Exe</OutputType>
    <SelfContained Condition="'$(TargetFramework)' == 'net8.0'">true</SelfContained>
    <RuntimeIdentifier>linux-x64</RuntimeIdentifier>
  </PropertyGroup>
</Project>
END
esac
DOTNET_CLI_HOME=$scratch/home DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDDISABLENODEREUSE=1 \
  NUGET_PACKAGES=$folder dotnet restore "$scratch/fetch.csproj" -maxcpucount:1 -v quiet
ls "$folder"
