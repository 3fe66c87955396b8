import {
  bindingMessage,
  branchMessage,
  commitMessage,
  credentialMessage,
  decodeEntry,
  decodeStagedEntry,
  deletedRepositoryMessage,
  graveMessage,
  groupMessage,
  importStatusMessage,
  instanceHeartbeatMessage,
  moveMessage,
  policyMessage,
  protectionRulesMessage,
  pullRequestMessage,
  reflogSettingsMessage,
  repoMetadataMessage,
  repositoryMessage,
  secondaryIndexMessage,
  tagMessage,
  taskStatusMessage,
  tokenMessage,
  uploadMessage,
  uploadPartMessage,
  userMessage,
} from '@svc/encoding';

interface Decoder {
  readonly decode: (value: Buffer) => object;
}

interface Pattern {
  readonly partition: RegExp;
  readonly key: RegExp;
  readonly decoder: Decoder | 'text';
}

const repository = /-[0-9a-v]{20}$/;
const auth = /^(auth|basicAuth|aclauth)$/;

const stagedEntry: Decoder = {
  decode: (value) => {
    const { key, identity, data } = decodeStagedEntry(value);
    const isTombstone = identity.length === 0;
    return { key, identity: identity.toString('hex'), entry: isTombstone ? null : decodeEntry(data) };
  },
};

/** Which record lies where; the first match decides. */
const patterns: readonly Pattern[] = [
  { partition: /^kv-internal-metadata$|^usage$|^cleanup-tokens$/, key: /^/, decoder: 'text' },
  { partition: /^graveler$/, key: /^repos\//, decoder: repositoryMessage },
  { partition: /^graveler$/, key: /^moves\//, decoder: moveMessage },
  { partition: /^graveler$/, key: /^(aliases|views)\//, decoder: bindingMessage },
  { partition: /^graveler$/, key: /^deleted\//, decoder: deletedRepositoryMessage },
  { partition: /^graveler$/, key: /^namespaces\//, decoder: secondaryIndexMessage },
  { partition: /^pulls$/, key: /^/, decoder: secondaryIndexMessage },
  { partition: /^catalog$/, key: /^instances\//, decoder: instanceHeartbeatMessage },
  { partition: /^multiparts$/, key: /^/, decoder: uploadMessage },
  { partition: /^multipart-parts:/, key: /^/, decoder: uploadPartMessage },
  { partition: auth, key: /^installation_/, decoder: 'text' },
  { partition: auth, key: /^users\/[^/]+$/, decoder: userMessage },
  { partition: auth, key: /^groups\/[^/]+$/, decoder: groupMessage },
  { partition: auth, key: /^policies\/[^/]+$/, decoder: policyMessage },
  { partition: auth, key: /^(uCredentials\/[^/]+\/)?credentials\/[^/]+$/, decoder: credentialMessage },
  { partition: auth, key: /^u(Ended)?Sessions\//, decoder: 'text' },
  { partition: auth, key: /^expiredTokens\//, decoder: tokenMessage },
  { partition: repository, key: /^branches\//, decoder: branchMessage },
  { partition: repository, key: /^tags\//, decoder: tagMessage },
  { partition: repository, key: /^commits\//, decoder: commitMessage },
  { partition: repository, key: /^moves\//, decoder: moveMessage },
  { partition: repository, key: /^graves\//, decoder: graveMessage },
  { partition: repository, key: /^settings\/reflog$/, decoder: reflogSettingsMessage },
  { partition: repository, key: /^settings\/protected_branches$/, decoder: protectionRulesMessage },
  { partition: repository, key: /^imports\//, decoder: importStatusMessage },
  { partition: repository, key: /^tasks\//, decoder: taskStatusMessage },
  { partition: repository, key: /^repo-metadata$/, decoder: repoMetadataMessage },
  { partition: repository, key: /^pulls\//, decoder: pullRequestMessage },
  { partition: /:[0-9a-f-]{36}$/, key: /^/, decoder: stagedEntry },
];

const secretFields: ReadonlySet<string> = new Set(['encryptedPassword', 'secretAccessKeyEncryptedBytes']);

/** A stored value as an operator reads it; base64 where its kind is not known or it does not decode. */
export function readableValue(partition: string, key: string, value: Buffer): unknown {
  const decoder = patterns.find((entry) => entry.partition.test(partition) && entry.key.test(key))?.decoder;
  if (decoder === undefined) return value.toString('base64');
  if (decoder === 'text') return value.toString();
  try {
    return plain(decoder.decode(value));
  } catch {
    return value.toString('base64');
  }
}

function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    const bytes = Buffer.from(value);
    const text = bytes.toString();
    return Buffer.from(text).equals(bytes) ? text : bytes.toString('base64');
  }
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, secretFields.has(name) ? '******' : plain(field)]),
  );
}
