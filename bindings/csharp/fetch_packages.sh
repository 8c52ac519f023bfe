#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# fetch_packages.sh FOLDER: brings the NuGet packages that are no part of the SDK and that the binding
# is checked with where they are: net8.0's reference assemblies, the trimming and AOT analyzers, and the
# trimmer. Asks the NuGet sources that are set up; builds and tests take FOLDER as a source and ask nobody.
set -eu
folder=$(mkdir -p "${1:?a folder}" && cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat > "$scratch/fetch.csproj" <<'END'
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFrameworks>net10.0;net8.0</TargetFrameworks>
    <IsAotCompatible>true</IsAotCompatible>
    <PublishTrimmed Condition="'$(TargetFramework)' == 'net10.0'">true</PublishTrimmed>
    <RuntimeIdentifier Condition="'$(TargetFramework)' == 'net10.0'">linux-x64</RuntimeIdentifier>
  </PropertyGroup>
</Project>
END
DOTNET_CLI_HOME=$scratch/home DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDDISABLENODEREUSE=1 \
  NUGET_PACKAGES=$folder dotnet restore "$scratch/fetch.csproj" -maxcpucount:1 -v quiet
ls "$folder"
