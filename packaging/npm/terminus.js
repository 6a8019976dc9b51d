#!/usr/bin/env node
// Runs the terminus binary of the package for this system, which npm installed beside
// this one, with the same arguments, streams and environment, and ends as it ends.
'use strict';

const { spawn } = require('node:child_process');
const { constants } = require('node:os');

// The package is made for one scope: that of its own name.
const scope = require('../package.json').name.split('/')[0];
const name = `${scope}/terminus-${process.platform}-${process.arch}`;
const file = process.platform === 'win32' ? 'terminus.exe' : 'terminus';

function fail(text) {
  process.stderr.write(`terminus: ${text}\n`);
  process.exit(1);
}

let binary;
try {
  binary = require.resolve(`${name}/bin/${file}`);
} catch {
  const known = Object.keys(require('../package.json').optionalDependencies);
  if (!known.includes(name)) {
    fail(`there is no build for ${process.platform} on ${process.arch}`);
  }
  fail(`the package ${name} is not installed: install again without --omit=optional`);
}

const child = spawn(binary, process.argv.slice(2), { stdio: 'inherit' });

// What is sent to this process is meant for the binary. Nothing here ends before it.
const passed = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGCONT'];
for (const signal of passed) {
  try {
    process.on(signal, () => child.kill(signal));
  } catch {
    // a signal that this system does not have
  }
}

child.on('error', (err) => fail(`${binary} cannot be run: ${err.message}`));
child.on('exit', (code, signal) => {
  if (signal === null) {
    process.exit(code);
  }
  for (const s of passed) {
    process.removeAllListeners(s);
  }
  process.kill(process.pid, signal);
  // Where that does not end it, by the shells' rule.
  setTimeout(() => process.exit(128 + (constants.signals[signal] ?? 0)), 100);
});
