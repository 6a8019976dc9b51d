# Installs Terminus from a release on Windows: downloads the archive for this processor,
# checks its SHA-256 against the release's list, and puts the one program where it is
# asked to. It needs no administrator, asks nothing, and does not edit PATH. Everything is
# downloaded and checked before the first byte is put in place.
#
# Not run here: no machine of this project has Windows. Each decision is a function of
# its arguments, and is the same as in install.sh, which is tested.
#
#   install.ps1 [-Version 1.2.3] [-Prefix DIR] [-BaseUrl URL] [-DryRun]
#
# TERMINUS_VERSION, TERMINUS_PREFIX and TERMINUS_BASE_URL stand for the first three. The
# program becomes DIR\terminus.exe; the default is %LOCALAPPDATA%\Programs\Terminus, where
# `terminus install` puts it as well. Windows PowerShell 5.1 is enough.
[CmdletBinding()]
param(
    [string]$Version = $env:TERMINUS_VERSION,
    [string]$Prefix = $env:TERMINUS_PREFIX,
    [string]$BaseUrl = $env:TERMINUS_BASE_URL,
    [switch]$DryRun
)

Set-StrictMode -Version 2
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # the bar slows a download of 5.1 down tenfold

# The project's home is that of packaging/owner.env.
$HomeUrl = 'https://github.com/terminus-archive/terminus'
# It stands in every build of Terminus and in no other program.
$Mark = 'terminus-program:01d3affa-9921-4c0e-ba7a-77ca62fb714b'

# Get-Processor names a processor as the archives of a release do.
function Get-Processor([string]$Native, [string]$Emulated) {
    # A 32-bit PowerShell is told x86 and, beside it, the machine's own.
    $name = $Native
    if ($Emulated) { $name = $Emulated }
    switch ($name.ToUpperInvariant()) {
        'AMD64' { return 'amd64' }
        'ARM64' { return 'arm64' }
    }
    throw "there is no build for Windows on ${name}: build it from the source, with go install"
}

# Get-ListUrl is where the sums of a release lie; no version is the newest one.
function Get-ListUrl([string]$Base, [string]$Wanted) {
    if ($Wanted) { return "$Base/download/v$Wanted/checksums.txt" }
    return "$Base/latest/download/checksums.txt"
}

# Find-Archive finds the archive for a processor in a list of sums.
function Find-Archive([string]$List, [string]$Wanted, [string]$Processor) {
    $name = '[0-9A-Za-z.+~-]+'
    if ($Wanted) { $name = [regex]::Escape($Wanted) }
    $found = [regex]::Matches($List, "(?m)^([0-9a-f]{64})  (terminus_($name)_windows_$Processor\.zip)\r?`$")
    if ($found.Count -ne 1) { return $null }
    $groups = $found[0].Groups
    return @{ Sum = $groups[1].Value; Name = $groups[2].Value; Version = $groups[3].Value }
}

# Test-Ours reports whether a file is a build of Terminus.
function Test-Ours([string]$Path) {
    $text = [Text.Encoding]::ASCII.GetString([IO.File]::ReadAllBytes($Path))
    return $text.Contains($Mark)
}

