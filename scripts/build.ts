// Bundles `svc` and `svcctl` into one file each; native packages stay outside the bundle.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';

const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };

const external = [/^node:/, 'lmdb', '@node-rs/crc32', 'pg-native', /^@aws-sdk\//];

interface Target {
  name: string;
  input: string;
}

const targets: Target[] = [
  { name: 'svc', input: 'packages/server/src/bin/svc.ts' },
  { name: 'svcctl', input: 'packages/cli/src/bin/svcctl.ts' },
];

await mkdir(dist, { recursive: true });
for (const target of targets) {
  const input = join(root, target.input);
  if (!existsSync(input)) continue;
  await build({
    input,
    external,
    platform: 'node',
    transform: { define: { __SVC_VERSION__: JSON.stringify(version) } },
    logLevel: 'warn',
    output: {
      dir: dist,
      format: 'esm',
      entryFileNames: `${target.name}.js`,
      chunkFileNames: `${target.name}-[name]-[hash].js`,
      sourcemap: true,
    },
  });
}
await writeFile(join(dist, '.built'), `${version}\n`);
