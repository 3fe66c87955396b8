import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listAll } from '@svc/client';
import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import { CliError } from '../errors.ts';
import { printCommitEntry, type Commit } from '../output/commit-blocks.ts';
import type { Output } from '../output/output.ts';

const pageSize = 500;

interface Session {
  readonly created: string;
  readonly repository: string;
  readonly badCommit: string;
  readonly goodCommit: string;
  /** Newest first; the first bad commit is among them. */
  readonly commits: readonly Commit[];
}

export function register(program: Command): void {
  const bisect = program
    .command('bisect', { hidden: true })
    .description('find the commit that broke something by halving the history');

  bisect
    .command('start')
    .description('begin between a bad and a good commit')
    .argument('<bad ref URI>')
    .argument('<good ref URI>')
    .action(action<[string, string]>((context, [bad, good]) => start(context, bad, good)));

  const mark = (
    name: string,
    alias: string,
    description: string,
    keep: (session: Session) => Session,
  ): void => {
    bisect
      .command(name)
      .alias(alias)
      .description(description)
      .action(
        action<[]>(({ out }) => {
          const session = keep(readSession());
          writeSession(session);
          printStatus(out, session);
        }),
      );
  };
  mark('bad', 'new', 'the current commit is bad', keepFromMiddle);
  mark('good', 'old', 'the current commit is good', keepBeforeMiddle);

  bisect
    .command('run')
    .description('find it with a command: exit status 0 is good, any other bad')
    .argument('<command...>', 'program and its arguments')
    .addHelpText(
      'after',
      '\n:BISECT_ID:, :BISECT_MESSAGE:, :BISECT_METARANGE_ID: and :BISECT_COMMITTER: in the arguments stand for the commit;\nso do the environment variables BISECT_ID and so on.',
    )
    .action(
      action<[string[]]>(({ out }, [[program = '', ...args]]) => {
        let session = readSession();
        while (session.commits.length > 1) {
          session = runOn(out, session, program, args);
          writeSession(session);
        }
        printStatus(out, session);
      }),
    );

  bisect
    .command('log')
    .description('show where the search stands')
    .action(
      action<[]>(({ out }) => {
        printStatus(out, readSession());
      }),
    );

  bisect
    .command('view')
    .description('show the commits that are left')
    .action(
      action<[]>(({ out }) => {
        const { commits } = readSession();
        if (out.json) out.document(commits);
        else
          for (const commit of commits) printCommitEntry(out, commit, { metaRangeId: true, between: false });
      }),
    );

  bisect
    .command('reset')
    .description('end the search')
    .action(
      action<[]>(({ out }) => {
        if (!existsSync(sessionFile())) out.warning('no bisect session');
        rmSync(sessionFile(), { force: true });
      }),
    );
}

async function start(context: CommandContext, badText: string, goodText: string): Promise<void> {
  const { client, out, uris } = context;
  const badUri = uris.ref(badText, 'bad ref URI');
  const goodUri = uris.ref(goodText, 'good ref URI');
  const { repository } = badUri;
  if (goodUri.repository !== repository) throw new CliError('both refs must be in the same repository');
  const resolve = (commitId: string) =>
    client.get('/repositories/{repository}/commits/{commitId}', {
      params: { path: { repository, commitId } },
    });
  const bad = await resolve(badUri.ref);
  const good = await resolve(goodUri.ref);
  const commits: Commit[] = [];
  let found = false;
  const log = listAll((after) =>
    client.get('/repositories/{repository}/refs/{ref}/commits', {
      params: { path: { repository, ref: bad.id }, query: { amount: pageSize, after } },
    }),
  );
  for await (const commit of log) {
    found = commit.id === good.id;
    if (found) break;
    commits.push(commit);
  }
  if (!found) throw new CliError(`good commit not found: ${good.id} does not lead to ${bad.id}`);
  const session = {
    created: new Date().toISOString(),
    repository,
    badCommit: bad.id,
    goodCommit: good.id,
    commits,
  };
  writeSession(session);
  printStatus(out, session);
}

function middle(session: Session): number {
  return session.commits.length >> 1;
}

/** The current commit is bad: it or an older one broke it. */
export function keepFromMiddle(session: Session): Session {
  if (session.commits.length <= 1) return session;
  return { ...session, commits: session.commits.slice(middle(session)) };
}

/** The current commit is good: a newer one broke it. */
export function keepBeforeMiddle(session: Session): Session {
  if (session.commits.length <= 1) return session;
  return { ...session, commits: session.commits.slice(0, middle(session)) };
}

function runOn(out: Output, session: Session, program: string, args: readonly string[]): Session {
  const commit = session.commits[middle(session)];
  if (commit === undefined) return session;
  const facts: Record<string, string> = {
    BISECT_ID: commit.id,
    BISECT_MESSAGE: commit.message,
    BISECT_METARANGE_ID: commit.meta_range_id,
    BISECT_COMMITTER: commit.committer,
  };
  const filled = args.map((argument) =>
    Object.entries(facts).reduce(
      (text, [name, value]) => text.replaceAll(`:${name}:`, () => value),
      argument,
    ),
  );
  out.line(`Running on ${commit.id} ${commit.message}`);
  const result = spawnSync(program, filled, { stdio: 'inherit', env: { ...process.env, ...facts } });
  if (result.error !== undefined)
    throw new CliError(`"${program}" cannot be started: ${result.error.message}`);
  const good = result.status === 0;
  out.line(`${good ? 'GOOD' : 'BAD'} ${commit.id}`);
  return good ? keepBeforeMiddle(session) : keepFromMiddle(session);
}

function printStatus(out: Output, session: Session): void {
  const { repository, commits } = session;
  if (out.json) {
    out.document(session);
    return;
  }
  out.line(`Repository: ${repository}`);
  const only = commits.length === 1 ? commits[0] : undefined;
  const current = commits[middle(session)];
  if (only !== undefined) {
    out.line(`Found commit: svc://${repository}/${only.id} ${only.message}`);
  } else if (current === undefined) {
    out.line('No commits to bisect.');
  } else {
    const left = commits.length - 1 - middle(session);
    const steps = Math.floor(Math.log2(commits.length));
    out.line(`Bisecting: ${left} commits left to test after this, roughly ${steps} steps`);
    out.line(`Current commit: svc://${repository}/${current.id} ${current.message}`);
  }
}

function sessionFile(): string {
  return join(homedir(), '.svcctl.bisect.json');
}

function readSession(): Session {
  if (!existsSync(sessionFile()))
    throw new CliError('no bisect session: begin one with "svcctl bisect start"');
  return JSON.parse(readFileSync(sessionFile(), 'utf8')) as Session;
}

function writeSession(session: Session): void {
  writeFileSync(sessionFile(), JSON.stringify(session), { mode: 0o644 });
}
