import { OutgoingError, type Outgoing } from '@svc/outgoing';
import type { ActionHook } from '../file/index.ts';
import { maxDepth } from '../running/depth.ts';
import { substituteDeep, type EnvironmentAccess } from '../running/environment.ts';
import { HookFailure } from '../running/errors.ts';
import { commitTable } from '../running/hook-event.ts';
import type { Hook, HookRunning } from '../running/hook.ts';
import { Properties } from '../running/properties.ts';
import type { LuaRunner } from './lua-runner.ts';
import { runMetastore } from './metastore/metastore-thread.ts';
import type { Addresses, ThreadAnswer, ThreadCall } from './metastore/thread-protocol.ts';
import type { HostAnswer, HostCall, KeyPair, LuaJob } from './worker-protocol.ts';

/** A call of the service's own API, as a user. */
export interface ApiRequest {
  readonly userId: string;
  /** Used instead of the user. */
  readonly credentials?: KeyPair | undefined;
  readonly method: string;
  /** Below the base path, escaped. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** How deep the events it causes are. */
  readonly depth: number;
  readonly signal: AbortSignal;
  readonly maxAnswerBytes: number;
}

export interface ApiAnswer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Calls the API in this process, through authorization and audit like everybody. */
export type CallApi = (request: ApiRequest) => Promise<ApiAnswer>;

export interface LuaSettings {
  readonly runner: LuaRunner;
  readonly callApi: CallApi;
  readonly memoryBytes: number;
  /** Undefined is no limit. */
  readonly awaitedTimeoutMs: number | undefined;
  readonly otherTimeoutMs: number | undefined;
}

interface LuaHookOptions extends LuaSettings {
  readonly outgoing: Outgoing;
  readonly environment: EnvironmentAccess;
}

const outputLimit = 10 * 1024 ** 2;
const maxRedirects = 10;

/** Runs a Lua script, from the file itself or from an object of the repository. */
export function createLuaHook({ properties: values }: ActionHook, options: LuaHookOptions): Hook {
  const properties = new Properties(values);
  const args = substituteDeep(properties.map('args'), options.environment);
  const script = properties.has('script') ? properties.filledText('script') : undefined;
  const scriptPath = script === undefined ? properties.filledText('script_path') : '';
  return {
    async run(running) {
      const source = script ?? (await loadScript(running, scriptPath, options));
      const timeoutMs = running.isAwaited ? options.awaitedTimeoutMs : options.otherTimeoutMs;
      await options.runner.run(() => ({
        job: {
          source: Buffer.from(source).toString('latin1'),
          args,
          action: actionTable(running),
          username: running.event.actor.userId ?? '',
          deadline: timeoutMs === undefined ? undefined : Date.now() + timeoutMs,
          outputLimit,
          exportPrefix: `${running.event.repository.metadataPrefix}/exported`,
        } satisfies LuaJob,
        signal: running.signal,
        answer: (call, signal) => answerCall(call, running, options, signal),
        print: (bytes) => running.output.write(bytes),
      }));
    },
  };
}

async function loadScript(running: HookRunning, path: string, options: LuaHookOptions): Promise<string> {
  const { event } = running;
  const repository = encodeURIComponent(event.repository.id);
  const answer = await call(running, options, running.signal, {
    kind: 'api',
    method: 'GET',
    path: `/repositories/${repository}/refs/${encodeURIComponent(event.sourceRef)}/objects`,
    query: { path },
  });
  if (answer.status !== 200) {
    throw new HookFailure(`could not load script_path ${path}: HTTP ${answer.status}: invalid action`);
  }
  return Buffer.from(answer.body).toString('utf8');
}

function actionTable({ event, runId, actionName, hookId }: HookRunning): Record<string, unknown> {
  return {
    action_name: actionName,
    hook_id: hookId,
    run_id: runId,
    pre_run_id: event.preRunId ?? '',
    event_type: event.type,
    commit_id: event.commitId ?? '',
    branch_id: event.branch ?? '',
    source_ref: event.sourceRef,
    tag_id: event.tag ?? '',
    merge_source: event.mergeSource ?? '',
    repository_id: event.repository.id,
    storage_namespace: event.repository.storageNamespace,
    commit: commitTable(event),
  };
}

async function call(
  running: HookRunning,
  options: LuaHookOptions,
  signal: AbortSignal,
  request: Extract<HostCall, { kind: 'api' }>,
): Promise<ApiAnswer> {
  const { userId } = running.event.actor;
  if (userId === undefined || userId === '') throw new HookFailure('no user is attached to the event');
  const depth = running.depth + 1;
  if (depth > maxDepth) {
    const message = `hooks that call the service are nested more than ${maxDepth} deep`;
    return { status: 508, body: Buffer.from(JSON.stringify({ message })) };
  }
  const { method, path, query, body, credentials } = request;
  return options.callApi({
    userId,
    credentials,
    method,
    path,
    query,
    body,
    depth,
    signal,
    maxAnswerBytes: options.memoryBytes,
  });
}

async function answerCall(
  request: HostCall,
  running: HookRunning,
  options: LuaHookOptions,
  signal: AbortSignal,
): Promise<HostAnswer> {
  if (request.kind === 'metastore') {
    return runMetastore(request, {
      answer: (question) => answerThread(question, running, options, signal),
      memoryBytes: options.memoryBytes,
      signal,
    });
  }
  if (request.kind === 'api') {
    const { status, body } = await call(running, options, signal, request);
    return { status, statusText: '', rawHeaders: [], body };
  }
  try {
    const { status, statusText, rawHeaders, body } = await options.outgoing.send({
      url: request.url,
      method: request.method,
      headers: request.headers,
      body: request.body === undefined ? undefined : Buffer.from(request.body, 'latin1'),
      timeoutMs: request.timeoutMs,
      maxAnswerBytes: options.memoryBytes,
      maxRedirects,
      signal,
    });
    return { status, statusText, rawHeaders, body };
  } catch (error) {
    if (error instanceof OutgoingError) return { error: error.message };
    throw error;
  }
}

/** What an operation on metastores asks: the same, and where it may connect to. */
async function answerThread(
  request: ThreadCall,
  running: HookRunning,
  options: LuaHookOptions,
  signal: AbortSignal,
): Promise<ThreadAnswer> {
  if (request.kind !== 'address') return answerCall(request, running, options, signal);
  return { addresses: await options.outgoing.resolve(request.host) } satisfies Addresses;
}
