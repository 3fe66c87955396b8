import type { ActionHooks, CallApi, LuaRunner } from '@svc/actions';
import type { BlockStores } from '@svc/block';
import type { Engine, HookPoints } from '@svc/engine';
import type { KvStore } from '@svc/kv';
import { parseDuration } from '../config/duration.ts';
import { auditLevelOf } from '../http/access-log.ts';
import { observeHooks } from '../metrics/observe-engine.ts';
import type { FoundationOptions } from './foundation.ts';
import { shareOf } from './store-configs.ts';

/** Lua hooks of one server at once. */
const luaHooksAtOnce = 16;
const awaitedTimeoutMs = 60_000;
const otherTimeoutMs = 15 * 60_000;

interface HookParts {
  readonly kv: KvStore;
  readonly blocks: BlockStores;
  /** Told in which queue an event waits for its hooks. */
  readonly onQueued: (queue: string) => void;
}

/** The hooks of this process. They and the engine need each other: `bind` closes the circle. */
export interface ProcessHooks {
  /** Where runs are recorded, also while hooks are switched off. */
  readonly actions: ActionHooks;
  /** What the engine calls. */
  readonly points: HookPoints;
  readonly isEnabled: boolean;
  bind(parts: { readonly engine: Engine; readonly callApi: CallApi }): void;
  close(): Promise<void>;
}

/** The hooks as configured. */
export async function openHooks(options: FoundationOptions, parts: HookParts): Promise<ProcessHooks> {
  const { config, logger, metrics } = options;
  const [{ ActionHooks, createHookMaker, DisabledHooks, LuaRunner }, outgoing] = await Promise.all([
    import('@svc/actions'),
    outgoingOf(options),
  ]);
  let bound: { readonly engine: Engine; readonly callApi: CallApi } | undefined;
  const part = () => {
    if (bound === undefined) throw new TypeError('the engine is not open yet');
    return bound;
  };
  const { enabled, env, lua } = config.actions;
  const runner: LuaRunner = new LuaRunner({
    memoryBytes: lua.memory_bytes,
    netHttpEnabled: lua.net_http_enabled,
    maxRunning: shareOf(luaHooksAtOnce, options.processes),
  });
  const auditLevel = auditLevelOf(config.logging.audit_log_level);
  const actions = new ActionHooks({
    kv: parts.kv,
    blockStores: parts.blocks,
    engine: () => part().engine,
    makeHook: createHookMaker({
      outgoing,
      environment: { enabled: env.enabled, prefix: env.prefix, variables: process.env },
      lua: {
        runner,
        callApi: (request) => part().callApi(request),
        memoryBytes: lua.memory_bytes,
        ...luaTimeouts(lua.timeout),
      },
    }),
    logger,
    audit: (fields, message) => logger[auditLevel](fields, message),
    observer: metrics === undefined ? undefined : observeHooks(metrics),
    onQueued: parts.onQueued,
    isEnabled: enabled,
  });
  return {
    actions,
    isEnabled: enabled,
    points: enabled ? actions : new DisabledHooks({ engine: () => part().engine, logger }),
    bind(given) {
      bound = given;
    },
    async close() {
      await actions.close();
      await runner.close();
    },
  };
}

/** Hooks may call private hosts, as they always could; a list of networks closes the others. */
async function outgoingOf({ config, tracing }: FoundationOptions) {
  const { allButLinkLocal, Outgoing, publicAnd } = await import('@svc/outgoing');
  const { allowed_networks: networks } = config.actions;
  const setting = 'actions.allowed_networks';
  const rule = networks.length === 0 ? allButLinkLocal(setting) : publicAnd({ setting, networks });
  return new Outgoing({ rule, proxyVariables: process.env, around: tracing?.tracer.outgoing });
}

function luaTimeouts(configured: string) {
  if (configured === '') return { awaitedTimeoutMs, otherTimeoutMs };
  const ms = parseDuration(configured);
  const limit = ms === 0 ? undefined : ms;
  return { awaitedTimeoutMs: limit, otherTimeoutMs: limit };
}
