import { expectStatus } from '@svc/client';
import type { CommandContext } from './context.ts';
import type { RefUri } from './uri.ts';

/** The action files of a ref, checked as the server would; what is wrong, with file and line. */
export async function validateActions(
  context: CommandContext,
  { repository, ref }: RefUri,
): Promise<{ readonly files: readonly string[]; readonly problems: readonly string[] }> {
  const { actionFolders, ActionFileError, countingFiles, parseAction } = await import('@svc/actions/file');
  const listed: string[] = [];
  for (const folder of actionFolders) listed.push(...(await filesIn(context, { repository, ref, folder })));
  const files = countingFiles(listed);
  const problems: string[] = [];
  const names = new Map<string, string>();
  for (const path of files) {
    try {
      const { name } = parseAction(await read(context, { repository, ref, path }));
      const first = names.get(name);
      if (first === undefined) names.set(name, path);
      else
        problems.push(`${path}:1: action name '${name}' already loaded: invalid action (first in ${first})`);
    } catch (error) {
      if (!(error instanceof ActionFileError)) throw error;
      problems.push(`${path}:${error.line}: ${error.message}`);
    }
  }
  return { files, problems };
}

async function filesIn(
  { client }: CommandContext,
  { repository, ref, folder }: { readonly repository: string; readonly ref: string; readonly folder: string },
): Promise<string[]> {
  const files: string[] = [];
  for (let after = ''; ;) {
    const page = await client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
      params: { path: { repository, ref }, query: { prefix: folder, delimiter: '/', after, amount: 1000 } },
    });
    for (const { path, path_type: type } of page.results) {
      if (type === 'object' && path !== folder) files.push(path);
    }
    if (!page.pagination.has_more) return files;
    after = page.pagination.next_offset;
  }
}

async function read(
  { transport }: CommandContext,
  { repository, ref, path }: { readonly repository: string; readonly ref: string; readonly path: string },
): Promise<string> {
  const answer = await transport.call({
    method: 'GET',
    path: '/repositories/{repository}/refs/{ref}/objects',
    params: { path: { repository, ref }, query: { path } },
  });
  await expectStatus(answer, 200);
  return answer.text();
}
