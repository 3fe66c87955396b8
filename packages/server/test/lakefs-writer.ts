import type { KvStore } from '@svc/kv';

/** A message as the wire has it, made by hand: tests of our reader must not share our writer. */
export function proto(...fields: readonly (readonly [number, string | number | Buffer])[]): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) =>
      typeof value === 'number'
        ? Buffer.concat([varint(number * 8), varint(value)])
        : Buffer.concat([varint(number * 8 + 2), varint(Buffer.byteLength(value)), Buffer.from(value)]),
    ),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  while (left > 127) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  return Buffer.from([...bytes, left]);
}

export const timestamp = (seconds: number): Buffer => proto([1, seconds]);

const index = (target: string): Buffer => proto([1, target]);

export interface LakefsCommit {
  readonly id: string;
  readonly committer: string;
  readonly message: string;
  readonly creation_date: number;
  readonly meta_range_id: string;
  readonly parents: readonly string[];
  readonly generation: number;
  readonly version: number;
}

export interface LakefsStaged {
  readonly path: string;
  readonly address: string;
  readonly size: number;
  readonly etag: string;
}

export interface LakefsWorld {
  readonly commits: readonly LakefsCommit[];
  readonly staged: LakefsStaged;
  /** `salt ‖ nonce ‖ box` in hex. */
  readonly sealedSecret: string;
}

export const aliceKey = 'AKIAJADOPTEDADOPTEDQ';
const partition = 'lake-9m4e2mr0ui3e8a215n4g';
const token = 'lake-main:8c1d1d4e-5b7a-4c83-9a38-0a3f5a1f2b3c';

/** What a lakeFS server of schema version 4 has in its key-value store. */
export async function writeLakefs(
  kv: KvStore,
  { commits, staged, sealedSecret }: LakefsWorld,
): Promise<void> {
  const put = (where: string, key: string, value: Buffer | string): Promise<void> =>
    kv.set(Buffer.from(where), Buffer.from(key), Buffer.from(value));
  const now = timestamp(1_700_000_000);
  const [head] = commits;
  await put('kv-internal-metadata', 'kv/schema/version', '4');
  await put(
    'graveler',
    'repos/lake',
    proto([1, 'lake'], [2, 'local://lake'], [3, 'main'], [4, now], [6, '9m4e2mr0ui3e8a215n4g']),
  );
  for (const commit of commits) {
    const { id, committer, message, creation_date, meta_range_id, parents, version, generation } = commit;
    await put(
      partition,
      `commits/${id}`,
      proto(
        [1, id],
        ...(committer === '' ? [] : [[2, committer] as const]),
        [3, message],
        [4, timestamp(creation_date)],
        ...(meta_range_id === '' ? [] : [[5, meta_range_id] as const]),
        ...parents.map((parent) => [7, parent] as const),
        [8, version],
        [9, generation],
      ),
    );
  }
  await put(partition, 'branches/main', proto([1, 'main'], [2, head?.id ?? ''], [3, token]));
  await put(
    partition,
    'branches/dev',
    proto([1, 'dev'], [2, head?.id ?? ''], [3, 'lake-dev:3f0e5a53-6a0c-4f53-8f2b-3d7a2a7e9f11']),
  );
  await put(partition, 'tags/v1', proto([1, 'v1'], [2, head?.id ?? '']));
  await put(partition, 'settings/protected_branches', Buffer.from('0a0c0a046d61696e12040a020001', 'hex'));
  const entry = proto(
    [1, staged.address],
    [2, now],
    [3, staged.size],
    [4, staged.etag],
    [6, 1],
    [7, 'application/octet-stream'],
  );
  await put(token, staged.path, proto([1, staged.path], [2, Buffer.alloc(32, 7)], [3, entry]));
  await put(token, 'gone', proto([1, 'gone']));
  await put(
    'actions',
    'repos/lake/runs/5fgam05anf614d2mf280',
    proto([1, '5fgam05anf614d2mf280'], [2, 'main'], [5, 'pre-commit'], [6, now], [7, now], [8, 1]),
  );
  await put('mc-ownership', 'run-refs/approximate-branch-owner/4:lake/main', proto([1, 'somebody']));
  await put('auth', 'installation_id', '5f3f1f7e-0f5c-4b62-9c44-1f5d0d6c7a10');
  await put('auth', 'installation_metadata/setup_timestamp', '2024-01-02T03:04:05Z');
  await put(
    'auth',
    'users/alice',
    proto(
      [1, now],
      [2, 'alice'],
      [4, 'Alice@example.com'],
      [5, '$2a$10$abcdefghijklmnopqrstuv'],
      [6, 'internal'],
    ),
  );
  await put('auth', 'groups/Admins', proto([1, now], [2, 'Admins']));
  await put('auth', 'gUsers/Admins/users/alice', index('users/alice'));
  const statement = proto([1, 'allow'], [2, '*'], [3, '*']);
  await put('auth', 'policies/Everything', proto([1, now], [2, 'Everything'], [3, statement]));
  await put('auth', 'gPolicies/Admins/policies/Everything', index('policies/Everything'));
  await put(
    'auth',
    `uCredentials/alice/credentials/${aliceKey}`,
    proto([1, aliceKey], [2, Buffer.from(sealedSecret, 'hex')], [3, now], [4, 'alice']),
  );
  // lakeFS leaves the keys of a user that was deleted.
  await put(
    'auth',
    'uCredentials/ghost/credentials/AKIAJGHOSTGHOSTGHOSTQ',
    proto([1, 'AKIAJGHOSTGHOSTGHOSTQ'], [2, Buffer.from(sealedSecret, 'hex')], [3, now], [4, 'ghost']),
  );
}
