# The program, its manual pages and its completions. It needs a nixpkgs whose Go is at
# least the one that go.mod asks for.
{
  lib,
  buildGoModule,
  installShellFiles,
  versionCheckHook,
  # Of the checkout: its commit, and the commit's time in RFC 3339. Empty: not known.
  commit ? "",
  commitDate ? "",
}:
let
  home = "https://github.com/terminus-archive/terminus";
  cli = "github.com/terminus-archive/terminus/internal/cli";
in
buildGoModule (finalAttrs: {
  pname = "terminus";
  version = "0.0.0-dev"; # the newest release of CHANGELOG.md; a test holds it there

  # What is compiled or installed, so that other files cost no new build. All Go code is among it:
  # vendorHash is of what any package of the module asks for, tests included.
  src = lib.fileset.toSource {
    root = ../.;
    fileset = lib.fileset.unions [
      ../go.mod
      ../go.sum
      ../cmd
      ../internal
      ../packaging
      ../testscripts
      ../CHANGELOG.md
    ];
  };

  vendorHash = "sha256-Nl/e7kSlZjkyn7rwomDo09z5YH2AMzqvv3m5DtlgNdI="; # make vendor-hash

  subPackages = [ "cmd/terminus" ];
  env.CGO_ENABLED = 0;
  ldflags = [
    "-s"
    "-w"
    "-X ${cli}.version=${finalAttrs.version}"
    "-X ${cli}.commit=${commit}"
    "-X ${cli}.commitDate=${commitDate}"
  ];

  # The generator runs here, also where the program is built for another system.
  nativeBuildInputs = [ installShellFiles ];
  postInstall = ''
    GOOS=$(go env GOHOSTOS) GOARCH=$(go env GOHOSTARCH) \
      go run -ldflags '-X ${cli}.version=${finalAttrs.version}' ./internal/assets \
      -out "$TMPDIR/assets" -date ${if commitDate == "" then "1970-01-01T00:00:00Z" else commitDate}
    installManPage "$TMPDIR"/assets/man/*.1
    installShellCompletion --cmd terminus \
      --bash "$TMPDIR/assets/completions/terminus.bash" \
      --zsh "$TMPDIR/assets/completions/_terminus" \
      --fish "$TMPDIR/assets/completions/terminus.fish"
  '';

  doInstallCheck = true;
  nativeInstallCheckInputs = [ versionCheckHook ];
  versionCheckProgramArg = "--version";

  meta = {
    description = "Keep every coding-agent session, and find any turn of it";
    longDescription = ''
      Terminus archives the sessions of coding agents byte for byte, finds any turn of them in
      milliseconds, and hands the right ones back: through the command line, through the hooks
      of Claude Code, and through an MCP server. It works on this machine alone.
    '';
    homepage = home;
    changelog = "${home}/blob/main/CHANGELOG.md";
    license = lib.licenses.mit;
    mainProgram = "terminus";
    platforms = lib.platforms.linux ++ lib.platforms.darwin;
  };
})
