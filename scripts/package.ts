// `npm run package [folder]`: what is published, from the build in `dist/`: a folder and an npm tarball each of `svc`
// (the server), `svcctl` (the command line alone) and `@svc/client` (the client of the API), with their checksums.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stageClient } from './stage-client.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const out = resolve(process.argv[2] ?? join(root, 'out'));

interface Published {
  readonly name: string;
  readonly description: string;
  readonly files: (name: string) => boolean;
  /** Packages that the bundle leaves outside, by the one of ours that names their version. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Those that only some settings need, and that may be left out. */
  readonly optional?: Readonly<Record<string, string>>;
}

const published: readonly Published[] = [
  {
    name: 'svc',
    description: 'Version control for data in object stores: the server',
    files: (name) => !name.startsWith('svcctl'),
    dependencies: {
      '@node-rs/crc32': 'encoding',
      lmdb: 'kv',
      wasmoon: 'actions',
    },
    optional: { '@aws-sdk/credential-providers': 'block' },
  },
  {
    name: 'svcctl',
    description: 'Version control for data in object stores: the command line',
    files: (name) => name.startsWith('svcctl'),
    dependencies: { '@node-rs/crc32': 'encoding' },
  },
];

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly engines: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Manifest;
}

async function withVersions(owners: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const pairs = await Promise.all(
    Object.entries(owners).map(async ([name, owner]) => [name, await versionOf(name, owner)]),
  );
  return Object.fromEntries(pairs) as Record<string, string>;
}

async function versionOf(dependency: string, owner: string): Promise<string> {
  const { dependencies = {} } = await manifestOf(join('packages', owner));
  const version = dependencies[dependency];
  if (version === undefined) throw new Error(`packages/${owner} does not depend on ${dependency}`);
  return version;
}

async function stage(item: Published, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(dist)) {
    if (name.startsWith('.') || name.endsWith('.map') || !item.files(name)) continue;
    await cp(join(dist, name), join(folder, name), { recursive: true });
  }
  // The bundle of a module has no first line for the shell.
  await mkdir(join(folder, 'bin'));
  await writeFile(
    join(folder, 'bin', `${item.name}.js`),
    `#!/usr/bin/env node\nimport '../${item.name}.js';\n`,
  );
  for (const name of ['LICENSE', 'NOTICE', 'README.md']) await cp(join(root, name), join(folder, name));
  const { version, license, engines } = await manifestOf('.');
  const manifest = {
    name: item.name,
    version,
    description: item.description,
    license,
    type: 'module',
    bin: { [item.name]: `bin/${item.name}.js` },
    engines,
    dependencies: await withVersions(item.dependencies),
    ...(item.optional !== undefined && { optionalDependencies: await withVersions(item.optional) }),
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

// The server brings its documentation.
execFileSync(process.execPath, [join(root, 'scripts', 'build-site.ts')], { stdio: ['ignore', 2, 2] });
await rm(out, { recursive: true, force: true });
const sums: string[] = [];
const staged = published.map((item) => ({
  folder: join(out, item.name),
  stage: (folder: string) => stage(item, folder),
}));
for (const { folder, stage } of [...staged, { folder: join(out, 'client'), stage: stageClient }]) {
  await stage(folder);
  const packed = execFileSync('npm', ['pack', '--pack-destination', out, folder], { encoding: 'utf8' });
  const file = packed.trim().split('\n').at(-1) ?? '';
  const sum = createHash('sha256')
    .update(await readFile(join(out, file)))
    .digest('hex');
  sums.push(`${sum}  ${file}\n`);
  console.log(join(out, file));
}
await writeFile(join(out, 'SHA256SUMS'), sums.join(''));
