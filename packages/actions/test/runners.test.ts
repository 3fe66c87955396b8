import { expect, test } from 'vitest';
import { house, logOf, receiver, refusal, webhook } from './kit.ts';

test('secrets go to the receiver and not into the log', async () => {
  const at = await house({ variables: { SVCACTION_VAR: 'hush hush', HOME: '/root' } });
  const { url, received } = await receiver();
  const more =
    '      query_params: {z: ["1", "{{ ENV.SVCACTION_VAR }}"], a: "{{ ENV.HOME }}"}\n' +
    '      headers: {X-Token: "t {{ ENV.SVCACTION_VAR }}", content-type: text/plain}\n';
  await at.put('_svc_actions/a.yaml', webhook('secret', '{pre-commit: }', `${url}/p?m=2`, more));
  await at.commit();
  expect(received[0]?.url).toBe('/p?a=&m=2&z=1&z=hush+hush');
  expect(received[0]?.headers).toMatchObject({
    'x-token': 't hush hush',
    'content-type': 'application/json',
  });
  const [run] = await at.runs();
  const log = await logOf(at, run?.runId ?? '');
  expect(log).not.toContain('hush');
  expect(log).toContain(
    'Query Params:\na: *******\nz: 1\nz: *******\nHeaders:\nContent-Type: application/json\nX-Token: *******\n',
  );
});

test('a webhook that never answers, or never stops, fails with its reason', async () => {
  const at = await house();
  const { url } = await receiver((received, response) => {
    if (received.url === '/silent') return;
    const chunk = Buffer.alloc(1024 ** 2);
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', pour);
    };
    pour();
  });
  await at.put(
    '_svc_actions/a.yaml',
    webhook('slow', '{pre-commit: }', `${url}/silent`, '      timeout: 50ms\n'),
  );
  expect(await refusal(at.commit())).toContain("hook 'call_it': action failed: no answer within 0.05 s\n");
  await at.put('_svc_actions/a.yaml', webhook('long', '{pre-commit: }', `${url}/endless`));
  expect(await refusal(at.commit())).toContain('action failed: the answer is larger than 64 MiB\n');
});

test('an airflow hook starts its DAG and waits for it', async () => {
  let polls = 0;
  const at = await house({ variables: { SVCACTION_PASSWORD: 'hush' } });
  const { url, received } = await receiver((request, response) => {
    if (request.method === 'GET') polls += 1;
    response.end(JSON.stringify({ state: polls < 2 ? 'running' : 'success' }));
  });
  const text = (more: string): string =>
    `name: flow it\non: {pre-commit: }\nhooks:\n  - id: start\n    type: airflow\n    properties:\n` +
    `      {url: "${url}", dag_id: my dag, username: u, password: "{{ ENV.SVCACTION_PASSWORD }}", dag_conf: {own: 1}${more}}\n`;
  await at.put('_svc_actions/a.yaml', text(', wait_for_dag: true'));
  await at.commit();
  const [start, poll] = received;
  expect(start).toMatchObject({
    method: 'POST',
    url: '/api/v1/dags/my%20dag/dagRuns',
    headers: { authorization: `Basic ${Buffer.from('u:hush').toString('base64')}` },
  });
  const [run] = await at.runs();
  const body = JSON.parse(start?.body ?? '') as { dag_run_id: string; conf: Record<string, unknown> };
  expect(body.dag_run_id).toBe(`lakeFS_hook_start_${run?.runId ?? ''}`);
  expect(body.conf).toMatchObject({ own: 1, lakeFS_event: { event_type: 'pre-commit', hook_id: 'start' } });
  expect(poll?.url).toBe(`/api/v1/dags/my%20dag/dagRuns/${body.dag_run_id}`);
  const log = await logOf(at, run?.runId ?? '');
  expect(log).toContain('Username: u, Password: *******\n');
  expect(log.endsWith('DAG completed with state: success\n')).toBe(true);
  expect(log).not.toContain('hush');
});

test('airflow must answer 200', async () => {
  const at = await house();
  const { url } = await receiver((_, response) => response.writeHead(201).end('{}'));
  const properties = `{url: "${url}", dag_id: d, username: u, password: p}`;
  await at.put(
    '_svc_actions/a.yaml',
    `name: flow it\non: {pre-commit: }\nhooks: [{id: start, type: airflow, properties: ${properties}}]`,
  );
  expect(await refusal(at.commit())).toContain(
    'action failed: status code (201): airflow hook request failed\n',
  );
});

test('a script of the repository is read as the user, who may not be allowed to', async () => {
  const asked: unknown[] = [];
  const at = await house({
    callApi(request) {
      asked.push([request.userId, request.path, request.query, request.depth]);
      return Promise.resolve({
        status: asked.length === 1 ? 401 : 200,
        body: Buffer.from('print(action.event_type)'),
      });
    },
  });
  const file =
    'name: scripted\non: {pre-commit: }\nhooks: [{id: s1, type: lua, properties: {script_path: scripts/a.lua}}]';
  await at.put('_svc_actions/a.yaml', file);
  expect(await refusal(at.commit())).toContain(
    'action failed: could not load script_path scripts/a.lua: HTTP 401: invalid action\n',
  );
  await at.commit();
  expect(asked[0]).toEqual(['ada', '/repositories/repo/refs/main/objects', { path: 'scripts/a.lua' }, 1]);
  const passed = (await at.runs()).find((run) => run.passed);
  expect(await logOf(at, passed?.runId ?? '')).toBe('pre-commit\n');
});
