import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EngineLogger, EngineSettings } from '../face/options.ts';

export const defaultSettings: EngineSettings = {
  metadataPrefix: '_svc',
  ensureReadableRootNamespace: true,
  maxBatchDelayMs: 3,
  backgroundRateLimit: 0,
  repositoryCache: { size: 1000, ttlMs: 5000, jitterMs: 2000 },
  commitCache: { size: 50_000, ttlMs: 600_000, jitterMs: 2000 },
  ugcPrepareMaxFileSize: 125_829_120,
  ugcPrepareIntervalMs: 60_000,
  reflogRetentionMs: 720 * 3_600_000,
  reflogHiddenRetentionMs: 24 * 3_600_000,
  gc: {
    enabled: false,
    intervalMs: 24 * 3_600_000,
    graceMs: 24 * 3_600_000,
    quarantineMs: 168 * 3_600_000,
    metadata: true,
    danglingCommitsMs: 0,
    maxPercent: 50,
    deletesPerSecond: 1000,
    listsPerSecond: 50,
    memoryBytes: 268_435_456,
    cpuPercent: 50,
    folder: join(tmpdir(), 'svc-gc'),
    cacheSizeBytes: 2_147_483_648,
    reportRetentionMs: 2160 * 3_600_000,
  },
  requiredRegion: undefined,
  installationId: () => Promise.resolve(undefined),
};

export const silentLogger: EngineLogger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
