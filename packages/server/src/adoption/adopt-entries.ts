import {
  credentialMessage,
  repositoryInDeletion,
  repositoryMessage,
  secondaryIndexMessage,
  userMessage,
} from '@svc/encoding';
import type { KvRecord } from '@svc/kv';

/** A key of a user whose secret has still to be sealed with our key. */
export interface AdoptedCredential {
  readonly username: string;
  readonly accessKeyId: string;
  readonly sealed: Buffer;
}

export interface Adoption {
  /** Where the tables of every repository lie below its namespace. */
  readonly metadataPrefix: string;
  readonly credentials: AdoptedCredential[];
  readonly users: Set<string>;
  readonly count: { repositories: number; passwords: number };
}

/** Records of work that was under way, which ends with the servers that did it. */
const transient: ReadonlySet<string> = new Set(['mc-ownership', 'catalog', 'multiparts']);
/** Written anew, or by a service of its own. */
const notAdopted: ReadonlySet<string> = new Set(['kv-internal-metadata', 'basicAuth', 'aclauth']);

export function isAdopted(partition: string): boolean {
  return !transient.has(partition) && !notAdopted.has(partition);
}

/** What becomes of one entry of a lakeFS store; most stay as they are. */
export function adoptEntry(adoption: Adoption, partition: string, entry: KvRecord): KvRecord[] {
  const key = Buffer.from(entry.key).toString();
  switch (partition) {
    case 'graveler':
      return key.startsWith('repos/') ? adoptRepository(adoption, entry) : [entry];
    case 'auth':
      return adoptIdentity(adoption, key, entry);
    default:
      return [entry];
  }
}

/** The namespace is reserved for it, as for one that was made here. */
function adoptRepository(adoption: Adoption, entry: KvRecord): KvRecord[] {
  const record = repositoryMessage.decode(Buffer.from(entry.value));
  if (record.state === repositoryInDeletion) return [];
  adoption.count.repositories++;
  const { storageId, storageNamespace } = record;
  const prefixed = { ...record, metadataPrefix: record.metadataPrefix || adoption.metadataPrefix };
  return [
    { key: entry.key, value: repositoryMessage.encode(prefixed) },
    pointer(`namespaces/${storageId}/${storageNamespace.replace(/\/$/, '')}`, Buffer.from(entry.key)),
  ];
}

function adoptIdentity(adoption: Adoption, key: string, entry: KvRecord): KvRecord[] {
  const [folder, owner = '', , name = ''] = key.split('/');
  if (folder === 'users') return adoptUser(adoption, owner, entry);
  if (folder === 'gUsers') {
    return [entry, pointer(`uGroups/${name}/groups/${owner}`, Buffer.from(`groups/${owner}`))];
  }
  if (folder === 'uCredentials') {
    const { accessKeyId, secretAccessKeyEncryptedBytes } = credentialMessage.decode(Buffer.from(entry.value));
    adoption.credentials.push({
      username: owner,
      accessKeyId,
      sealed: Buffer.from(secretAccessKeyEncryptedBytes),
    });
    return [];
  }
  return [entry];
}

/** A password is a hash that this program does not check, so it is left out. */
function adoptUser(adoption: Adoption, username: string, entry: KvRecord): KvRecord[] {
  const record = userMessage.decode(Buffer.from(entry.value));
  adoption.users.add(username);
  if (record.encryptedPassword.length > 0) adoption.count.passwords++;
  const user = Buffer.from(`users/${username}`);
  const { email, externalId } = record;
  return [
    { key: entry.key, value: userMessage.encode({ ...record, encryptedPassword: Buffer.alloc(0) }) },
    ...(email === '' ? [] : [pointer(`emails/${email.toLowerCase()}`, user)]),
    ...(externalId === ''
      ? []
      : [pointer(`externalIds/${Buffer.from(externalId).toString('base64url')}`, user)]),
  ];
}

function pointer(key: string, target: Buffer): KvRecord {
  return { key: Buffer.from(key), value: secondaryIndexMessage.encode({ primaryKey: target }) };
}
