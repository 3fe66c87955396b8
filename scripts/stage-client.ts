import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const client = join(root, 'packages', 'client');

const compilerOptions = {
  target: 'es2022',
  lib: ['es2024', 'dom', 'dom.iterable', 'dom.asynciterable'],
  module: 'nodenext',
  types: [],
  strict: true,
  skipLibCheck: true,
  declaration: true,
  rootDir: join(client, 'src'),
  rewriteRelativeImportExtensions: true,
  verbatimModuleSyntax: true,
};

interface Manifest {
  readonly version: string;
  readonly license: string;
  readonly description: string;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Lays out the package of the client: JavaScript with types, for Node.js and browsers. */
export async function stageClient(folder: string): Promise<void> {
  const lib = join(folder, 'lib');
  await mkdir(lib, { recursive: true });
  const config = join(client, 'node_modules', '.publish.json');
  await mkdir(join(client, 'node_modules'), { recursive: true });
  const files = [join(client, 'src', 'index.ts')];
  await writeFile(config, JSON.stringify({ compilerOptions: { ...compilerOptions, outDir: lib }, files }));
  execFileSync(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', config], {
    stdio: ['ignore', 2, 2],
  });
  // The compiler rewrites imports in JavaScript only.
  for (const name of readdirSync(lib, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(lib, name), 'utf8');
    await writeFile(join(lib, name), text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"));
  }
  await cp(join(client, 'README.md'), join(folder, 'README.md'));
  for (const name of ['LICENSE', 'NOTICE']) await cp(join(root, name), join(folder, name));
  const manifest = JSON.parse(await readFile(join(client, 'package.json'), 'utf8')) as Manifest;
  const { version, description, license, dependencies } = manifest;
  const published = {
    name: '@svc/client',
    version,
    description,
    license,
    type: 'module',
    exports: { '.': { types: './lib/index.d.ts', default: './lib/index.js' } },
    sideEffects: false,
    dependencies,
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(published, undefined, 2)}\n`);
}
