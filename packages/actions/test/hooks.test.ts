import { expect, test } from 'vitest';
import { DisabledHooks } from '../src/disabled-hooks.ts';
import { isSkipped } from '../src/runs/run.ts';
import { patience } from './house.ts';
import { openHouse } from './house.ts';
import { house, idOf, logOf, lua, payloadsOf, receiver, refusal, webhook } from './kit.ts';

test('an action file that is only staged takes part in its own first commit, in either folder', async () => {
  for (const folder of ['_svc_actions', '_lakefs_actions']) {
    const at = await house();
    const { url, received } = await receiver();
    await at.put(`${folder}/a.yaml`, webhook('check it', '{pre-commit: }', url));
    await at.put(`${folder}/below/ignored.yaml`, 'no action');
    await at.commit('first');
    expect(payloadsOf(received)).toEqual([
      {
        event_type: 'pre-commit',
        event_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as string,
        action_name: 'check it',
        hook_id: 'call_it',
        repository_id: 'repo',
        branch_id: 'main',
        source_ref: 'main',
        commit_message: 'first',
        committer: 'ada',
        commit_metadata: { k: 'v' },
      },
    ]);
    expect(received[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
  }
});

test('a refusing webhook refuses the commit, names the hook and leaves the changes; the run knows no commit', async () => {
  const at = await house();
  const { url } = await receiver((_, response) => response.writeHead(500).end('broken'));
  await at.put('_svc_actions/a.yaml', webhook('gate', '{pre-commit: {branches: [main]}}', url));
  const message = await refusal(at.commit());
  expect(message).toBe(
    `pre-commit hook aborted, run id '${idOf(message)}': 1 error occurred:\n\t* hook run id '0000_0000' failed on ` +
      `action 'gate' hook 'call_it': action failed: webhook request failed (status code: 500)\n\n`,
  );
  expect(at.logged).toEqual(['hooks refused an operation']);
  const [run] = await at.runs();
  expect(run).toMatchObject({ runId: idOf(message), passed: false, commitId: '', branchId: 'main' });
  const log = await logOf(at, idOf(message));
  expect(log).toMatch(
    /^Request:\nPOST http:\S+\nQuery Params:\nHeaders:\nContent-Type: application\/json\nRequest Body:\n\{.*\}\n\n\nRequest duration: \S+\n\nResponse:\nHTTP\/1\.1 500 Internal Server Error\r\n/,
  );
  expect(
    log.endsWith('\r\n\r\nbrokenError: action failed: webhook request failed (status code: 500)\n'),
  ).toBe(true);
  expect((await at.engine.objects.list({ repository: 'repo', ref: 'main' })).count).toBe(1);
});

test('a broken action file refuses every commit until it is deleted', async () => {
  const at = await house();
  await at.put('_svc_actions/a.yaml', 'name: [');
  const message = await refusal(at.commit());
  expect(message).toMatch(
    /^prepare-commit hook aborted, run id '\w{20}': 1 error occurred:\n\t\* parsing file _svc_actions\/a\.yaml: yaml: line 1: /,
  );
  expect(await at.runs()).toEqual([]);
  await at.engine.objects.delete({ repository: 'repo', branch: 'main', path: '_svc_actions/a.yaml' });
  await at.put('other', 'x');
  await at.commit();
});

test('two actions with one name refuse every event; of two files with one name ours counts', async () => {
  const at = await house();
  await at.put('_svc_actions/a.yaml', lua('x x', '{pre-create-tag: }', ['one1', '']));
  await at.put('_lakefs_actions/a.yaml', lua('x x', '{pre-create-tag: }', ['two2', '']));
  await at.commit();
  await at.put('_svc_actions/b.yaml', lua('x x', '{pre-create-tag: }', ['one1', '']));
  expect(await refusal(at.commit())).toMatch(/'\w+': action name 'x x' already loaded: invalid action$/);
});

test('hooks run in order; `if` decides about those after a failure', async () => {
  const at = await house();
  const hooks = [
    ['aa', 'error("no")'],
    ['bb', 'print("b")'],
    ['cc', 'print("c")', 'failure()'],
    ['dd', 'print("d")', 'true'],
    ['ee', 'print("e")', 'success()'],
  ] as const;
  await at.put('_svc_actions/a.yaml', lua('order', '{pre-commit: }', ...hooks));
  const runId = idOf(await refusal(at.commit()));
  const { items } = await at.hooks.runs.listTasks({ repository: 'repo', runId });
  const status = items.map((task) => (isSkipped(task) ? 'skipped' : task.passed ? 'completed' : 'failed'));
  expect(status).toEqual(['failed', 'skipped', 'completed', 'completed', 'skipped']);
  expect(await logOf(at, runId, '0000_0002')).toBe('c\n');
  expect(await logOf(at, runId, '0000_0001')).toBe('no log');
});

test('a condition that is none fails its hook without running it', async () => {
  const at = await house();
  await at.put('_svc_actions/a.yaml', lua('cond', '{pre-commit: }', ['aa', 'print("ran")', '"1 + 1"']));
  const message = await refusal(at.commit());
  expect(await logOf(at, idOf(message))).toBe("Error: hook 'if' expression should evaluate to a boolean\n");
});

test('a pattern or a hook that cannot be made refuses its event, without a run', async () => {
  const at = await house();
  await at.put('_svc_actions/a.yaml', lua('glob', '{pre-commit: {branches: ["["]}}', ['aa', '']));
  expect(await refusal(at.commit())).toMatch(
    /^pre-commit hook aborted, run id '\w+': syntax error in pattern$/,
  );
  const query = '      query_params: {q: "{{ ENV.SVCACTION_NOPE }}"}\n';
  await at.put('_svc_actions/a.yaml', webhook('env', '{pre-commit: }', 'http://127.0.0.1:1', query));
  expect(await refusal(at.commit())).toMatch(
    /: reading query param: SVCACTION_NOPE not found: missing env var$/,
  );
  const timeout = '      timeout: soon\n';
  await at.put('_svc_actions/a.yaml', webhook('time', '{pre-commit: }', 'http://127.0.0.1:1', timeout));
  expect(await refusal(at.commit())).toMatch(/: time: invalid duration "soon"$/);
  expect(await at.runs()).toEqual([]);
});

test('a merge asks the source what to run, and tells the merge that is to be', async () => {
  const at = await house();
  const { url, received } = await receiver();
  await at.engine.branches.create({ repository: 'repo', name: 'feature', source: 'main', actor: at.actor });
  await at.put(
    '_svc_actions/a.yaml',
    webhook('merging', '{pre-merge: {branches: [main]}, post-merge: }', url),
    'feature',
  );
  const source = await at.commit('on feature', 'feature');
  const merged = await at.engine.merges.merge({
    repository: 'repo',
    source: 'feature',
    destination: 'main',
    actor: at.actor,
  });
  await expect.poll(() => received.length, patience).toBe(2);
  expect(payloadsOf(received)[0]).toMatchObject({
    event_type: 'pre-merge',
    branch_id: 'main',
    merge_source: 'feature',
    commit_id: merged.id,
    source_ref: source.id,
    commit_metadata: { '.lakefs.merge.strategy': 'default' },
  });
  expect(payloadsOf(received)[1]).toMatchObject({
    event_type: 'post-merge',
    source_ref: merged.id,
    commit_id: merged.id,
  });
  await at.put('_svc_actions/a.yaml', webhook('merging', '{pre-merge: }', 'http://127.0.0.1:1'), 'feature');
  await at.commit('refuses', 'feature');
  const refused = at.engine.merges.merge({
    repository: 'repo',
    source: 'feature',
    destination: 'main',
    actor: at.actor,
  });
  expect(await refusal(refused)).toMatch(/^update branch main: pre-merge hook aborted, run id '/);
});

test('every other event is told what it is about', async () => {
  const at = await house();
  const { url, received } = await receiver();
  const names = ['create-branch', 'delete-branch', 'create-tag', 'delete-tag', 'revert', 'cherry-pick'];
  const on = `{${names.flatMap((name) => [`pre-${name}: `, `post-${name}: `]).join(', ')}}`;
  await at.put('_svc_actions/a.yaml', webhook('all of them', on, url));
  const first = await at.commit('first');
  await at.put('x', '1');
  const second = await at.commit('second');
  const { engine, actor } = at;
  await engine.branches.create({ repository: 'repo', name: 'other', source: 'main', actor });
  await engine.commits.revert({ repository: 'repo', branch: 'main', ref: second.id, parentNumber: 0, actor });
  await engine.branches.delete({ repository: 'repo', branch: 'other', actor });
  await engine.tags.create({ repository: 'repo', id: 'v1', ref: first.id, actor });
  await engine.tags.delete({ repository: 'repo', id: 'v1', actor });
  await engine.commits.cherryPick({ repository: 'repo', branch: 'main', ref: second.id, actor });
  await expect.poll(() => received.length, patience).toBe(12);
  const told = payloadsOf(received).map((payload) => ({
    event: payload['event_type'],
    ref: payload['source_ref'],
    branch: payload['branch_id'],
    tag: payload['tag_id'],
    commit: payload['commit_id'],
    message: payload['commit_message'],
  }));
  const of = (event: string) => told.find((payload) => payload.event === event);
  const none = undefined;
  const branchEvent = { ref: 'main', branch: 'other', tag: none, commit: second.id, message: none };
  expect(of('pre-create-branch')).toEqual({ event: 'pre-create-branch', ...branchEvent });
  expect(of('post-create-branch')).toEqual({ event: 'post-create-branch', ...branchEvent });
  expect(of('pre-delete-branch')).toEqual({
    event: 'pre-delete-branch',
    ref: second.id,
    branch: 'other',
    tag: none,
    commit: none,
    message: none,
  });
  expect(of('post-delete-tag')).toEqual({
    event: 'post-delete-tag',
    ref: first.id,
    branch: none,
    tag: 'v1',
    commit: first.id,
    message: none,
  });
  expect(of('pre-create-tag')).toEqual({
    event: 'pre-create-tag',
    ref: first.id,
    branch: none,
    tag: 'v1',
    commit: first.id,
    message: none,
  });
  expect(of('pre-revert')).toMatchObject({ ref: 'main', branch: 'main', commit: none });
  expect(of('post-revert')?.commit).toMatch(/^[0-9a-f]{64}$/);
  expect(of('pre-cherry-pick')).toMatchObject({
    ref: 'main',
    branch: 'main',
    commit: none,
    message: 'second',
  });
});

test('a failing hook after a commit fails its run and nothing else; both runs know the commit', async () => {
  const at = await house();
  const { url } = await receiver((received, response) => {
    response.writeHead(received.body.includes('post-commit') ? 500 : 200).end();
  });
  await at.put('_svc_actions/a.yaml', webhook('late', '{pre-commit: , post-commit: }', url));
  const commit = await at.commit();
  await expect.poll(async () => (await at.runs()).length, patience).toBe(2);
  const { items } = await at.hooks.runs.list({ repository: 'repo', commit: commit.id });
  const results = new Set(items.map(({ eventType, passed }) => `${eventType} ${String(passed)}`));
  expect(results).toEqual(new Set(['post-commit false', 'pre-commit true']));
});

test('runs are found by branch and commit exactly, newest first, page by page', async () => {
  let now = Date.parse('2026-01-01T00:00:00Z');
  const at = await house({ clock: () => now });
  const { engine, actor } = at;
  const { url } = await receiver();
  await at.put('_svc_actions/a.yaml', webhook('list', '{pre-commit: }', url));
  const ids: string[] = [];
  for (const branch of ['main', 'main', 'main', 'main2']) {
    if (branch === 'main2')
      await engine.branches.create({ repository: 'repo', name: 'main2', source: 'main', actor });
    now += 1000;
    await at.put('x', String(now), branch);
    await at.commit('m', branch);
    ids.unshift((await at.runs())[0]?.runId ?? '');
  }
  const { runs } = at.hooks;
  const list = async (more: object) =>
    (await runs.list({ repository: 'repo', ...more })).items.map(({ runId }) => runId);
  expect(await list({})).toEqual(ids);
  expect(await list({ after: ids[1] })).toEqual(ids.slice(2));
  expect(await list({ branch: 'main' })).toEqual(ids.slice(1));
  expect((await runs.list({ repository: 'repo', amount: 2 })).hasMore).toBe(true);
  await engine.repositories.delete({ repository: 'repo', actor });
  expect(await list({})).toEqual([]);
});

test('unreadable action files do not keep a branch from being deleted by force', async () => {
  const first = await house();
  await first.put('_svc_actions/a.yaml', 'name: aa\non: {pre-merge: }\n');
  await first.commit();
  await first.engine.branches.create({
    repository: 'repo',
    name: 'gone',
    source: 'main',
    actor: first.actor,
  });
  // Another server knows nothing of the files yet.
  const at = await openHouse({ state: first.state, blocks: first.blocks });
  const failure = new Error('the store is away');
  const { objects } = at.engine;
  (objects as { list: unknown }).list = () => Promise.reject(failure);
  const options = { repository: 'repo', branch: 'gone', actor: at.actor };
  await expect(at.engine.branches.delete(options)).rejects.toBe(failure);
  await at.engine.branches.delete({ ...options, force: true });
  await at.close();
});

test('hooks that are switched off run none, and say so once for a repository that has some', async () => {
  const at = await house();
  await at.put('_svc_actions/a.yaml', webhook('off', '{pre-commit: }', 'http://127.0.0.1:1'));
  const warned: unknown[] = [];
  const silent = (): void => undefined;
  const logger = {
    debug: silent,
    info: silent,
    warn: (fields: object) => warned.push(fields),
    error: silent,
  };
  const disabled = new DisabledHooks({ engine: () => at.engine, logger });
  const repository = await at.engine.repositories.get('repo');
  const event = { type: 'pre-commit', repository, actor: at.actor, sourceRef: 'main' } as const;
  expect(await disabled.before(event)).toBeUndefined();
  await disabled.before(event);
  await disabled.before({ ...event, repository: { ...repository, id: 'gone', instanceUid: 'other' } });
  expect(warned).toEqual([{ repository: 'repo', ref: 'main' }]);
});

test('objects whose names lie around those of the folders do not hide them', async () => {
  for (const path of ['_svc_actions/z.yaml', '_lakefs_actions/z.yaml']) {
    const at = await house();
    const { url, received } = await receiver();
    for (const other of [
      '_a',
      '_lakefs_actions',
      '_lakefs_actions.x',
      '_m/x',
      '_svc_actions',
      '_svc_actions0',
      '_z',
      'a',
    ])
      await at.put(other, 'x');
    await at.commit();
    expect(received).toEqual([]);
    await at.put(path, webhook('found', '{pre-commit: }', url));
    await at.commit();
    expect(received.length).toBe(1);
  }
});
