import { createSecretKey, type KeyObject } from 'node:crypto';
import type { BlockAdapter, BlockStores } from '@svc/block';
import { outboxPut, XidGenerator, type NewEvent } from '@svc/encoding';
import type { CacheBus, KvStore, KvWrite } from '@svc/kv';
import type { CommittedTrees } from '../committed/tree.ts';
import { AddressAllocator } from '../objects/addresses.ts';
import { HashPool } from '../objects/hash-pool.ts';
import { StoreHashes } from '../objects/store-hashes.ts';
import { NamespaceIndex } from '../objects/namespace-index.ts';
import { SmallObjects } from '../objects/small-objects.ts';
import type { CollectorObserver } from '../face/gc-runs.ts';
import type { HookPoints } from '../face/hooks.ts';
import { HookFiles } from '../hooks/hook-files.ts';
import type {
  EngineLogger,
  EngineOptions,
  EngineSettings,
  RefObserver,
  TaskObserver,
} from '../face/options.ts';
import { Gate } from '../gc/gate.ts';
import { LeaseWatch, systemTime, type SteadyTime } from '../gc/lease-watch.ts';
import { MoveLog } from '../moves/move-log.ts';
import { ProtectionStore } from '../protection/protection-store.ts';
import { BranchStore } from '../store/branch-store.ts';
import { CommitStore } from '../store/commit-store.ts';
import { RepositoryStore } from '../store/repository-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { TagStore } from '../store/tag-store.ts';
import { Background } from './background.ts';
import { BranchQueue } from './branch-queue.ts';
import { defaultSettings, silentLogger } from './settings.ts';

/** What every operation works with. One per engine; holds stores and caches, no state of its own. */
export interface EngineContext {
  readonly kv: KvStore;
  readonly blockStores: BlockStores;
  readonly trees: CommittedTrees;
  readonly cacheBus: CacheBus;
  readonly settings: EngineSettings;
  readonly hooks: HookPoints | undefined;
  /** Undefined when hooks are told of everything, or there are none. */
  readonly hookFiles: HookFiles | undefined;
  readonly logger: EngineLogger;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly onRetry: (operation: string) => void;
  readonly taskObserver: TaskObserver | undefined;
  readonly signingKey: KeyObject;
  readonly xids: XidGenerator;
  readonly queue: BranchQueue;
  readonly repositories: RepositoryStore;
  readonly branches: BranchStore;
  readonly commits: CommitStore;
  readonly tags: TagStore;
  readonly moves: MoveLog;
  /** The write that tells of something that is no move; hand it to the `change` that makes it true. */
  readonly told: (event: NewEvent) => KvWrite;
  readonly protection: ProtectionStore;
  readonly addresses: AddressAllocator;
  readonly hashPool: HashPool;
  readonly storeHashes: StoreHashes;
  readonly namespaces: NamespaceIndex;
  readonly smallObjects: SmallObjects;
  readonly background: Background;
  readonly collectorObserver: CollectorObserver | undefined;
  readonly refObserver: RefObserver | undefined;
  readonly gate: Gate;
  readonly leaseWatch: LeaseWatch;
  readonly steadyTime: SteadyTime;
}

export function createContext(options: EngineOptions): EngineContext {
  const settings: EngineSettings = { ...defaultSettings, ...options.settings };
  const clock = options.clock ?? Date.now;
  const { kv, cacheBus } = options;
  const logger = options.logger ?? silentLogger;
  const xids = new XidGenerator({ clock });
  const repositories = new RepositoryStore(kv, cacheBus, settings);
  const moves = new MoveLog(kv, cacheBus, clock, xids, logger, (kind) => options.refObserver?.moved(kind));
  const steadyTime = options.steadyTime ?? systemTime;
  const leaseWatch = new LeaseWatch(kv, steadyTime);
  const commits = new CommitStore(kv, settings);
  const gate = new Gate({
    kv,
    trees: options.trees,
    commits,
    clock,
    nextId: () => xids.next(),
    watch: leaseWatch,
    onWait: options.onCollectorWait,
  });
  return {
    kv,
    blockStores: options.blockStores,
    trees: options.trees,
    cacheBus,
    settings,
    hooks: options.hooks,
    hookFiles:
      options.hooks?.folders === undefined
        ? undefined
        : new HookFiles(kv, options.trees, options.hooks.folders, settings.maxBatchDelayMs),
    logger,
    clock,
    onRetry: options.onRetry ?? (() => undefined),
    taskObserver: options.taskObserver,
    signingKey: createSecretKey(options.signingSecret, 'utf8'),
    xids,
    queue: new BranchQueue(),
    repositories,
    branches: new BranchStore(kv, moves, settings.maxBatchDelayMs),
    commits,
    tags: new TagStore(kv, moves, settings.maxBatchDelayMs),
    moves,
    told: (event) => outboxPut(event, clock(), xids),
    protection: new ProtectionStore(kv, cacheBus),
    addresses: new AddressAllocator(xids, clock),
    hashPool: new HashPool(),
    storeHashes: new StoreHashes(),
    namespaces: new NamespaceIndex(kv, repositories, options.blockStores, cacheBus, clock),
    smallObjects: new SmallObjects(),
    background: new Background(logger),
    collectorObserver: options.collectorObserver,
    refObserver: options.refObserver,
    gate,
    leaseWatch,
    steadyTime,
  };
}

export function adapterOf(context: EngineContext, scope: RepositoryScope): BlockAdapter {
  return context.blockStores.get(scope.repository.storageId);
}
