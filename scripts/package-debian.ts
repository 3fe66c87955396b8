// `npm run package:debian [folder] [amd64|arm64]`: a Debian package of what `npm run package` has put into the folder,
// with the Node.js it runs on. Needs npm and tar, nothing of Debian.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, chmod, cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? join(root, 'out'));
const architecture = process.argv[3] ?? (process.arch === 'arm64' ? 'arm64' : 'amd64');
const cpus: Readonly<Record<string, string>> = { amd64: 'x64', arm64: 'arm64' };
const cpu = cpus[architecture];
if (cpu === undefined) throw new Error(`no package is made for ${architecture}: use amd64 or arm64`);

interface Manifest {
  readonly version: string;
  readonly description: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}
const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Manifest;
const { version, description } = manifest;
const runtime = `node-linux-${cpu}`;

const work = await mkdtemp(join(tmpdir(), 'svc-debian-'));
const files = join(work, 'files');
const control = join(work, 'control');

/** A script that finds the rest from where it lies, so that the files work below any root. */
function launcher(name: string): string {
  return `#!/bin/sh
lib=$(dirname "$(readlink -f "$0")")/../lib/svc/node_modules
exec "$lib/${runtime}/bin/node" "$lib/${name}/bin/${name}.js" "$@"
`;
}

async function layOut(): Promise<void> {
  const lib = join(files, 'usr/lib/svc');
  await mkdir(lib, { recursive: true });
  const tarballs = ['svc', 'svcctl'].map((name) => join(out, `${name}-${version}.tgz`));
  const node = `${runtime}@${manifest.optionalDependencies[runtime]}`;
  const options = ['--no-audit', '--no-fund', '--no-save', '--ignore-scripts', '--loglevel=error'];
  execFileSync(
    'npm',
    ['install', '--prefix', lib, '--os=linux', `--cpu=${cpu}`, '--libc=glibc', ...options, ...tarballs, node],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  for (const name of ['include', 'share', 'CHANGELOG.md', 'README.md'])
    await rm(join(lib, 'node_modules', runtime, name), { recursive: true, force: true });
  await rm(join(lib, 'node_modules/.bin'), { recursive: true, force: true });

  await mkdir(join(files, 'usr/bin'), { recursive: true });
  for (const name of ['svc', 'svcctl']) {
    await writeFile(join(files, 'usr/bin', name), launcher(name));
    await chmod(join(files, 'usr/bin', name), 0o755);
  }
  const shared = join(files, 'usr/share');
  await mkdir(join(shared, 'doc/svc'), { recursive: true });
  await mkdir(join(shared, 'svc'));
  await cp(join(root, 'deploy/debian/config.yaml'), join(shared, 'svc/config.yaml'));
  await cp(join(root, 'LICENSE'), join(shared, 'doc/svc/copyright'));
  const units = join(files, 'usr/lib/systemd/system');
  await mkdir(units, { recursive: true });
  const unit = await readFile(join(root, 'deploy/systemd/svc.service'), 'utf8');
  await writeFile(
    join(units, 'svc.service'),
    unit.replace(/^# .*\n/, '').replace('/usr/bin/env svc', '/usr/bin/svc'),
  );
}

async function describe(): Promise<void> {
  await mkdir(control);
  const kilobytes = execFileSync('du', ['-sk', files], { encoding: 'utf8' }).split('\t')[0];
  await writeFile(
    join(control, 'control'),
    `Package: svc
Version: ${version}
Architecture: ${architecture}
Maintainer: The svc authors <svc@localhost>
Installed-Size: ${kilobytes}
Depends: libc6 (>= 2.28), libstdc++6
Section: database
Priority: optional
Description: ${description}
 The server (svc), its command line (svcctl) and the Node.js they run on.
`,
  );
  for (const name of ['postinst', 'prerm', 'postrm']) {
    await cp(join(root, 'deploy/debian', name), join(control, name));
    await chmod(join(control, name), 0o755);
  }
}

function tar(folder: string): Buffer {
  const owner = ['--owner=root:0', '--group=root:0', '--sort=name'];
  return execFileSync('tar', ['-C', folder, ...owner, '-czf', '-', '.'], { maxBuffer: 2 ** 30 });
}

/** The format of `ar`: a line about each member, then its bytes, even in number. */
function member(name: string, bytes: Buffer): Buffer {
  const head = `${name.padEnd(16)}${'0'.padEnd(12)}${'0'.padEnd(6)}${'0'.padEnd(6)}${'100644'.padEnd(8)}${String(bytes.length).padEnd(10)}\`\n`;
  return Buffer.concat([Buffer.from(head), bytes, Buffer.alloc(bytes.length % 2, '\n')]);
}

try {
  await layOut();
  await describe();
  const name = `svc_${version}_${architecture}.deb`;
  const archive = Buffer.concat([
    Buffer.from('!<arch>\n'),
    member('debian-binary', Buffer.from('2.0\n')),
    member('control.tar.gz', tar(control)),
    member('data.tar.gz', tar(files)),
  ]);
  await writeFile(join(out, name), archive);
  const sums = join(out, 'SHA256SUMS');
  if ((await readdir(out)).includes('SHA256SUMS')) {
    const others = (await readFile(sums, 'utf8'))
      .split('\n')
      .filter((line) => line !== '' && !line.endsWith(name));
    await writeFile(sums, others.map((line) => `${line}\n`).join(''));
  }
  await appendFile(sums, `${createHash('sha256').update(archive).digest('hex')}  ${name}\n`);
  console.log(join(out, name));
} finally {
  await rm(work, { recursive: true, force: true });
}
