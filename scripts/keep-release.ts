// `node scripts/keep-release.ts [folder]`: keeps the built server, without UI and documentation, as the previous release
// that the tests run beside newer ones. `folder` is the build, `dist` when absent.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';

const root = join(import.meta.dirname, '..');
const build = resolve(process.argv[2] ?? join(root, 'dist'));
const kept = join(root, 'packages/testing/fixtures/previous-release.tar.br');

const names = readdirSync(build)
  .filter((name) => name.endsWith('.js') && !name.startsWith('svcctl'))
  .sort();
const owner = ['--owner=root:0', '--group=root:0', '--mtime=@0'];
const tar = execFileSync('tar', ['-C', build, ...owner, '-cf', '-', ...names], { maxBuffer: 2 ** 28 });
const packed = brotliCompressSync(tar, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 11,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: tar.length,
  },
});
await mkdir(dirname(kept), { recursive: true });
await writeFile(kept, packed);
console.log(`${kept}: ${Math.ceil(packed.length / 1024)} KiB`);
