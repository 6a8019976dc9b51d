# shellcheck shell=bash disable=SC1090,SC1091,SC2154 # files and variables of a build
# Runs what home-manager runs, with its two functions as it defines them, over links as it makes them.
run() {
  if [ -n "${DRY_RUN:-}" ]; then echo "$*"; else "$@"; fi
}
warnEcho() { echo "WARNED: $*" >&2; }

fresh() {
  HOME=$TMPDIR/$1
  export HOME
  mkdir -p "$HOME/.claude" "$HOME/.config/terminus" "$HOME/.local/bin"
  ln -s "$link" "$HOME/.local/bin/terminus"
  sed "s|@home@|$HOME|g" "$toml" >"$HOME/.config/terminus/terminus.toml"
}
activate() {
  sed "s|@home@|$HOME|g" "$1" >"$TMPDIR/activate"
  (set -eu && . "$TMPDIR/activate")
}
fail() {
  cat said >&2
  echo "FAILED: $*" >&2
  exit 1
}

: >said
fresh first
echo '{ "model": "opus" }' >"$HOME/.claude/settings.json"
activate "$activationPath" >said 2>&1
grep -q "reads .*$HOME/.claude, $HOME/else where" said || fail 'terminus.toml is not read'
grep -q '"model": "opus"' "$HOME/.claude/settings.json" || fail 'the settings lost something'
grep -q "$HOME/.local/bin/terminus" "$HOME/.claude/settings.json" || fail 'no hook in settings.json'
grep -q "$HOME/.local/bin/terminus" "$HOME/.claude.json" || fail 'no server in .claude.json'
[ -L "$HOME/.local/bin/terminus" ] || fail 'the link was replaced'
# Doctor in a shell without any variable of the activation.
terminus=$HOME/.local/bin/terminus
"$terminus" doctor >said || true
for check in binary settings_file hook_SessionStart hook_UserPromptSubmit hook_SessionEnd hook_PostCompact mcp_server; do
  grep -q "ok  *$check " said || fail "doctor does not find $check in order"
done

cp -R "$HOME" "$TMPDIR/before"
activate "$activationPath" >said 2>&1
diff -r "$TMPDIR/before" "$HOME" || fail 'a second activation changed something'

# Taken back, before the module is disabled: what was there is there again, and so is the link.
"$terminus" uninstall >said 2>&1 || fail 'uninstall failed'
[ "$(cat "$HOME/.claude/settings.json")" = '{ "model": "opus" }' ] || fail 'uninstall left something'
[ ! -e "$HOME/.claude.json" ] || fail 'uninstall left .claude.json'
[ -L "$HOME/.local/bin/terminus" ] || fail 'uninstall removed the link'

fresh dry
DRY_RUN=1 activate "$activationPath" >/dev/null
[ -z "$(ls -A "$HOME/.claude")" ] || fail 'a dry run wrote settings'
[ ! -e "$HOME/.claude.json" ] || fail 'a dry run wrote .claude.json'

fresh broken
echo '{ "model"' >"$HOME/.claude/settings.json"
activate "$activationPath" >said 2>&1 || fail 'a broken settings.json ends the activation'
grep -q WARNED said || fail 'nobody is told of a broken settings.json'
[ "$(cat "$HOME/.claude/settings.json")" = '{ "model"' ] || fail 'a broken settings.json was changed'

# Where home-manager writes settings.json, it is a link to a file that nobody may write.
fresh declared
sed "s|@home@|$HOME|g" "$declaredHooksPath" >"$TMPDIR/settings.json"
cp "$TMPDIR/settings.json" "$TMPDIR/settings.before"
chmod 444 "$TMPDIR/settings.json"
ln -s "$TMPDIR/settings.json" "$HOME/.claude/settings.json"
activate "$declaredActivationPath" >said 2>&1 || fail 'install over declared hooks failed'
if grep -q WARNED said; then fail 'install over declared hooks failed'; fi
cmp "$TMPDIR/settings.json" "$TMPDIR/settings.before" || fail 'declared hooks were changed'
[ -L "$HOME/.claude/settings.json" ] || fail 'the link to declared hooks was replaced'
grep -q "$HOME/.local/bin/terminus" "$HOME/.claude.json" || fail 'no server beside declared hooks'

echo 'the activation holds' >"$out"