# Test-OnPath reports whether programs of a directory are found by their names.
function Test-OnPath([string]$Dir, [string]$Path) {
    foreach ($entry in $Path.Split(';')) {
        if ($entry.TrimEnd('\') -eq $Dir.TrimEnd('\')) { return $true }
    }
    return $false
}

# Get-Plan reads the arguments.
function Get-Plan([string]$Wanted, [string]$Dir, [string]$Base, [string]$LocalAppData) {
    if (-not $Base) { $Base = "$HomeUrl/releases" }
    if ($Base -notmatch '^https?://') { throw "not an http or https address: $Base" }
    if ($Wanted -match '^v') { $Wanted = $Wanted.Substring(1) }
    if ($Wanted -and $Wanted -notmatch '^[0-9A-Za-z.+~-]+$') { throw "not a version: $Wanted" }
    if (-not $Dir) {
        if (-not $LocalAppData) { throw 'LOCALAPPDATA is not set: name a place with -Prefix' }
        $Dir = Join-Path $LocalAppData 'Programs\Terminus'
    }
    # Against PowerShell's working directory, which is not that of the process.
    $Dir = $ExecutionContext.SessionState.Path.GetUnresolvedProviderPathFromPSPath($Dir)
    return @{ Version = $Wanted; Dir = $Dir; Base = $Base.TrimEnd('/'); Target = (Join-Path $Dir 'terminus.exe') }
}

# Get-File downloads.
function Get-File([string]$Url, [string]$File) {
    try {
        Invoke-WebRequest -UseBasicParsing -Uri $Url -OutFile $File
    } catch {
        throw "$Url cannot be downloaded: $($_.Exception.Message)"
    }
}

# Set-Program puts a program in place. A running one can be renamed, though not be
# removed or written to; the next install removes what is left of it.
function Set-Program([string]$Source, [string]$Target, [string]$Expected) {
    $dir = Split-Path -Parent $Target
    New-Item -ItemType Directory -Force -Path $dir | Out-Null
    Get-ChildItem -LiteralPath $dir -Filter 'terminus-old-*.exe' | Remove-Item -Force -ErrorAction SilentlyContinue
    $staged = Join-Path $dir ('terminus-new-' + [Guid]::NewGuid().ToString('N') + '.exe')
    try {
        Copy-Item -LiteralPath $Source -Destination $staged
        $says = & $staged --version
        if ($LASTEXITCODE -ne 0) { throw 'the program does not run here' }
        if ($says -ne $Expected) { throw "the program says that it is version $says, not $Expected" }
        if (Test-Path -LiteralPath $Target) {
            $old = Join-Path $dir ('terminus-old-' + [Guid]::NewGuid().ToString('N') + '.exe')
            Move-Item -LiteralPath $Target -Destination $old
            try {
                Move-Item -LiteralPath $staged -Destination $Target
            } catch {
                Move-Item -LiteralPath $old -Destination $Target
                throw
            }
            Remove-Item -LiteralPath $old -Force -ErrorAction SilentlyContinue
        } else {
            Move-Item -LiteralPath $staged -Destination $Target
        }
    } finally {
        Remove-Item -LiteralPath $staged -Force -ErrorAction SilentlyContinue
    }
}

function Install-Terminus {
    # Windows PowerShell 5.1 would offer what no server takes any more.
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $plan = Get-Plan $Version $Prefix $BaseUrl $env:LOCALAPPDATA
    $processor = Get-Processor $env:PROCESSOR_ARCHITECTURE $env:PROCESSOR_ARCHITEW6432
    if (Test-Path -LiteralPath $plan.Target -PathType Container) { throw "$($plan.Target) is a directory" }
    $replaces = Test-Path -LiteralPath $plan.Target
    if ($replaces -and -not (Test-Ours $plan.Target)) {
        throw "$($plan.Target) is another program: move it away, or name another place with -Prefix"
    }
    $work = Join-Path ([IO.Path]::GetTempPath()) ('terminus-' + [Guid]::NewGuid().ToString('N'))
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        $list = Get-ListUrl $plan.Base $plan.Version
        Get-File $list (Join-Path $work 'checksums.txt')
        $archive = Find-Archive ([IO.File]::ReadAllText((Join-Path $work 'checksums.txt'))) $plan.Version $processor
        if (-not $archive) { throw "$list names no archive for windows on $processor" }
        $url = "$($plan.Base)/download/v$($archive.Version)/$($archive.Name)"
        if ($DryRun) {
            Write-Output "would download $url"
            Write-Output "would check that its SHA-256 is $($archive.Sum)"
            if ($replaces) { Write-Output "would replace $($plan.Target)" } else { Write-Output "would make $($plan.Target)" }
            return
        }
        $zip = Join-Path $work $archive.Name
        Get-File $url $zip
        $got = (Get-FileHash -Algorithm SHA256 -LiteralPath $zip).Hash.ToLowerInvariant()
        if ($got -ne $archive.Sum) { throw "$($archive.Name) is not what the release says: its SHA-256 is $got, not $($archive.Sum)" }
        Expand-Archive -LiteralPath $zip -DestinationPath (Join-Path $work 'unpacked')
        Set-Program (Join-Path $work 'unpacked\terminus.exe') $plan.Target $archive.Version
    } finally {
        Remove-Item -Recurse -Force -LiteralPath $work -ErrorAction SilentlyContinue
    }
    Write-Output "terminus $($archive.Version) is $($plan.Target)"
    if (-not (Test-OnPath $plan.Dir $env:PATH)) { Write-Output "$($plan.Dir) is not on PATH: add it, or type the whole path" }
    Write-Output "next: & '$($plan.Target)' install wires it into Claude Code; & '$($plan.Target)' --help"
}

try {
    Install-Terminus
} catch {
    # Not exit: piped into Invoke-Expression it would end the caller's shell.
    Write-Error "install.ps1: $($_.Exception.Message)"
}
