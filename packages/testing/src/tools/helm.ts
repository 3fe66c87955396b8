import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { goTool } from '../fetch/go-tool.ts';
import { runCommand } from '../run-command.ts';

/** The package manager of Kubernetes. */
export function helm(): Promise<string> {
  return goTool('helm.sh/helm/v3/cmd/helm@v3.19.0');
}

const source = join(import.meta.dirname, 'kube-check');

/** A program that reads manifests as the API server of Kubernetes would, and refuses what it does not know. */
export async function kubeCheck(): Promise<string> {
  const folder = await fetchOnce('kube-check-0.34.0', 'kube-check (compiled)', async (target) => {
    for (const name of ['go.mod', 'main.go']) await copyFile(join(source, name), join(target, name));
    const env = { ...process.env, GOFLAGS: '-mod=mod -trimpath -ldflags=-s', CGO_ENABLED: '0' };
    await runCommand('go', ['build', '-o', 'kube-check', '.'], { cwd: target, env });
  });
  return join(folder, 'kube-check');
}
