export { ActionHooks, type ActionHooksOptions } from './action-hooks.ts';
export { atDepth, maxDepth } from './running/depth.ts';
export type { EnvironmentAccess } from './running/environment.ts';
export { createHookMaker, type HookMaker, type HookMakerOptions } from './running/make-hook.ts';
export type { HookObserver, TaskStatus } from './running/run-plan.ts';
export { isSkipped, timeText, type Run, type Task } from './runs/run.ts';
export type { RunFiles } from './runs/run-files.ts';
export type { RunPage, RunPageRequest, RunStore, TaskPageRequest } from './runs/run-store.ts';
export type { ApiAnswer, ApiRequest, CallApi, LuaSettings } from './lua/lua-hook.ts';
