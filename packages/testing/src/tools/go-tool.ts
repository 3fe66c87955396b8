import { join } from 'node:path';
import { fetchOnce } from '../fetch-once.ts';
import { runCommand } from '../run-command.ts';

/** The path of a program built once from a Go module, e.g. `github.com/rclone/rclone@v1.75.1`. */
export async function goTool(moduleAtVersion: string): Promise<string> {
  const [module = '', version = ''] = moduleAtVersion.split('@');
  const name = module.split('/').at(-1) ?? module;
  const folder = await fetchOnce(`go-${name}-${version}`, async (target) => {
    await runCommand('go', ['install', moduleAtVersion], {
      env: { ...process.env, GOBIN: target, GOFLAGS: '-trimpath', CGO_ENABLED: '0' },
    });
  });
  return join(folder, name);
}
