import type { StoreDeletion } from '@svc/block';
import type { GcRules } from './gc.ts';
import type { Page, InRepository } from './model.ts';

/** `gc.*` of the configuration. */
export interface CollectorSettings {
  readonly enabled: boolean;
  readonly intervalMs: number;
  readonly graceMs: number;
  readonly quarantineMs: number;
  readonly metadata: boolean;
  /** How long commits stay that nothing leads to; 0: for ever. */
  readonly danglingCommitsMs: number;
  readonly maxPercent: number;
  /** 0: unlimited. */
  readonly deletesPerSecond: number;
  /** Calls that list objects of a remote store; 0: unlimited. */
  readonly listsPerSecond: number;
  readonly memoryBytes: number;
  /** Of a core. */
  readonly cpuPercent: number;
  /** Where temporary files go. */
  readonly folder: string;
  /** Of what a run learned that the next may use. */
  readonly cacheSizeBytes: number;
  readonly reportRetentionMs: number;
}

export const gcClasses = ['objects', 'metadata', 'uploads'] as const;
export type GcClass = (typeof gcClasses)[number];

export interface GcRunOptions {
  readonly dryRun: boolean;
  readonly hard: boolean;
  readonly classes: readonly GcClass[];
  readonly maxPercent?: number | undefined;
  readonly takeOver: boolean;
  /** Of a dry run, instead of the repository's. */
  readonly rules?: GcRules | undefined;
}

/** What is absent is as harmless as it can be. */
export interface GcRunRequest {
  readonly user: string;
  readonly dryRun?: boolean | undefined;
  readonly hard?: boolean | undefined;
  readonly classes?: readonly GcClass[] | undefined;
  readonly maxPercent?: number | undefined;
  readonly takeOver?: boolean | undefined;
  /** What these rules would free; only for a dry run. */
  readonly rules?: GcRules | undefined;
}

export interface GcCount {
  readonly objects: number;
  readonly bytes: number;
}

/** What is condemned first. */
export const garbageClasses = ['expired', 'uncommitted', 'tables', 'commits'] as const;
export type GarbageClass = (typeof garbageClasses)[number];

export interface GcClassReport {
  readonly class: GarbageClass | 'uploads';
  /** Found by this run. */
  readonly garbage: GcCount;
  /** On the list of condemned objects now. */
  readonly condemned: GcCount;
  readonly due: GcCount;
  readonly deleted: GcCount;
  /** Were condemned and are in use again. */
  readonly rescued: GcCount;
  readonly failed: GcCount;
}

/** What keeps data: a branch, or all of a kind together. */
export interface GcRootReport extends GcCount {
  readonly root: 'branch' | 'tags' | 'reflog' | 'bindings' | 'keeps';
  readonly branch?: string | undefined;
  readonly commits: number;
  /** In ranges that nothing else reaches: without it, they would be garbage. */
  readonly onlyObjects: number;
  readonly onlyBytes: number;
}

export interface GcReport {
  readonly dryRun: boolean;
  /** Unix seconds: what is younger was left alone. */
  readonly cutoff: number;
  readonly listed: GcCount;
  readonly live: GcCount;
  readonly unknown: GcCount;
  /** Kept because other repositories use it. */
  readonly held: readonly GcHeldReport[];
  readonly classes: readonly GcClassReport[];
  /** Those that hold most by themselves first. Absent in lists of runs, and once the run's files are gone. */
  readonly roots?: readonly GcRootReport[] | undefined;
  /** Unix seconds. */
  readonly nextDue?: number | undefined;
  /** Whether what is deleted is gone at once, or kept by the store for a time. */
  readonly storeDeletion: StoreDeletion;
  readonly location: string;
}

/** What a repository uses of the one that was collected. */
export interface GcHeldReport {
  readonly repository: string;
  readonly count: GcCount;
}

export type GcRunState = 'queued' | 'running' | 'completed' | 'failed' | 'canceled';
export type GcRunPhase = '' | 'marking' | 'comparing' | 'sweeping' | 'reporting';

export interface GcRun {
  readonly id: string;
  readonly state: GcRunState;
  readonly phase: GcRunPhase;
  readonly options: GcRunOptions;
  readonly user: string;
  /** Milliseconds since 1970; absent: not yet. */
  readonly created: number;
  readonly started?: number | undefined;
  readonly ended?: number | undefined;
  readonly updated: number;
  readonly done: number;
  readonly total?: number | undefined;
  readonly report?: GcReport | undefined;
  readonly error?: string | undefined;
}

export const gcObjectKinds = ['condemned', 'deleted', 'kept', 'failed'] as const;
export type GcObjectKind = (typeof gcObjectKinds)[number];

export interface GcObject {
  readonly address: string;
  readonly size: number;
  readonly class: GarbageClass;
  /** Unix seconds. */
  readonly condemnedAt: number;
}

export interface GcQuarantineInfo extends GcCount {
  /** Unix seconds. */
  readonly oldest?: number | undefined;
  readonly nextDue?: number | undefined;
}

export interface GcRepositorySettings {
  readonly enabled: 'inherit' | 'on' | 'off';
  /** Absent: as configured. */
  readonly intervalHours?: number | undefined;
  readonly quarantineHours?: number | undefined;
}

export interface GcRuns {
  start(options: InRepository & GcRunRequest): Promise<string>;
  list(
    options: InRepository & { readonly after?: string | undefined; readonly amount?: number | undefined },
  ): Promise<Page<GcRun>>;
  get(options: InRepository & { readonly run: string }): Promise<GcRun>;
  listObjects(
    options: InRepository & {
      readonly run: string;
      readonly kind: GcObjectKind;
      readonly after?: string | undefined;
      readonly amount?: number | undefined;
    },
  ): Promise<Page<GcObject>>;
  cancel(options: InRepository & { readonly run: string }): Promise<void>;
  quarantine(repository: string): Promise<GcQuarantineInfo>;
  rescue(
    options: InRepository & {
      readonly user: string;
      readonly ref?: string | undefined;
      readonly days?: number | undefined;
      readonly all?: boolean | undefined;
    },
  ): Promise<void>;
  getSettings(repository: string): Promise<GcRepositorySettings>;
  setSettings(options: InRepository & { readonly settings: GcRepositorySettings }): Promise<void>;
}

/** Told what the collector does, for metrics. */
export interface CollectorObserver {
  ended(outcome: 'completed' | 'failed' | 'canceled', at: number): void;
  phase(phase: string, seconds: number): void;
  deleted(garbage: GarbageClass | 'uploads' | 'purge', count: GcCount): void;
  failures(count: number): void;
  rescued(count: number): void;
  condemned(repository: string, count: GcCount): void;
}
