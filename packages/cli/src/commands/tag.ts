import { ApiError } from '@svc/client';
import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError } from '../errors.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { confirm } from '../prompt.ts';

export function register(program: Command): void {
  const tag = program.command('tag').description('create, list, show and delete tags');

  tag
    .command('create')
    .description('name a commit')
    .argument('<tag URI>')
    .argument('<commit URI>')
    .option('-f, --force', 'move the tag when it exists')
    .addHelpText('after', '\nExample:\n  svcctl tag create svc://my-repo/v1.0 svc://my-repo/main')
    .action(
      action<[string, string], { force?: boolean }>(
        async ({ client, out, uris }, [tagText, commitText], flags) => {
          const uri = uris.ref(tagText, 'tag URI');
          const commit = uris.ref(commitText, 'commit URI');
          const { repository } = uri;
          if (commit.repository !== repository) {
            throw new CliError('both references must belong to the same repository');
          }
          const path = { repository, tag: uri.ref };
          let previous: string | undefined;
          if (flags.force === true) {
            const target = await client.get('/repositories/{repository}/commits/{commitId}', {
              params: { path: { repository, commitId: commit.ref } },
            });
            previous = await client.get('/repositories/{repository}/tags/{tag}', { params: { path } }).then(
              (found) => found.commit_id,
              (error: unknown) => {
                if (error instanceof ApiError && error.isNotFound) return undefined;
                throw error;
              },
            );
            if (previous !== undefined && previous !== target.id) {
              await client.delete('/repositories/{repository}/tags/{tag}', { params: { path } });
            }
            if (previous === target.id) {
              out.info(`Created tag '${uri.ref}' (${target.id})`);
              if (out.json) out.document({ id: uri.ref, commit_id: target.id });
              return;
            }
          }
          const create = (ref: string) =>
            client.post('/repositories/{repository}/tags', {
              params: { path: { repository } },
              body: { id: uri.ref, ref },
            });
          const created = await create(commit.ref).catch(async (error: unknown) => {
            if (previous !== undefined) await create(previous);
            throw error;
          });
          if (out.json) out.document(created);
          else out.line(`Created tag '${created.id}' (${created.commit_id})`);
        },
      ),
    );

  tag
    .command('delete')
    .description('delete a tag')
    .argument('<tag URI>')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { yes?: boolean }>(async ({ client, uris }, [uriText], flags) => {
        const uri = uris.ref(uriText, 'tag URI');
        await confirm({ yes: flags.yes, question: `Delete tag ${uri.ref}?`, operation: 'delete tag' });
        await client.delete('/repositories/{repository}/tags/{tag}', {
          params: { path: { repository: uri.repository, tag: uri.ref } },
        });
      }),
    );

  tag
    .command('show')
    .description("show a tag's commit")
    .argument('<tag URI>')
    .action(
      action<[string]>(async ({ client, out, uris }, [uriText]) => {
        const uri = uris.ref(uriText, 'tag URI');
        const found = await client.get('/repositories/{repository}/tags/{tag}', {
          params: { path: { repository: uri.repository, tag: uri.ref } },
        });
        if (out.json) out.document(found);
        else out.line(`${found.id} ${found.commit_id}`);
      }),
    );

  withPageFlags(tag.command('list').description('list tags').argument('<repository URI>')).action(
    action<[string], PageFlags>((context, [uriText], flags) => {
      const { repository } = context.uris.repository(uriText, 'repository URI');
      return printPages(context, flags, {
        headers: ['Tag', 'Commit ID'],
        fetchPage: (query) =>
          context.client.get('/repositories/{repository}/tags', { params: { path: { repository }, query } }),
        row: (item) => [item.id, item.commit_id],
      });
    }),
  );
}
