import { duration, flag, fraction, integer, text } from '../key.ts';
import { checkRelativePath } from './checks.ts';

const cacheSize = { min: 1 };
const onePool = { ignored: 'open readers are kept in one pool without locks' };

export const engineKeys = {
  graveler: {
    ensure_readable_root_namespace: flag(
      true,
      'Creating a repository first reads from its namespace; set false only when clients alone may read there.',
    ),
    max_batch_delay: duration(
      '3ms',
      'Longest wait to merge equal reads of references under load; a lone read never waits.',
    ),
    background: {
      rate_limit: integer(0, 'Key-value requests per second of background work; 0 is unlimited.', { min: 0 }),
    },
    reposiory_cache: {
      size: integer(1000, 'Repositories kept in memory (`graveler.repository_cache.*` is the same key).', {
        ...cacheSize,
        aliases: ['graveler.repository_cache.size'],
      }),
      ttl: duration('5s', 'How long another server may answer with an old value (also `expiry`).', {
        aliases: [
          'graveler.repository_cache.ttl',
          'graveler.reposiory_cache.expiry',
          'graveler.repository_cache.expiry',
        ],
      }),
      jitter: duration('2s', 'Up to this much is added to each lifetime.', {
        aliases: ['graveler.repository_cache.jitter'],
      }),
    },
    commit_cache: {
      size: integer(50_000, 'Commits kept in memory.', cacheSize),
      ttl: duration('10m', 'Lifetime of a kept commit (also `expiry`).', {
        aliases: ['graveler.commit_cache.expiry'],
      }),
      jitter: duration('2s', 'Up to this much is added to each lifetime.'),
    },
    batch_dbio_transaction_markers: flag(false, 'Mark batched reads.', {
      ignored: 'batches need no marks here',
    }),
    compaction_sensor_threshold: integer(0, 'Deletions after which a branch is compacted.', {
      ignored: 'staged changes are folded by their number of sealed tokens',
    }),
    branch_ownership: {
      enabled: flag(false, 'Serialise commits through an owner of the branch.', {
        ignored: 'branches are moved by compare-and-set alone',
      }),
      refresh: duration('400ms', 'Refresh of the ownership.', {
        ignored: 'branches are moved by compare-and-set alone',
      }),
      acquire: duration('150ms', 'Attempts to take the ownership.', {
        ignored: 'branches are moved by compare-and-set alone',
      }),
    },
  },
  committed: {
    block_storage_prefix: text(
      'Folder of committed metadata in namespaces of repositories created from now on.',
      {
        default: '_svc',
        check: checkRelativePath,
      },
    ),
    sstable: {
      memory: {
        cache_size_bytes: integer(
          200_000_000,
          'Memory for blocks of ranges, divided among the worker processes.',
          {
            min: 1,
          },
        ),
      },
    },
    local_cache: {
      size_bytes: integer(1_073_741_824, 'Size of the cache folder, shared by all worker processes.', {
        min: 1,
      }),
      dir: text(
        'Folder that keeps ranges and metaranges of the block store. On the same file system as a local block store they share its files.',
        {
          default: '~/svc/data/cache',
          path: true,
        },
      ),
      range_proportion: fraction(0.9, 'Part of the cache for ranges; both parts must add up to 1.', {
        min: 0,
        max: 1,
      }),
      range: {
        open_readers: integer(500, 'Ranges each process keeps open; one has some 50 000 objects.', {
          min: 1,
        }),
        num_shards: integer(30, 'At least the square root of `open_readers`.', { min: 1, ...onePool }),
      },
      metarange_proportion: fraction(0.1, 'Part of the cache for metaranges.', { min: 0, max: 1 }),
      metarange: {
        open_readers: integer(50, 'Metaranges each process keeps in memory.', { min: 1 }),
        num_shards: integer(10, 'At least the square root of `open_readers`.', { min: 1, ...onePool }),
      },
      max_uploaders_per_writer: integer(10, 'Parallel uploads of one commit.', {
        min: 1,
        ignored: 'a commit uploads up to ten ranges at once',
      }),
    },
    permanent: {
      min_range_size_bytes: integer(0, 'A range is not closed before this size.', { min: 0 }),
      max_range_size_bytes: integer(20_971_520, 'A range is closed at this size.', { min: 1 }),
      range_raggedness_entries: integer(50_000, 'Average objects per range.', { min: 1 }),
    },
  },
};
