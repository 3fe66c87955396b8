import { waitUntil } from '@svc/testing';
import { expect, test } from 'vitest';
import { HookedRepository, startReceiver } from './hook-server.ts';
import { quickstartAuth, startSvc } from './start-server.ts';

const yaml = (name: string, on: string, hook: string): string =>
  `name: ${name}\non: ${on}\nhooks:\n  - {id: hook, ${hook}}\n`;
const lua = (script: string): string => `type: lua, properties: {script: ${JSON.stringify(script)}}`;

test('a server with several workers runs hooks before and after commits, in force at once', async () => {
  const server = await startSvc(['--quickstart'], {
    SVC_SERVER_WORKERS: '3',
    SVC_ACTIONS_LUA_TIMEOUT: '2s',
    SVCACTION_WORD: 'from-the-environment',
    SVC_LOGGING_FORMAT: 'json',
    SVC_LOGGING_AUDIT_LOG_LEVEL: 'INFO',
  });
  const repository = new HookedRepository(server);
  expect((await repository.create()).status).toBe(201);

  // Each request has a connection of its own, so they reach all workers.
  for (let round = 0; round < 6; round += 1) {
    const refuses = round % 2 === 0;
    const script = refuses ? 'require("hook").fail("not now")' : 'print("fine")';
    await repository.put('_svc_actions/gate.yaml', yaml('gate', '{pre-commit: }', lua(script)));
    const { status, body } = await repository.commit(`round ${round}`);
    expect(status, body).toBe(refuses ? 412 : 201);
    if (refuses)
      expect(JSON.parse(body)).toMatchObject({
        message: expect.stringMatching(/: action failed: not now\n\n$/) as string,
      });
  }

  const script = `
    local svc = require("svc")
    local code, body = svc.list_objects(action.repository_id, action.commit_id, "", "_svc_actions/", "", 10)
    print(username, code, body.results[1].path, args.word, args.hidden == "")
    print((svc.create_tag(action.repository_id, action.commit_id, "made-by-hook")))
    for _, secret in ipairs({args.secret, "wrong"}) do
      local table = require("formats").delta_client(args.key, secret).get_table
      print(select(2, pcall(table, action.repository_id, action.commit_id, "t")))
    end
  `;
  const [key, secret] = Buffer.from(quickstartAuth.slice('Basic '.length), 'base64').toString().split(':');
  const hook = `type: lua, properties: {script: ${JSON.stringify(script)}, args: {word: "{{ ENV.SVCACTION_WORD }}", hidden: "{{ ENV.SVC_SERVER_WORKERS }}", key: ${key}, secret: ${JSON.stringify(secret)}}}`;
  await repository.put('_svc_actions/gate.yaml', yaml('after', '{post-commit: }', hook));
  const { id } = JSON.parse((await repository.commit('calls back')).body) as { id: string };
  const run = await waitUntil(
    async () => (await repository.runs()).find((found) => found['event_type'] === 'post-commit'),
    { what: 'the run after the commit' },
  );
  expect(run).toMatchObject({ status: 'completed', commit_id: id, branch: 'main' });
  const runPath = `actions/runs/${run['run_id'] ?? ''}`;
  const audited = await waitUntil(
    () => server.stdout.split('\n').find((line) => line.includes(`"run":"${run['run_id'] ?? ''}"`)),
    { what: 'the audit line of the run' },
  );
  expect(JSON.parse(audited)).toMatchObject({
    msg: 'hooks ran',
    level: 'info',
    log_audit: true,
    user: 'quickstart',
    repository: 'hooked',
    event: 'post-commit',
    branch: 'main',
    commit: id,
    passed: true,
    hooks: [{ action: 'after', hook: 'hook', passed: true }],
  });
  const output = await repository.get(`${runPath}/hooks/0000_0000/output`);
  expect(output.body.split('\n')).toEqual([
    'quickstart\t200\t_svc_actions/gate.yaml\tfrom-the-environment\ttrue',
    '201',
    expect.stringMatching(/no Delta table at t$/),
    expect.stringMatching(/t\/_delta_log\/: HTTP 401$/),
    '',
  ]);
  expect(output.headers['content-disposition']).toBe('attachment; filename=0000_0000.log');
  expect((await repository.get(`${runPath}/hooks/0000_0009/output`)).status).toBe(404);
  const again = await repository.rerun(run['run_id'] ?? '');
  expect(again.status, again.body).toBe(202);
  const { run_id: rerun } = JSON.parse(again.body) as { run_id: string };
  const rerunEnded = await waitUntil(
    async () => {
      const found = JSON.parse((await repository.get(`actions/runs/${rerun}`)).body) as Record<
        string,
        string
      >;
      return found['status'] === 'running' ? undefined : found;
    },
    { what: 'the run that was wanted again' },
  );
  expect(rerunEnded).toMatchObject({ status: 'completed', commit_id: id, rerun_of: run['run_id'] });
  const skipping = `${yaml('refusing', '{pre-commit: }', lua('error("no")'))}  - {id: never, ${lua('print(1)')}}\n`;
  await repository.put('_svc_actions/skips.yaml', skipping);
  const refused = await repository.commit('skips one');
  expect(refused.status).toBe(412);
  const runId = /run id '(\w+)'/.exec(refused.body)?.[1] ?? '';
  expect(await repository.rerun(runId)).toMatchObject({ status: 400 });
  expect(await repository.rerun('nosuchrun')).toMatchObject({ status: 404 });
  const listed = async (filter: string) => (await repository.get(`actions/runs?${filter}`)).body;
  expect(await listed('status=failed&event=pre-commit')).toContain(runId);
  expect(await listed('status=completed')).not.toContain(runId);
  expect(await listed('event=post-commit')).not.toContain(runId);
  const skipped = `actions/runs/${runId}/hooks`;
  expect((await repository.get(skipped)).body).toContain('"status":"skipped"');
  expect(await repository.get(`${skipped}/0000_0001/output`)).toMatchObject({ status: 200, body: '' });
  expect((await repository.get('actions/runs?status=odd')).status).toBe(400);
  await repository.put('_svc_actions/skips.yaml', yaml('refusing', '{pre-create-tag: }', lua('print(1)')));
  expect((await repository.get('actions/runs/nosuchrun')).status).toBe(404);
  expect((await repository.get('actions/runs?branch=main&commit=x')).status).toBe(400);
  expect((await repository.get('tags/made-by-hook')).status).toBe(200);

  await repository.put('_svc_actions/gate.yaml', yaml('endless', '{pre-commit: }', lua('while true do end')));
  const stuck = repository.commit('never');
  for (let asked = 0; asked < 10; asked += 1) expect((await server.request('/_health')).status).toBe(200);
  expect((await stuck).body).toContain('time limit exceeded');
  const metrics = (await server.request('/metrics')).body;
  expect(metrics).toContain(
    'svc_hook_run_duration_seconds_count{event="post-commit",type="lua",status="completed"} 2',
  );
  expect(metrics).toContain('svc_hooks_total{action="after",event="post-commit",status="completed"} 2');
  expect((await server.stop()).code).toBe(0);
});

test('a stopping server waits for the hooks of what it has acknowledged', async () => {
  const begun = Promise.withResolvers<() => void>();
  const receiver = await startReceiver((_, response) => begun.resolve(() => response.end()));
  const server = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' });
  const repository = new HookedRepository(server);
  await repository.create();
  await repository.put(
    '_svc_actions/a.yaml',
    yaml('slow one', '{post-commit: }', `type: webhook, properties: {url: "${receiver.url}"}`),
  );
  expect((await repository.commit('first')).status).toBe(201);
  const finish = await begun.promise;
  const stopping = server.stop();
  await waitUntil(() => server.stderr.includes('Shutting down'), { what: 'the server to stop' });
  finish();
  expect((await stopping).code).toBe(0);
  receiver.close();
  const again = await startSvc(['--quickstart'], { SVC_SERVER_WORKERS: '1' }, server.home);
  expect(await new HookedRepository(again).runs()).toMatchObject([
    { event_type: 'post-commit', status: 'completed' },
  ]);
  await again.stop();
});
