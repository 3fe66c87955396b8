// Compiles packages/*/wasm/*.as (AssemblyScript) to WebAssembly and writes it, as text, to src/*-wasm.ts of the same
// package. Run it after changing such a source; the result is committed, so that nothing else needs the compiler.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

const compiler = 'assemblyscript@0.28.20';
const root = join(import.meta.dirname, '..');
const work = mkdtempSync(join(tmpdir(), 'svc-wasm-'));

try {
  for (const source of globSync('packages/*/wasm/*.as', { cwd: root })) {
    const name = basename(source, '.as');
    const compiled = join(work, `${name}.wasm`);
    const options = '--runtime stub -O3 --noAssert --enable simd --enable bulk-memory --initialMemory 4';
    // The compiler takes no other file name.
    copyFileSync(join(root, source), join(work, `${name}.ts`));
    const command = ['--yes', '--package', compiler, 'asc', `${name}.ts`, '-o', compiled];
    execFileSync('npx', [...command, ...options.split(' ')], { cwd: work, stdio: 'inherit' });
    const hash = createHash('sha256')
      .update(readFileSync(join(root, source)))
      .digest('hex');
    const target = join(dirname(dirname(source)), 'src', `${name}-wasm.ts`);
    const text = `/** Made by scripts/build-wasm.ts from wasm/${name}.as, whose SHA-256 is: */
export const ${name}Source = '${hash}';

export const ${name}Wasm =
  '${readFileSync(compiled).toString('base64')}';
`;
    writeFileSync(join(root, target), text);
    console.log(`${target}: ${readFileSync(compiled).length} bytes of WebAssembly`);
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
