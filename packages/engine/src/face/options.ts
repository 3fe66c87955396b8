import type { BlockStores } from '@svc/block';
import type { MoveKind } from '@svc/encoding';
import type { CacheBus, KvStore } from '@svc/kv';
import type { CommittedTrees } from '../committed/tree.ts';
import type { SteadyTime } from '../gc/lease-watch.ts';
import type { CollectorObserver, CollectorSettings } from './gc-runs.ts';
import type { HookPoints } from './hooks.ts';

export interface CacheSettings {
  readonly size: number;
  readonly ttlMs: number;
  readonly jitterMs: number;
}

export interface EngineSettings {
  /** `committed.block_storage_prefix`. */
  readonly metadataPrefix: string;
  /** `graveler.ensure_readable_root_namespace`. */
  readonly ensureReadableRootNamespace: boolean;
  /** `graveler.max_batch_delay`. */
  readonly maxBatchDelayMs: number;
  /** `graveler.background.rate_limit`, requests per second; 0 is unlimited. */
  readonly backgroundRateLimit: number;
  /** `graveler.repository_cache.*`. */
  readonly repositoryCache: CacheSettings;
  /** `graveler.commit_cache.*`. */
  readonly commitCache: CacheSettings;
  /** `ugc.prepare_max_file_size`. */
  readonly ugcPrepareMaxFileSize: number;
  /** `ugc.prepare_interval`. */
  readonly ugcPrepareIntervalMs: number;
  /** `reflog.retention`. */
  readonly reflogRetentionMs: number;
  /** `reflog.hidden_retention`. */
  readonly reflogHiddenRetentionMs: number;
  /** `gc.*`. */
  readonly gc: CollectorSettings;
  /** Refuses namespaces in another region when set (`installation.allow_inter_region_storage=false`). */
  readonly requiredRegion: string | undefined;
  /** Key of the usage counters; empty while the installation has no id. */
  readonly installationId: () => Promise<string | undefined>;
}

export interface EngineLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Told of asynchronous operations (dump, restore, preparation of garbage collection, …). */
export interface TaskObserver {
  started(operation: string): void;
  ended(operation: string, outcome: 'success' | 'failure', seconds: number): void;
  /** Found unfinished a day after its last sign of life. */
  expired(operation: string): void;
}

/** What refs are used for, as measured. */
export interface RefObserver {
  moved(kind: MoveKind): void;
  /** A time in a ref, by how it was written. */
  resolvedTime(form: 'instant' | 'ago' | 'moves' | 'commit', isKnown: boolean): void;
}

export interface EngineOptions {
  readonly kv: KvStore;
  readonly blockStores: BlockStores;
  readonly trees: CommittedTrees;
  readonly cacheBus: CacheBus;
  /** `blockstore.signing.secret_key`. */
  readonly signingSecret: string;
  readonly settings?: Partial<EngineSettings> | undefined;
  readonly hooks?: HookPoints | undefined;
  readonly logger?: EngineLogger | undefined;
  /** Milliseconds since 1970. */
  readonly clock?: (() => number) | undefined;
  /** Counts lost races per operation (metric `graveler_kv_retries`). */
  readonly onRetry?: ((operation: string) => void) | undefined;
  readonly taskObserver?: TaskObserver | undefined;
  /** Time that never jumps, for the leases of collectors. */
  readonly steadyTime?: SteadyTime | undefined;
  readonly collectorObserver?: CollectorObserver | undefined;
  readonly refObserver?: RefObserver | undefined;
  /** Told how many seconds a writer waited for a collector's batch. */
  readonly onCollectorWait?: ((seconds: number) => void) | undefined;
}
