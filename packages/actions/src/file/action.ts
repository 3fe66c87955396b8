import type { EventType } from './events.ts';

export const hookTypes = ['webhook', 'airflow', 'lua'] as const;
export type HookType = (typeof hookTypes)[number];

/** An action file, read and checked. */
export interface Action {
  readonly name: string;
  readonly description: string;
  /** Branch patterns by event; none means every branch. */
  readonly on: ReadonlyMap<EventType, readonly string[]>;
  readonly hooks: readonly ActionHook[];
}

export interface ActionHook {
  readonly id: string;
  readonly type: HookType;
  readonly description: string;
  /** `''` when absent: run unless an earlier hook of the action failed. */
  readonly condition: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Why a file is no action. The message alone is what clients have always seen; the line is for editors and people. */
export class ActionFileError extends Error {
  override readonly name = 'ActionFileError';
  /** Counted from 1. */
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}
