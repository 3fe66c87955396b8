import { setTimeout as wait } from 'node:timers/promises';
import type { Outgoing } from '@svc/outgoing';
import type { ActionHook } from '../file/index.ts';
import { substitute, type EnvironmentAccess } from '../running/environment.ts';
import { HookFailure } from '../running/errors.ts';
import { jsonText, payloadOf } from '../running/hook-event.ts';
import type { Hook, HookRunning } from '../running/hook.ts';
import { Properties } from '../running/properties.ts';
import { sendLogged, shownUrl } from '../webhook/http-log.ts';

const defaultTimeoutMs = 60_000;
const requestTimeoutMs = 5000;

interface AirflowOptions {
  readonly outgoing: Outgoing;
  readonly environment: EnvironmentAccess;
  /** Time between two looks at a DAG that is waited for. */
  readonly pollMs: number;
}

/** Starts a DAG and, where asked to, waits for it. The names in its configuration are those that DAGs read. */
export function createAirflowHook({ id, properties: values }: ActionHook, options: AirflowOptions): Hook {
  const properties = new Properties(values);
  const base = properties.filledText('url').replace(/\/+$/, '');
  const dagId = properties.filledText('dag_id');
  const username = properties.filledText('username');
  const password = substitute(properties.filledText('password'), options.environment).value;
  const dagConf = properties.map('dag_conf');
  const waits = properties.flag('wait_for_dag');
  const timeoutMs = properties.timeout('timeout', defaultTimeoutMs);
  const runsUrl = `${base}/api/v1/dags/${encodeURIComponent(dagId)}/dagRuns`;
  const headers = {
    Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
    'Content-Type': 'application/json',
  };

  const call = async (running: HookRunning, method: string, url: string, body?: string): Promise<Buffer> => {
    const answer = await sendLogged(
      options.outgoing,
      { url, method, headers, body, timeoutMs: requestTimeoutMs, signal: running.signal },
      running.output,
    );
    if (answer.status !== 200)
      throw new HookFailure(`status code (${answer.status}): airflow hook request failed`);
    return answer.body;
  };

  return {
    async run(running) {
      const { output, runId } = running;
      const dagRunId = `lakeFS_hook_${id}_${runId}`;
      const conf = { ...dagConf, lakeFS_event: payloadOf(running, new Date()) };
      const body = jsonText({ dag_run_id: dagRunId, conf });
      output.write(`Request:\nPOST ${shownUrl(runsUrl)}\nUsername: ${username}, Password: *******\n`);
      output.write(`Body: ${body}\n\n`);
      await call(running, 'POST', runsUrl, body);
      if (!waits) return;
      output.write('\nWaiting for DAG to complete...\n');
      const runUrl = `${runsUrl}/${encodeURIComponent(dagRunId)}`;
      for (const deadline = Date.now() + timeoutMs; ;) {
        await pause(Math.min(options.pollMs, Math.max(0, deadline - Date.now())), running.signal);
        if (Date.now() >= deadline)
          throw new HookFailure(
            `context deadline exceeded: the DAG runs for more than ${timeoutMs / 1000} s`,
          );
        output.write(`Request:\nGET ${shownUrl(runUrl)}\n`);
        const state = stateOf(await call(running, 'GET', runUrl));
        output.write('\n');
        if (state !== 'success' && state !== 'failed') continue;
        output.write(`DAG completed with state: ${state}\n`);
        if (state === 'failed') throw new HookFailure('airflow hook DAG failed');
        return;
      }
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(ms, undefined, { signal });
  } catch (error) {
    throw new HookFailure('the server stopped while the DAG was waited for', { cause: error });
  }
}

function stateOf(body: Buffer): unknown {
  try {
    return (JSON.parse(body.toString()) as { state?: unknown } | null)?.state;
  } catch {
    throw new HookFailure('the answer of airflow is not JSON');
  }
}
