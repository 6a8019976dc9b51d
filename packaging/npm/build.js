// Makes the npm packages of a release: one for each system, which holds the binary, and
// the one that people install, which depends on all of them, optionally, so that npm
// installs the one that fits. None of them has an install script.
//
// usage: node build.js DIST VERSION OUT
//   DIST is the directory that a release was built into, with a directory
//   terminus_OS_ARCH* for each system. OUT must not be there yet. Each package becomes a
//   directory of OUT, to be given to npm pack or npm publish, the thin one last.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

// As a release names a system, and as Node.js does.
const systems = [
  ['linux', 'amd64', 'linux', 'x64'],
  ['linux', 'arm64', 'linux', 'arm64'],
  ['darwin', 'amd64', 'darwin', 'x64'],
  ['darwin', 'arm64', 'darwin', 'arm64'],
  ['windows', 'amd64', 'win32', 'x64'],
  ['windows', 'arm64', 'win32', 'arm64'],
];

const here = __dirname;
const root = path.join(here, '..', '..');

function fail(text) {
  process.stderr.write(`build.js: ${text}\n`);
  process.exit(1);
}

// owner reads packaging/owner.env.
function owner() {
  const values = {};
  for (const line of fs.readFileSync(path.join(here, '..', 'owner.env'), 'utf8').split('\n')) {
    const [, name, value] = /^([A-Z_]+)=(.*)$/.exec(line) ?? [];
    if (name) values[name] = value;
  }
  return values;
}

// binary is the one program in the one directory of a system.
function binary(dist, os, arch) {
  const dirs = fs.readdirSync(dist).filter((d) => d === `terminus_${os}_${arch}` || d.startsWith(`terminus_${os}_${arch}_`));
  const file = os === 'windows' ? 'terminus.exe' : 'terminus';
  const found = dirs.map((d) => path.join(dist, d, file)).filter((f) => fs.existsSync(f));
  if (found.length !== 1) fail(`${found.length} binaries for ${os} on ${arch} in ${dist}`);
  return found[0];
}

function write(dir, manifest, files) {
  fs.mkdirSync(path.join(dir, 'bin'), { recursive: true });
  fs.writeFileSync(path.join(dir, 'package.json'), JSON.stringify(manifest, null, 2) + '\n');
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(dir, 'LICENSE'));
  for (const [from, to, mode] of files) {
    fs.copyFileSync(from, path.join(dir, to));
    fs.chmodSync(path.join(dir, to), mode);
  }
}

function main(dist, version, out) {
  const o = owner();
  const scope = `@${o.TERMINUS_OWNER}`;
  const common = (name, description) => ({
    name: `${scope}/${name}`,
    version,
    description,
    license: 'MIT',
    homepage: o.TERMINUS_HOME,
    repository: { type: 'git', url: `git+${o.TERMINUS_HOME}.git` },
  });
  if (fs.existsSync(out)) fail(`${out} is there already`);
  const optional = {};
  for (const [os, arch, platform, cpu] of systems) {
    const name = `terminus-${platform}-${cpu}`;
    const file = os === 'windows' ? 'terminus.exe' : 'terminus';
    optional[`${scope}/${name}`] = version;
    write(
      path.join(out, name),
      {
        ...common(name, `The terminus binary for ${os} on ${arch}; install ${scope}/terminus instead`),
        os: [platform],
        cpu: [cpu],
        files: [`bin/${file}`],
        preferUnplugged: true, // a program has to be a file
      },
      [[binary(dist, os, arch), `bin/${file}`, 0o755]],
    );
  }
  write(
    path.join(out, 'terminus'),
    {
      ...common('terminus', 'Keep every coding-agent session, and find any turn of it'),
      keywords: ['claude-code', 'archive', 'search', 'mcp'],
      bin: { terminus: 'bin/terminus.js' },
      files: ['bin/terminus.js'],
      engines: { node: '>=18' },
      optionalDependencies: optional,
    },
    [
      [path.join(here, 'terminus.js'), 'bin/terminus.js', 0o755],
      [path.join(here, 'README.md'), 'README.md', 0o644],
    ],
  );
}

const args = process.argv.slice(2);
if (args.length !== 3) {
  process.stderr.write('usage: node build.js DIST VERSION OUT\n');
  process.exit(2);
}
main(...args);
