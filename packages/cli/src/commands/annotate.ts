import { listAll, type ObjectStats } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';
import type { Commit } from '../output/commit-blocks.ts';
import { formatDate } from '../output/format.ts';
import { maxPage } from '../pagination.ts';
import { pinTime } from '../pin-time.ts';

interface AnnotateFlags {
  readonly firstParent?: boolean;
  readonly recursive?: boolean;
}

const parallelCalls = 10;
const maxMessage = 200;

export function register(program: Command): void {
  program
    .command('annotate')
    .alias('blame')
    .description('show the last commit that changed each entry under a path')
    .argument('<path URI>')
    .option('--first-parent', 'follow only the first parent of merges')
    .option('-r, --recursive', 'every object below, not one level')
    .action(
      action<[string], AnnotateFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const { repository, ref, path: prefix } = await pinTime(client, uris.path(uriText, 'path URI'));
        const lastChange = async (entry: ObjectStats): Promise<Annotation> => {
          const isObject = entry.path_type === 'object';
          const { results } = await client.get('/repositories/{repository}/refs/{ref}/commits', {
            params: {
              path: { repository, ref },
              query: {
                amount: 1,
                limit: true,
                ...(isObject ? { objects: [entry.path] } : { prefixes: [entry.path] }),
                ...(flags.firstParent === true && { first_parent: true }),
              },
            },
          });
          return { path: entry.path, commit: results[0] };
        };
        const entries = listAll((after) =>
          client.get('/repositories/{repository}/refs/{ref}/objects/ls', {
            params: {
              path: { repository, ref },
              query: { prefix, after, amount: maxPage, ...(flags.recursive !== true && { delimiter: '/' }) },
            },
          }),
        );
        const found: Annotation[] = [];
        // Several calls run at once; their answers are printed in the order of the listing.
        const pending: Promise<Annotation>[] = [];
        const next = async (): Promise<void> => {
          const annotation = await pending.shift();
          if (annotation === undefined) return;
          if (out.json) found.push(annotation);
          else out.line(annotationLine(annotation));
        };
        for await (const entry of entries) {
          const call = lastChange(entry);
          // A failure is reported when its turn comes; until then it must not count as unhandled.
          call.catch(() => undefined);
          pending.push(call);
          if (pending.length >= parallelCalls) await next();
        }
        while (pending.length > 0) await next();
        if (out.json) out.document(found);
      }),
    );
}

interface Annotation {
  readonly path: string;
  readonly commit: Commit | undefined;
}

export function annotationLine({ path, commit }: Annotation): string {
  const committer = (commit?.committer ?? '').padEnd(20);
  const id = (commit?.id.slice(0, 16) ?? '').padEnd(20);
  const date = commit === undefined ? '' : formatDate(commit.creation_date);
  return `${path.padEnd(15)} ${committer} ${id} ${date}  ${shortMessage(commit?.message ?? '')}`;
}

/** The first line of a message, cut to fit a terminal line. */
export function shortMessage(message: string): string {
  const [first = ''] = message.split('\n');
  const characters = Array.from(first);
  return characters.length <= maxMessage ? first : `${characters.slice(0, maxMessage).join('')}...`;
}
