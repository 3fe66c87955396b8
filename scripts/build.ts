// Bundles `svc` and `svcctl` into one file each, native packages outside the bundle, and the web UI beside them.
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import type { Plugin } from 'rolldown';
import { buildUi } from './build-ui.ts';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

const external = [/^node:(?!https?$)/, 'lmdb', '@node-rs/crc32', 'pg-native', 'wasmoon', /^@aws-sdk\//];

/**
 * An import statement of node:http makes Node look at each of its exports, some of which load a whole fetch
 * implementation: 55 ms of CPU per process. Taking the module as a plain object costs 7.
 */
const loadsFetch = new Set(['WebSocket', 'CloseEvent', 'MessageEvent']);
const leanBuiltins: Plugin = {
  name: 'lean-builtins',
  resolveId(id, _importer, { kind }) {
    if (id !== 'node:http' && id !== 'node:https') return null;
    if (kind === 'require-call') return { id, external: true };
    return { id: `\0lean:${id}`, moduleSideEffects: false };
  },
  load(id) {
    if (!id.startsWith('\0lean:')) return null;
    const name = id.slice('\0lean:'.length) as 'node:http';
    const names = Object.keys(process.getBuiltinModule(name)).filter((key) => !loadsFetch.has(key));
    return `const builtin = process.getBuiltinModule('${name}');
export default builtin;
export const { ${names.join(', ')} } = builtin;`;
  },
};

/**
 * The command parser imports modules whole for what it needs rarely; child processes alone bring the network along.
 * Taken as plain objects when they are used, a third of the CPU of `svcctl --help` is gone.
 */
const leanParser: Plugin = {
  name: 'lean-parser',
  transform(code, id) {
    if (!id.includes('/node_modules/commander/lib/')) return null;
    const lean = code
      .replace("import process from 'node:process';", '')
      .replace(
        "import childProcess from 'node:child_process';",
        "const childProcess = { get spawn() { return process.getBuiltinModule('node:child_process').spawn; } };",
      )
      .replaceAll(/^import (.+) from ('node:\w+');$/gm, 'const $1 = process.getBuiltinModule($2);');
    // Lines stay where they are, so the map does, too.
    return { code: lean, map: null };
  },
};

/**
 * Every logger asks who made it, for the sake of log transports, which we do not have. To answer, V8 finds the ends of
 * all lines of the largest file.
 */
const leanLogger: Plugin = {
  name: 'lean-logger',
  load(id) {
    return id.endsWith('/node_modules/pino/lib/caller.js') ? 'module.exports = () => [];' : null;
  },
};

/**
 * Every process keeps the text of what it has read. It takes one byte for a character while all of a file are ASCII, and
 * two for each otherwise, for the sake of a few dots and dashes.
 */
const oneBytePerCharacter: Plugin = {
  name: 'one-byte-per-character',
  // Lines stay where they are, so the maps do, too.
  generateBundle(_options, bundle) {
    for (const part of Object.values(bundle)) {
      if (part.type !== 'chunk') continue;
      part.code = part.code.replaceAll(
        /[^\0-\x7f]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
    }
  },
};

/**
 * Each file that is read costs a process some tenths of a millisecond, so what a process needs to start is in one:
 * these modules with all that they import.
 */
const startsWith = {
  primary: /\/server\/src\/(commands\/(main|program|run)|processes\/worker-processes)\.ts$/,
  worker: /\/server\/src\/(processes\/worker|roles\/http|roles\/http-surface)\.ts$/,
  tool: /\/cli\/src\/(main|program)\.ts$/,
};

interface Target {
  name: string;
  input: string;
}

const targets: Target[] = [
  { name: 'svc', input: 'packages/server/src/bin/svc.ts' },
  { name: 'svcctl', input: 'packages/cli/src/bin/svcctl.ts' },
  // Worker threads are started by file name, so each is an entry of its own.
  { name: 'tree-worker', input: 'packages/engine/src/committed/threads/tree-worker.ts' },
  { name: 'mark-worker', input: 'packages/engine/src/gc/collector/mark-worker.ts' },
  { name: 'walk-worker', input: 'packages/block/src/adapters/local/walk-worker.ts' },
  { name: 'hash-worker', input: 'packages/engine/src/objects/hash-worker.ts' },
  { name: 'svcctl-digest-worker', input: 'packages/cli/src/transfer/digest-worker.ts' },
  { name: 'lua-worker', input: 'packages/actions/src/lua/lua-worker.ts' },
  { name: 'metastore-worker', input: 'packages/actions/src/lua/metastore/metastore-worker.ts' },
];

// Built aside and moved into place at the end: a build that fails leaves the last good one.
const next = join(root, 'node_modules', '.cache', `svc-build-${process.pid}`);
await mkdir(next, { recursive: true });
for (const target of targets) {
  const input = join(root, target.input);
  if (!existsSync(input)) continue;
  await build({
    input,
    external,
    plugins: [leanBuiltins, leanParser, leanLogger, oneBytePerCharacter],
    platform: 'node',
    // Our modules do nothing but declare. Knowing that, the bundler leaves out the imports of files that nothing is
    // taken from: without it the primary process read the whole engine to lock a file.
    treeshake: { moduleSideEffects: [{ test: /\/packages\/\w+\/src\//, sideEffects: false }] },
    transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
    logLevel: 'warn',
    // What one process needs at once, another loads when it must.
    checks: { ineffectiveDynamicImport: false },
    output: {
      dir: next,
      format: 'esm',
      entryFileNames: `${target.name}.js`,
      chunkFileNames: `${target.name}-[name]-[hash].js`,
      sourcemap: true,
      comments: { jsdoc: false },
      codeSplitting: {
        groups: Object.entries(startsWith).map(([name, test], index) => ({
          name,
          test,
          priority: 2 - index,
        })),
      },
    },
  });
}
await buildUi(join(dist, 'ui'), join(next, 'ui'));
// The documentation is built by `npm run site`, with a generator that not everybody installs.
const site = join(dist, 'docs');
if (existsSync(site)) await rename(site, join(next, 'docs'));
await writeFile(join(next, '.built'), `${version}\n`);
await rm(dist, { recursive: true, force: true });
await rename(next, dist);
