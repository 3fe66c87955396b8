import { join } from 'node:path';
import { runCommand } from '../run-command.ts';
import { fetchOnce } from './fetch-once.ts';

/** The path of a program built once from a Go module, e.g. `github.com/versity/versitygw/cmd/versitygw@v1.8.0`. */
export async function goTool(moduleAtVersion: string): Promise<string> {
  const [module = '', version = ''] = moduleAtVersion.split('@');
  const name = module.split('/').at(-1) ?? module;
  const what = `${name} ${version} (compiled: takes minutes)`;
  const folder = await fetchOnce(`go-${name}-${version}`, what, (target) =>
    goInstall(moduleAtVersion, target),
  );
  return join(folder, name);
}

let lastBuild: Promise<unknown> = Promise.resolve();

/** Compiles the program into the folder. */
export function goInstall(moduleAtVersion: string, folder: string): Promise<void> {
  // One after the other: each uses all cores, and the next finds in the build cache what they have in common.
  const build = lastBuild.then(async () => {
    await runCommand('go', ['install', moduleAtVersion], {
      env: { ...process.env, GOBIN: folder, GOFLAGS: '-trimpath -ldflags=-s', CGO_ENABLED: '0' },
    });
  });
  // The next build does not depend on the success of this one.
  lastBuild = build.catch(() => undefined);
  return build;
}
