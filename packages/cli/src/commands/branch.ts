import type { Command } from 'commander';
import { action } from '../context.ts';
import { CliError, UsageError } from '../errors.ts';
import { wholeNumber } from '../list-flag.ts';
import { printPages, withPageFlags, type PageFlags } from '../pagination.ts';
import { confirm } from '../prompt.ts';
import { changeSteering, resolves, type ResolveFlags, withResolveFlags } from '../resolve-flags.ts';
import { formatUri } from '../uri.ts';

interface ResetFlags {
  readonly prefix?: string;
  readonly object?: string;
  readonly yes?: boolean;
}

interface RevertFlags extends ResolveFlags {
  readonly allowEmptyCommit?: boolean;
  readonly parentNumber?: number;
  readonly yes?: boolean;
}

interface RollbackFlags {
  readonly mode: string;
  readonly message?: string;
  readonly yes?: boolean;
}

export function register(program: Command): void {
  const branch = program.command('branch').description('create, list, reset, revert and roll back branches');

  branch
    .command('create')
    .description('create a branch from another ref')
    .argument('<branch URI>')
    .requiredOption('-s, --source <ref URI>', 'where the branch starts')
    .addHelpText('after', '\nExample:\n  svcctl branch create svc://my-repo/dev --source svc://my-repo/main')
    .action(
      action<[string], { source: string }>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        const source = uris.ref(flags.source, 'source ref URI');
        if (source.repository !== uri.repository) {
          throw new CliError('source branch must be in the same repository');
        }
        out.info(`Source ref: ${formatUri(source)}`);
        const commitId = await client.post('/repositories/{repository}/branches', {
          params: { path: { repository: uri.repository } },
          body: { name: uri.ref, source: source.ref },
        });
        if (out.json) out.document({ id: uri.ref, commit_id: commitId });
        else out.line(`created branch '${uri.ref}' ${commitId}`);
      }),
    );

  branch
    .command('delete')
    .description('delete a branch with its uncommitted changes')
    .argument('<branch URI>')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], { yes?: boolean }>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        await confirm({ yes: flags.yes, question: `Delete branch ${uri.ref}?`, operation: 'delete branch' });
        out.info(`Branch: ${formatUri(uri)}`);
        await client.delete('/repositories/{repository}/branches/{branch}', {
          params: { path: { repository: uri.repository, branch: uri.ref } },
        });
      }),
    );

  withPageFlags(branch.command('list').description('list branches').argument('<repository URI>')).action(
    action<[string], PageFlags>((context, [uriText], flags) => {
      const { repository } = context.uris.repository(uriText, 'repository URI');
      return printPages(context, flags, {
        headers: ['Branch', 'Commit ID'],
        fetchPage: (query) =>
          context.client.get('/repositories/{repository}/branches', {
            params: { path: { repository }, query },
          }),
        row: (item) => [item.id, item.commit_id],
      });
    }),
  );

  branch
    .command('show')
    .description("show a branch's commit")
    .argument('<branch URI>')
    .action(
      action<[string]>(async ({ client, out, uris }, [uriText]) => {
        const uri = uris.branch(uriText, 'branch URI');
        out.info(`Branch: ${formatUri(uri)}`);
        const found = await client.get('/repositories/{repository}/branches/{branch}', {
          params: { path: { repository: uri.repository, branch: uri.ref } },
        });
        if (out.json) out.document(found);
        else out.line(`Commit ID: ${found.commit_id}`);
      }),
    );

  branch
    .command('reset')
    .description('discard uncommitted changes: all, under a prefix, or of one object')
    .argument('<branch URI>')
    .option('--prefix <prefix>', 'only changes under this prefix')
    .option('--object <path>', 'only the change of this object')
    .option('-y, --yes', 'do not ask')
    .action(
      action<[string], ResetFlags>(async ({ client, out, uris }, [uriText], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        if (flags.prefix !== undefined && flags.object !== undefined) {
          throw new UsageError('--prefix and --object cannot be used together');
        }
        out.info(`Branch: ${formatUri(uri)}`);
        const what =
          flags.object ??
          (flags.prefix === undefined ? 'all uncommitted changes' : `everything under ${flags.prefix}`);
        await confirm({
          yes: flags.yes,
          question: `Reset ${what} of branch ${uri.ref}?`,
          operation: 'reset',
        });
        await client.put('/repositories/{repository}/branches/{branch}', {
          params: { path: { repository: uri.repository, branch: uri.ref } },
          body:
            flags.object !== undefined
              ? { type: 'object', path: flags.object }
              : flags.prefix !== undefined
                ? { type: 'common_prefix', path: flags.prefix }
                : { type: 'reset' },
        });
      }),
    );

  const revert = branch
    .command('revert')
    .description('undo commits by new commits, left to right')
    .argument('<branch URI>')
    .argument('<commit ref...>')
    .option('--allow-empty-commit', 'commit even when nothing changes')
    .option('-m, --parent-number <n>', 'the parent a merge commit is reverted to, from 1', wholeNumber)
    .option('-y, --yes', 'do not ask');
  withResolveFlags(revert)
    .addHelpText('after', '\nExample:\n  svcctl branch revert svc://my-repo/main 2c5f1a')
    .action(
      action<[string, string[]], RevertFlags>(async (context, [uriText, refs], flags) => {
        const { client, out, uris } = context;
        if (resolves(flags) && refs.length > 1) {
          throw new UsageError('resolutions are for one commit: revert one at a time');
        }
        const uri = uris.branch(uriText, 'branch URI');
        if (flags.parentNumber !== undefined && flags.parentNumber < 1) {
          throw new UsageError('parent number must be positive, if specified');
        }
        out.info(`Branch: ${formatUri(uri)}`);
        await confirm({ yes: flags.yes, question: `Revert ${refs.join(', ')}?`, operation: 'revert' });
        const repository = uri.repository;
        // Resolved before the first revert: afterwards `main` or `main~1` would mean something else.
        const commits: string[] = [];
        for (const ref of refs) {
          const commit = await client.get('/repositories/{repository}/commits/{commitId}', {
            params: { path: { repository, commitId: ref } },
          });
          commits.push(commit.id);
        }
        for (const [index, commitId] of commits.entries()) {
          await client.post('/repositories/{repository}/branches/{branch}/revert', {
            params: { path: { repository, branch: uri.ref } },
            body: {
              ref: commitId,
              parent_number: flags.parentNumber ?? 0,
              allow_empty: flags.allowEmptyCommit === true,
              ...(resolves(flags) && (await changeSteering(context, flags, { ...uri, ref: commitId }, uri))),
            },
          });
          out.info(`commit ${refs[index] ?? commitId} successfully reverted`);
        }
      }),
    );

  branch
    .command('rollback')
    .description('take a branch back to where it stood')
    .argument('<branch URI>')
    .argument('<ref | move id>', 'a ref, or a move of "svcctl reflog" to go back to before it')
    .option('--mode <mode>', 'commit: a new commit with the old content; reset: move the head', 'commit')
    .option('-m, --message <message>', 'message of the commit')
    .option('-y, --yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  svcctl branch rollback svc://my-repo/main main@{yesterday}')
    .action(
      action<[string, string], RollbackFlags>(async ({ client, out, uris }, [uriText, to], flags) => {
        const uri = uris.branch(uriText, 'branch URI');
        const { mode } = flags;
        if (mode !== 'commit' && mode !== 'reset') throw new UsageError('--mode must be commit or reset');
        out.info(`Branch: ${formatUri(uri)}`);
        await confirm({
          yes: flags.yes,
          question: `Roll branch ${uri.ref} back to ${to}?`,
          operation: 'rollback',
        });
        const done = await client.post('/repositories/{repository}/branches/{branch}/rollback', {
          params: { path: { repository: uri.repository, branch: uri.ref } },
          body: { to, mode, ...(flags.message === undefined ? {} : { message: flags.message }) },
        });
        if (out.json) out.document(done);
        else out.line(`rolled back from ${done.previous_commit_id} to ${done.commit_id}`);
      }),
    );
}
