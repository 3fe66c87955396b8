import type { Auth, KeyPair } from '@svc/auth';
import { credentialMessage } from '@svc/encoding';
import type { KvStore } from '@svc/kv';
import { currentSchemaVersion, readSchemaVersion } from '../compose/schema-version.ts';
import { readMarker, removeMarker, writeMarker } from '../migration/marker.ts';
import { adoptEntry, isAdopted, type AdoptedCredential, type Adoption } from './adopt-entries.ts';
import { openLakefsSecret } from './secret-box.ts';

export class AdoptionError extends Error {
  override readonly name = 'AdoptionError';
}

export interface AdoptionParts {
  readonly source: KvStore;
  readonly target: KvStore;
  /** Names the source in the target's marker; without secrets. */
  readonly from: string;
  /** `auth.encrypt.secret_key` of the source. */
  readonly secretKey: string;
  readonly metadataPrefix: string;
  /** Access control on the target, once its records are there. */
  readonly openAuth: () => Promise<Auth>;
  readonly progress: (text: string) => void;
}

export interface AdoptedInstallation {
  readonly entries: number;
  readonly repositories: number;
  readonly users: number;
  readonly credentials: number;
  /** Users whose password was left out. */
  readonly passwords: number;
  /** Keys that could not be opened with the given secret. */
  readonly lostKeys: readonly string[];
}

const progressMs = 2000;
const actor = { username: 'import-installation' };
/** The user of an installation without access control. */
const singleUser = 'superAdmin';

/**
 * Takes over a lakeFS installation into an empty store: what it knows of repositories, changes, users and rules. The
 * source is only read, and no object is copied. Repeated after an interruption it writes the same again.
 */
export async function adoptInstallation(parts: AdoptionParts): Promise<AdoptedInstallation> {
  const { source, target, from } = parts;
  await requireSource(source);
  await requireTarget(target, from);
  await writeMarker(target, { from, partition: '', key: '' });
  const adoption: Adoption = {
    metadataPrefix: parts.metadataPrefix,
    credentials: [],
    users: new Set(),
    count: { repositories: 0, passwords: 0 },
  };
  let entries = 0;
  let told = Date.now();
  for await (const partition of source.partitions()) {
    const name = partition.toString();
    if (!isAdopted(name)) continue;
    for await (const page of source.scan(partition)) {
      const records = page.flatMap((entry) => adoptEntry(adoption, name, entry));
      if (records.length > 0) await target.setMany(partition, records);
      entries += page.length;
    }
    if (Date.now() - told < progressMs) continue;
    told = Date.now();
    parts.progress(`${entries} entries, ${adoption.count.repositories} repositories`);
  }
  const { credentials, lostKeys } = await adoptKeys(parts, adoption);
  await removeMarker(target);
  const { users, count } = adoption;
  return { entries, ...count, users: users.size, credentials, lostKeys };
}

interface AdoptedKeys {
  credentials: number;
  readonly lostKeys: string[];
}

/** Each secret is opened with the old key and sealed with ours. */
async function adoptKeys(parts: AdoptionParts, adoption: Adoption): Promise<AdoptedKeys> {
  const { users } = adoption;
  // Without access control there is one user, who becomes an administrator.
  const found = users.size > 0 ? adoption.credentials : await singleUserKeys(parts.source);
  const adopted: AdoptedKeys = { credentials: 0, lostKeys: [] };
  const auth = await parts.openAuth();
  try {
    for (const { username, accessKeyId, sealed } of found) {
      // Keys of a deleted user stay in the store; a new user of that name must not get them.
      if (username !== singleUser && !users.has(username)) continue;
      const secretAccessKey = openLakefsSecret(parts.secretKey, sealed);
      if (secretAccessKey === undefined) {
        adopted.lostKeys.push(accessKeyId);
        continue;
      }
      adopted.credentials++;
      if ((await auth.credentialsFor(accessKeyId)) === undefined) {
        const key = { accessKeyId, secretAccessKey };
        if (users.has(username)) await auth.credentials.create(username, actor, key);
        else await addAdministrator(auth, key);
      }
      users.add(username);
    }
    return adopted;
  } finally {
    auth.close();
  }
}

async function addAdministrator(auth: Auth, key: KeyPair): Promise<void> {
  if ((await auth.setup.state()).initialized) await auth.setup.createSuperuser(singleUser, key);
  else await auth.setup.run({ username: singleUser, key });
}

async function singleUserKeys(source: KvStore): Promise<AdoptedCredential[]> {
  const found: AdoptedCredential[] = [];
  const prefix = Buffer.from(`uCredentials/${singleUser}/credentials/`);
  for await (const page of source.scan(Buffer.from('basicAuth'), { prefix })) {
    for (const { value } of page) {
      const { accessKeyId, secretAccessKeyEncryptedBytes } = credentialMessage.decode(value);
      found.push({ username: singleUser, accessKeyId, sealed: Buffer.from(secretAccessKeyEncryptedBytes) });
    }
  }
  return found;
}

async function requireSource(source: KvStore): Promise<void> {
  const found = await readSchemaVersion(source);
  if (found === currentSchemaVersion) return;
  throw new AdoptionError(
    found === undefined
      ? 'the store to import from holds no installation'
      : `the store to import from has schema version ${found}, and ${currentSchemaVersion} is needed: bring it there with the program that wrote it`,
  );
}

/** Nothing of another installation is mixed with this one. */
async function requireTarget(target: KvStore, from: string): Promise<void> {
  const marker = await readMarker(target);
  if (marker?.from === from) return;
  for await (const partition of target.partitions()) {
    throw new AdoptionError(
      `the store of this configuration is not empty (it has the partition ${JSON.stringify(partition.toString())}); give an empty one`,
    );
  }
}
