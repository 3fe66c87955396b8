import type { Latencies } from '../driver/latencies.ts';
import { startReceiver } from '../driver/slow-receiver.ts';
import { steadily } from '../driver/steady-load.ts';
import type { Bench } from './bench.ts';

const perSecond = 50;
const webhookMs = 5;
/** Commits of one branch wait for each other; those of several do not. */
const branches = 64;

/** What a webhook and a Lua hook before each commit add to it, at a steady rate. The server must run on this machine. */
export async function measureHooks(bench: Bench, namespace: string): Promise<void> {
  const { api, report, seconds } = bench;
  const repository = `${bench.repository}-hooked`;
  const receiver = await startReceiver(webhookMs);
  const post = (path: string, body: object): Promise<unknown> =>
    api.call('POST', `/repositories${path}`, body);
  const file = `name: both kinds
on: {pre-commit: }
hooks:
  - {id: call, type: webhook, properties: {url: "${receiver.url}"}}
  - {id: script, type: lua, properties: {script: print(action.commit.message)}}
`;
  const makeBranches = async (prefix: string): Promise<void> => {
    for (let index = 0; index < branches; index += 1)
      await post(`/${repository}/branches`, { name: `${prefix}${index}`, source: 'main' });
  };
  const load = (prefix: string, duration: number): Promise<Latencies> =>
    steadily({ perSecond, seconds: duration }, (index) =>
      post(`/${repository}/branches/${prefix}${index % branches}/commits`, {
        message: `commit ${index}`,
        allow_empty: true,
      }),
    );
  try {
    await post('', { name: repository, storage_namespace: `${namespace}/${repository}` });
    await makeBranches('plain');
    await api.upload(repository, 'main', '_svc_actions/both.yaml', Buffer.from(file));
    await post(`/${repository}/branches/main/commits`, { message: 'action' });
    await makeBranches('hooked');
    // Threads of scripts start, code is compiled.
    await load('hooked', 2);
    const [plain, hooked] = [await load('plain', seconds), await load('hooked', seconds)];
    for (const [scenario, times] of [
      [`commit, ${perSecond} a second`, plain],
      [`commit, ${perSecond} a second, webhook and Lua hook`, hooked],
    ] as const)
      report.add({ scenario, value: times.percentile(0.5), unit: 'ms', p99: times.percentile(0.99) });
    const added = hooked.percentile(0.99) - plain.percentile(0.99) - webhookMs;
    report.add({ scenario: 'hooks: p99 beyond their own time', value: added, unit: 'ms', goal: 20 });
  } finally {
    receiver.close();
  }
}
