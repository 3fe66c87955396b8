import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { unpackDebianPackage } from '../fetch/debian-package.ts';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { goInstall } from '../fetch/go-tool.ts';

/** Checks rules of Prometheus: Debian's binary where that runs, else compiled. */
export async function promtool(): Promise<string> {
  const folder = await fetchOnce('promtool-2.42.0', 'promtool 2.42.0', async (target) => {
    try {
      await unpackDebianPackage(debianPackage, target);
      await rename(join(target, 'usr/bin/promtool'), join(target, 'promtool'));
    } catch (error) {
      process.stderr.write(`compiling promtool, which takes minutes: ${String(error)}\n`);
      await goInstall('github.com/prometheus/prometheus/cmd/promtool@v0.42.0', target);
    }
  });
  return join(folder, 'promtool');
}

const debianPackage = {
  path: (architecture: string) => `pool/main/p/prometheus/prometheus_2.42.0+ds-5+deb12u1_${architecture}.deb`,
  digests: { amd64: '81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55' },
};
