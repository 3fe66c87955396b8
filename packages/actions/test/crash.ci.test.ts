import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSkipped, timeText } from '../src/runs/run.ts';
import { patience, startReceiver, type House } from './house.ts';
import { manifestOf } from './kit.ts';
import { endLeases, openLocalHouse } from './local-house.ts';

const files = (url: string): Record<string, string> => ({
  '_svc_actions/before.yaml': `name: before it
on: {prepare-commit: , pre-commit: }
hooks:
  - {id: one, type: webhook, properties: {url: "${url}/pre/one"}}
  - {id: two, type: webhook, properties: {url: "${url}/pre/two"}}
`,
  '_svc_actions/after.yaml': `name: after it
on: {post-commit: }
hooks:
  - {id: one, type: webhook, properties: {url: "${url}/post/one"}}
  - {id: two, type: webhook, if: true, properties: {url: "${url}/post/two"}}
  - {id: three, type: webhook, if: "failure()", properties: {url: "${url}/post/three"}}
`,
});

/** Whether it came to its end, and what it was told is done. */
async function runChild(
  folder: string,
  dieBefore: number | 'answer',
): Promise<{ ended: boolean; acknowledged?: string }> {
  const program = join(import.meta.dirname, 'crash-child.ts');
  const child = spawn(process.execPath, [program, folder, String(dieBefore)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  await once(child, 'close');
  expect(child.signalCode === 'SIGKILL' || said.includes('ended'), said).toBe(true);
  const acknowledged = /acknowledged (\w+)/.exec(said)?.[1];
  return { ended: said.includes('ended'), ...(acknowledged === undefined ? {} : { acknowledged }) };
}

/** Records and files of all runs say the same, and every hook that was run has its log. */
async function expectAgreement(at: House): Promise<void> {
  const repository = await at.engine.repositories.get('repo');
  for (const run of await at.runs()) {
    const { runId } = run;
    const { items } = await at.hooks.runs.listTasks({ repository: 'repo', runId });
    expect(items.length).toBeGreaterThan(0);
    expect(await manifestOf(at, repository, runId)).toMatchObject({
      run: { run_id: runId, event_type: run.eventType, passed: run.passed, end_time: timeText(run.endTime) },
      hooks: items.map(({ hookRunId, passed }) => ({ hook_run_id: hookRunId, passed })),
    });
    for (const task of items) {
      const log = await at.hooks.readLog(repository, runId, task.hookRunId);
      expect(log === undefined, `${runId} ${task.hookRunId}`).toBe(isSkipped(task));
    }
  }
}

test('killed before any write of a commit with hooks, what is left is whole, and hooks run once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-hook-crash-'));
  const receiver = await startReceiver();
  const { url, received } = receiver;
  const first = await openLocalHouse(folder);
  await first.create('local://repo');
  for (const [path, text] of Object.entries(files(url))) await first.put(path, text);
  await first.close();
  let deaths = 0;
  let resumed = 0;
  let unacknowledged = 0;
  try {
    for (let step = 0; ; step += 1) {
      const dieBefore = step === 0 ? 'answer' : step;
      received.length = 0;
      const { ended, acknowledged } = await runChild(folder, dieBefore);
      await endLeases(folder);
      const at = await openLocalHouse(folder);
      const other = await openLocalHouse(folder);
      try {
        const waiting = () => Promise.all([at.hooks.runQueued(), other.hooks.runQueued()]);
        await expect
          .poll(async () => {
            await waiting();
            return at.hooks.hasWaiting();
          }, patience)
          .toBe(false);
        const head = (await at.engine.branches.get({ repository: 'repo', branch: 'main' })).commitId;
        const { items: ofHead } = await at.hooks.runs.list({ repository: 'repo', commit: head });
        const commit = await at.engine.commits.get({ repository: 'repo', ref: head });
        const isMade = commit.message === `before ${dieBefore}`;
        if (acknowledged !== undefined) expect(head).toBe(acknowledged);
        // No commit without a run that passed before it.
        if (isMade)
          expect(ofHead.filter(({ eventType }) => eventType === 'pre-commit')).toMatchObject([
            { passed: true },
          ]);
        const after = isMade ? ofHead.filter(({ eventType }) => eventType === 'post-commit') : [];
        // Acknowledged or not: who sees the commit sees what its hooks did.
        if (isMade) expect(after).toHaveLength(1);
        if (isMade && acknowledged === undefined) unacknowledged += 1;
        // A hook is called at most once; one that was not called counts as failed.
        const posts = received.map(({ url: path }) => path).filter((path) => path.startsWith('/post/'));
        expect(new Set(posts).size).toBe(posts.length);
        if (after[0] !== undefined) {
          expect(posts).toContain('/post/two');
          if (!ended && !after[0].passed) resumed += 1;
          if (after[0].passed) expect(posts).toEqual(['/post/one', '/post/two']);
        }
        await expectAgreement(at);
      } finally {
        await at.close();
        await other.close();
      }
      if (ended) break;
      deaths += 1;
    }
  } finally {
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  }
  expect(deaths).toBeGreaterThan(20);
  expect(resumed).toBeGreaterThan(0);
  expect(unacknowledged).toBeGreaterThan(0);
}, 600_000);
