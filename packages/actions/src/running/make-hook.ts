import type { Outgoing } from '@svc/outgoing';
import { createAirflowHook } from '../airflow/airflow.ts';
import type { ActionHook } from '../file/index.ts';
import { createLuaHook, type LuaSettings } from '../lua/lua-hook.ts';
import { createWebhook } from '../webhook/webhook.ts';
import type { EnvironmentAccess } from './environment.ts';
import type { Hook } from './hook.ts';

/** Makes a hook from its description. Throws `ConstructionError` when it cannot be made. */
export type HookMaker = (hook: ActionHook) => Hook;

export interface HookMakerOptions {
  readonly outgoing: Outgoing;
  readonly environment: EnvironmentAccess;
  readonly lua: LuaSettings;
  readonly airflowPollMs?: number | undefined;
}

const defaultPollMs = 5000;

export function createHookMaker(options: HookMakerOptions): HookMaker {
  const { outgoing, environment, lua, airflowPollMs: pollMs = defaultPollMs } = options;
  return (hook) => {
    switch (hook.type) {
      case 'webhook':
        return createWebhook(hook, { outgoing, environment });
      case 'airflow':
        return createAirflowHook(hook, { outgoing, environment, pollMs });
      case 'lua':
        return createLuaHook(hook, { ...lua, outgoing, environment });
    }
  };
}
