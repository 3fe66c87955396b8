import type { Action, ActionHook } from '../file/index.ts';
import type { Hook } from './hook.ts';

export interface PlannedTask {
  readonly hookRunId: string;
  readonly actionName: string;
  readonly description: ActionHook;
  readonly hook: Hook;
}

/** The hooks of each action, one after the other. */
export type Plan = readonly (readonly PlannedTask[])[];

/** Makes every hook of the matched actions before the first one runs. */
export function planActions(actions: readonly Action[], make: (hook: ActionHook) => Hook): Plan {
  const digits = (index: number): string => String(index).padStart(4, '0');
  return actions.map((action, actionIndex) =>
    action.hooks.map((description, hookIndex) => ({
      hookRunId: `${digits(actionIndex)}_${digits(hookIndex)}`,
      actionName: action.name,
      description,
      hook: make(description),
    })),
  );
}
