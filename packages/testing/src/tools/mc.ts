import { join } from 'node:path';
import { rename } from 'node:fs/promises';
import { unpackDebianPackage } from '../fetch/debian-package.ts';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { goInstall } from '../fetch/go-tool.ts';

/** The MinIO client: Debian's binary where that runs, else compiled. */
export async function mc(): Promise<string> {
  const folder = await fetchOnce('mc-20250403', 'mc 2025-04-03', async (target) => {
    try {
      await unpackDebianPackage(debianPackage, target);
      await rename(join(target, 'usr/bin/minio-client'), join(target, 'mc'));
    } catch (error) {
      process.stderr.write(`compiling mc, which takes minutes: ${String(error)}\n`);
      await goInstall('github.com/minio/mc@v0.0.0-20250313080218-cf909e1063a9', target);
    }
  });
  return join(folder, 'mc');
}

const debianPackage = {
  path: (architecture: string) =>
    `pool/main/m/minio-client/minio-client_0.0~20250403-3+b3_${architecture}.deb`,
  digests: {
    amd64: '6f1bb1e8362275abe837ac9918861b34cdddb1756d343631dd3ac57513a28140',
    arm64: 'cf6358b970dbc7cbb56a8a9d9f1ac2c33c1a9d773178e6b678649bc9a34dac9d',
  },
};
