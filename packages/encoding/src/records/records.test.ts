import * as fc from 'fast-check';
import protobuf from 'protobufjs';
import { expect, test } from 'vitest';
import type { Message } from './fields.ts';
import * as records from './index.ts';

// proto3 definitions written independently of the field tables: protobufjs is the oracle.
const oracle = protobuf.parse(`
syntax = "proto3";
message Timestamp { int64 seconds = 1; int32 nanos = 2; }
message RepositoryData { string id = 1; string storageNamespace = 2; string defaultBranchId = 3;
  Timestamp creationDate = 4; int32 state = 5; string instanceUid = 6; bool readOnly = 7; string storageId = 8;
  string metadataPrefix = 1000; }
message BranchData { string id = 1; string commitId = 2; string stagingToken = 3; repeated string sealedTokens = 4;
  bool hidden = 5; bytes lastMove = 1000; }
message TagData { string id = 1; string commitId = 2; bytes lastMove = 1000; }
message CommitData { string id = 1; string committer = 2; string message = 3; Timestamp creationDate = 4;
  string metaRangeId = 5; map<string, string> metadata = 6; repeated string parents = 7; int32 version = 8;
  int32 generation = 9; }
message StagedEntryData { bytes key = 1; bytes identity = 2; bytes data = 3; }
message GarbageCollectionRules { int32 defaultRetentionDays = 1; map<string, int32> branchRetentionDays = 2; }
message Blocked { repeated int32 value = 1; }
message BranchProtectionRules { map<string, Blocked> patterns = 1; }
message ImportStatusData { string id = 1; bool completed = 2; Timestamp updatedAt = 3; int64 progress = 4;
  string metaRangeId = 5; CommitData commit = 6; string error = 7; }
message RepoMetadata { map<string, string> metadata = 1; }
message LinkAddressData { string address = 1; }
message PullRequestData { string id = 1; int32 status = 2; Timestamp createdAt = 3; string title = 4;
  string author = 5; string description = 6; string sourceBranch = 7; string destinationBranch = 8;
  optional string commitId = 9; Timestamp closedAt = 10; }
message RangeData { bytes minKey = 1; bytes maxKey = 2; uint64 estimatedSize = 3; int64 count = 4; }
message CommitNode { int64 creationUsecs = 1; string mainParent = 2; string metaRangeId = 3; }
message Task { string id = 1; bool done = 2; Timestamp updatedAt = 3; int64 progress = 4; string errorMessage = 5;
  int32 statusCode = 6; string operation = 7; string ownerInstanceId = 8; }
message DumpInfo { string commitsMetaRangeId = 1; string tagsMetaRangeId = 2; string branchesMetaRangeId = 3; }
message RepositoryDumpStatus { Task task = 1; DumpInfo info = 2; }
message TaskStatus { Task task = 1; }
message GcInfo { string runId = 1; string commitsLocation = 2; string addressesLocation = 3; }
message GarbageCollectionPrepareStatus { Task task = 1; GcInfo info = 2; }
message CommitAsyncStatusData { Task task = 1; CommitData info = 2; }
message MergeInfo { string reference = 1; }
message MergeAsyncStatusData { Task task = 1; MergeInfo info = 2; }
message InstanceHeartbeat { Timestamp updatedAt = 1; }
message GcState { int64 generation = 1; int32 phase = 2; string runId = 3; string owner = 4; int64 beat = 5;
  int64 batch = 6; bool inFlight = 7; string reason = 8; }
message GcExternal { int64 generation = 1; Timestamp firstPage = 2; Timestamp lastCall = 3; }
message GcPin { int32 kind = 1; string value = 2; int64 generation = 3; Timestamp expires = 4; }
message GcKeep { Timestamp until = 1; string user = 2; }
message GcQuarantine { string runId = 1; int64 objects = 2; int64 bytes = 3; Timestamp oldest = 4;
  Timestamp notBefore = 5; int64 generation = 6; }
message GcSettings { int32 enabled = 1; int64 interval = 2; int64 quarantine = 3; }
message GcRun { string id = 1; int32 state = 2; int32 phase = 3; string options = 4; string user = 5;
  Timestamp created = 6; Timestamp started = 7; Timestamp ended = 8; Timestamp updated = 9; int64 done = 10;
  int64 total = 11; string report = 12; string error = 13; int64 generation = 14; bool cancel = 15; }
message GcForeign { string uri = 1; Timestamp at = 2; }
message MoveData { int32 kind = 1; int32 refType = 2; string refId = 3; bytes old = 4;
  bytes new = 5; string user = 6; string source = 7; bytes prev = 8; bytes jump = 9; int64 depth = 10; int64 jumpDepth = 11;
  bool lossy = 12; bool hidden = 13; bytes requestId = 14; repeated string retiredTokens = 15; }
message GraveData { bytes lastMove = 1; bytes commit = 2; string user = 3; bool hidden = 4; }
message ReflogSettings { optional int32 retentionDays = 1; }
message UploadData { string uploadId = 1; string path = 2; Timestamp creationDate = 3; string physicalAddress = 4;
  map<string, string> metadata = 5; string contentType = 6; string repository = 1000; string branch = 1001;
  string owner = 1002; string storeUploadId = 1003; map<string, string> systemHeaders = 1004;
  string storageClass = 1005; string completedEtag = 1006; Timestamp completedAt = 1007;
  string bucket = 1008; string bucketKey = 1009; string checksumAlgorithm = 1010; string checksumType = 1011; }
message UploadPartData { int32 partNumber = 1; string etag = 2; int64 size = 3; Timestamp lastModified = 4;
  map<string, string> checksums = 5; }
message RunResultData { string runId = 1; string branchId = 2; string commitId = 3; string sourceRef = 4;
  string eventType = 5; Timestamp startTime = 6; Timestamp endTime = 7; bool passed = 8; }
message TaskResultData { string runId = 1; string hookRunId = 2; string hookId = 3; string actionName = 4;
  Timestamp startTime = 5; Timestamp endTime = 6; bool passed = 9; }
message SecondaryIndex { bytes primaryKey = 1; }
message MostlyCorrectOwnership { string owner = 1; Timestamp expires = 2; string comment = 3; }
message UserData { Timestamp createdAt = 1; string username = 2; string friendlyName = 3; string email = 4;
  bytes encryptedPassword = 5; string source = 6; string externalId = 7; int64 tokensValidAfter = 1000; }
message GroupData { Timestamp createdAt = 1; string displayName = 2; string description = 3; }
message Values { repeated string values = 1; }
message Condition { map<string, Values> fields = 1; }
message StatementData { string effect = 1; repeated string action = 2; string resource = 3;
  map<string, Condition> condition = 4; repeated string principal = 1000; }
message Acl { string permission = 1; bool allRepositories = 2; repeated string repositories = 3; }
message PolicyData { Timestamp createdAt = 1; string displayName = 2; repeated StatementData statements = 3;
  Acl acl = 4; }
message CredentialData { string accessKeyId = 1; bytes secretAccessKeyEncryptedBytes = 2; Timestamp issuedDate = 3;
  bytes userId = 4; bool hasView = 1000; }
message TokenData { string tokenId = 1; Timestamp expiredAt = 2; }
message Entry { string address = 1; Timestamp lastModified = 2; int64 size = 3; string etag = 4;
  map<string, string> metadata = 5; int32 addressType = 6; string contentType = 7; }
`).root;

const string = fc.string({ unit: 'grapheme', maxLength: 40 });
const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array));
const int32 = fc.integer();
const int64 = fc.maxSafeInteger();
const strings = fc.array(string, { maxLength: 4 });

function mapOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  // JavaScript moves keys like "0" to the front of an object, so the oracle cannot write them in byte order.
  const key = string.filter((text) => !/^\d+$/.test(text));
  return fc.array(fc.tuple(key, value), { maxLength: 4 }).map((pairs) => {
    const map = Object.create(null) as Record<string, T>;
    // Sorted by bytes, as we write them; protobufjs keeps insertion order.
    for (const [key, item] of pairs.toSorted((left, right) =>
      Buffer.compare(Buffer.from(left[0]), Buffer.from(right[0])),
    )) {
      map[key] = item;
    }
    return map;
  });
}

/** Values of a message as the oracle's definition describes it. */
function arbitrary(type: protobuf.Type): fc.Arbitrary<Record<string, unknown>> {
  const model: Record<string, fc.Arbitrary<unknown>> = {};
  for (const field of type.fieldsArray) {
    field.resolve();
    const inner = field.resolvedType instanceof protobuf.Type ? arbitrary(field.resolvedType) : undefined;
    const optional = inner !== undefined && field.resolvedType?.name !== 'Timestamp';
    const single: fc.Arbitrary<unknown> =
      inner ?? { string, bytes, bool: fc.boolean(), int32, int64, uint64: fc.nat() }[field.type] ?? fc.nat();
    if (field instanceof protobuf.MapField) model[field.name] = mapOf(single);
    else if (field.repeated)
      model[field.name] = field.type === 'string' ? strings : fc.array(single, { maxLength: 3 });
    else if (optional || optionalTimestamps.has(field.name) || field.options?.['proto3_optional'] === true) {
      model[field.name] = fc.option(single, { nil: undefined });
    } else model[field.name] = single;
  }
  return fc.record(model);
}

const optionalTimestamps = new Set(['closedAt', 'completedAt']);

const messages: [string, Message<never>][] = [
  ['RepositoryData', records.repositoryMessage],
  ['BranchData', records.branchMessage],
  ['TagData', records.tagMessage],
  ['CommitData', records.commitMessage],
  ['GarbageCollectionRules', records.gcRulesMessage],
  ['BranchProtectionRules', records.protectionRulesMessage],
  ['ImportStatusData', records.importStatusMessage],
  ['RepoMetadata', records.repoMetadataMessage],
  ['LinkAddressData', records.linkAddressMessage],
  ['PullRequestData', records.pullRequestMessage],
  ['RangeData', records.rangeMessage],
  ['CommitNode', records.commitNodeMessage],
  ['TaskStatus', records.taskStatusMessage],
  ['RepositoryDumpStatus', records.dumpStatusMessage],
  ['GarbageCollectionPrepareStatus', records.gcPrepareStatusMessage],
  ['CommitAsyncStatusData', records.commitAsyncStatusMessage],
  ['MergeAsyncStatusData', records.mergeAsyncStatusMessage],
  ['InstanceHeartbeat', records.instanceHeartbeatMessage],
  ['GcState', records.gcStateMessage],
  ['GcExternal', records.gcExternalMessage],
  ['GcPin', records.gcPinMessage],
  ['GcKeep', records.gcKeepMessage],
  ['GcQuarantine', records.gcQuarantineMessage],
  ['GcSettings', records.gcSettingsMessage],
  ['GcRun', records.gcRunMessage],
  ['GcForeign', records.gcForeignMessage],
  ['MoveData', records.moveMessage],
  ['GraveData', records.graveMessage],
  ['ReflogSettings', records.reflogSettingsMessage],
  ['UploadData', records.uploadMessage],
  ['UploadPartData', records.uploadPartMessage],
  ['RunResultData', records.runResultMessage],
  ['TaskResultData', records.taskResultMessage],
  ['SecondaryIndex', records.secondaryIndexMessage],
  ['MostlyCorrectOwnership', records.ownershipMessage],
  ['UserData', records.userMessage],
  ['GroupData', records.groupMessage],
  ['PolicyData', records.policyMessage],
  ['CredentialData', records.credentialMessage],
  ['TokenData', records.tokenMessage],
] as unknown as [string, Message<never>][];

/** protobufjs writes proto3 defaults when they are given, so drop them as proto3 does. */
function withoutDefaults(type: protobuf.Type, value: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const field of type.fieldsArray) {
    const given = value[field.name];
    if (given === undefined) continue;
    const inner = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    const strip = (item: unknown): unknown =>
      inner === undefined ? item : withoutDefaults(inner, item as Record<string, unknown>);
    if (field instanceof protobuf.MapField) {
      result[field.name] = Object.fromEntries(
        Object.entries(given as Record<string, unknown>).map(([key, item]) => [key, strip(item)]),
      );
    } else if (Array.isArray(given)) result[field.name] = given.map(strip);
    else if (inner !== undefined) result[field.name] = strip(given);
    else if (field.options?.['proto3_optional'] === true) result[field.name] = given;
    else if (given !== '' && given !== 0 && given !== false && (given as Buffer).length !== 0)
      result[field.name] = given;
  }
  return result;
}

test.each(messages)('%s has the bytes of protobuf and reads back', (name, message) => {
  const type = oracle.lookupType(name);
  fc.assert(
    fc.property(arbitrary(type), (value) => {
      const ours = message.encode(value as never);
      const theirs = Buffer.from(type.encode(type.fromObject(withoutDefaults(type, value))).finish());
      expect(ours.toString('hex')).toBe(theirs.toString('hex'));
      expect(message.encode(message.decode(theirs))).toEqual(ours);
      expect(normalize(message.decode(ours))).toEqual(normalize(value));
    }),
    { numRuns: 60 },
  );
});

/** Prototypes and absent fields do not matter to a reader. */
function normalize(value: unknown): unknown {
  if (Buffer.isBuffer(value)) return value.toString('hex');
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]): [string, unknown] => [key, normalize(item)])
      .toSorted(([left], [right]) => (left < right ? -1 : 1)),
  );
}

test('Entry has the bytes of protobuf; the lazy view and the plain decoder agree', () => {
  const type = oracle.lookupType('Entry');
  const view = new records.EntryView();
  fc.assert(
    fc.property(
      fc.record({
        address: string,
        lastModified: fc.record({ seconds: int64, nanos: fc.nat(999_999_999) }),
        size: int64,
        etag: string,
        metadata: mapOf(string),
        addressType: fc.constantFrom(0 as const, 1 as const, 2 as const),
        contentType: string,
      }),
      (entry) => {
        const ours = records.encodeEntry(entry);
        const theirs = Buffer.from(type.encode(type.fromObject(withoutDefaults(type, entry))).finish());
        expect(ours.toString('hex')).toBe(theirs.toString('hex'));
        const decoded = records.decodeEntry(ours);
        expect(normalize(decoded)).toEqual(normalize(entry));
        view.load(ours);
        const { address, lastModified, size, etag, metadata, addressType, contentType } = view;
        expect(normalize({ address, lastModified, size, etag, metadata, addressType, contentType })).toEqual(
          normalize(decoded),
        );
      },
    ),
    { numRuns: 1000 },
  );
});

test('map keys that look like array indexes are written in byte order too', () => {
  const entry = {
    address: '',
    lastModified: { seconds: 0, nanos: 0 },
    size: 0,
    etag: '',
    addressType: 0 as const,
  };
  const encoded = records.encodeEntry({ ...entry, metadata: { '0': '', '': '', '-': '' }, contentType: '' });
  expect(encoded.toString('hex')).toBe('12002a040a0012002a050a012d12002a050a01301200');
  expect(Object.keys(records.decodeEntry(encoded).metadata)).toHaveLength(3);
});

test('staged entries and tombstones', () => {
  fc.assert(
    fc.property(bytes, bytes, bytes, (key, identity, data) => {
      const type = oracle.lookupType('StagedEntryData');
      const theirs = type.encode(type.fromObject(withoutDefaults(type, { key, identity, data }))).finish();
      const ours = records.encodeStagedEntry(key, identity, data);
      expect(ours.toString('hex')).toBe(Buffer.from(theirs).toString('hex'));
      expect(records.decodeStagedEntry(ours)).toEqual({ key, identity, data });
    }),
  );
  expect(records.encodeTombstone(Buffer.from('a/b/c')).toString('hex')).toBe('0a05612f622f63');
});

test('check bytes of the format', () => {
  expect(
    records.protectionRulesMessage.encode({ patterns: { main: { value: [0, 1] } } }).toString('hex'),
  ).toBe('0a0c0a046d61696e12040a020001');
  expect(
    records.gcRulesMessage
      .encode({ defaultRetentionDays: 21, branchRetentionDays: { main: 28, dev: 9 } })
      .toString('hex'),
  ).toBe('081512070a03646576100912080a046d61696e101c');
  expect(records.repoMetadataMessage.encode({ metadata: { '': '' } }).toString('hex')).toBe('0a040a001200');
});

test('fields of a newer writer survive a rewrite', () => {
  const newer = Buffer.concat([
    records.branchMessage.encode({
      id: 'b',
      commitId: 'c',
      stagingToken: 't',
      sealedTokens: [],
      hidden: false,
      lastMove: Buffer.alloc(0),
    }),
    Buffer.from('ca3e03787978', 'hex'),
  ]);
  const decoded = records.branchMessage.decode(newer);
  expect(
    records.branchMessage.encode({ ...decoded, commitId: 'd' }).includes(Buffer.from('ca3e03787978', 'hex')),
  ).toBe(true);
});

test('integers beyond 2^53 are refused, not rounded', () => {
  const type = oracle.lookupType('RangeData');
  const huge = Buffer.from('18ffffffffffffffff7f', 'hex');
  expect(type.decode(huge)).toBeDefined();
  expect(() => records.rangeMessage.decode(huge)).toThrow('2^53');
  expect(() => records.encodeEntry({ ...emptyEntry, size: 2 ** 53 })).toThrow('2^53');
});

test('cut and malformed records are errors, never wrong values', () => {
  const whole = records.encodeEntry({ ...emptyEntry, address: 'data/x', etag: 'e', size: 300 });
  for (let length = 1; length < whole.length; length += 1) {
    try {
      const decoded = records.decodeEntry(whole.subarray(0, length));
      expect(['', 'data/x']).toContain(decoded.address);
    } catch (error) {
      expect(error).toBeInstanceOf(records.WireError);
    }
  }
});

const emptyEntry: records.Entry = {
  address: '',
  lastModified: { seconds: 0, nanos: 0 },
  size: 0,
  etag: '',
  metadata: {},
  addressType: 0,
  contentType: '',
};

test('record values round trip and keep the signed length form', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 20_000 }), (identity, data) => {
      const value = records.encodeValue(identity, data);
      const decoded = records.decodeValue(Buffer.concat([value, Buffer.from('tail')]));
      expect(decoded.identity.equals(identity)).toBe(true);
      expect(decoded.data.equals(data)).toBe(true);
    }),
    { numRuns: 50 },
  );
  expect(records.encodeValue(Buffer.alloc(32), Buffer.alloc(0))[0]).toBe(0x40);
  expect(records.encodeValue(Buffer.alloc(64), Buffer.alloc(0)).subarray(0, 2).toString('hex')).toBe('8001');
});

test('worked entries of the format', () => {
  const one = {
    ...emptyEntry,
    address: 'data/gk3f7ctl8q3s73frlr8g/d2a4f1tl8q3s73frlr80',
    addressType: 1 as const,
    lastModified: { seconds: 1_700_000_000, nanos: 0 },
    size: 5,
    etag: '5d41402abc4b2a76b9719d911017c592',
    contentType: 'text/plain',
  };
  expect(records.encodeEntry(one).toString('hex')).toBe(
    '0a2e646174612f676b33663763746c38713373373366726c7238672f643261346631746c38713373373366726c72383012060880e2cfaa0618052220356434313430326162633462326137366239373139643931313031376335393230013a0a746578742f706c61696e',
  );
  expect(records.entryIdentity(one).toString('hex')).toBe(
    '1dc941ede8aaf326857527017e6c9199e4a4fc538d7cbc2a79e7d54be35f308e',
  );
  const two = {
    ...emptyEntry,
    address: 's3://ext-bucket/b/two.bin',
    addressType: 2 as const,
    lastModified: { seconds: 1_700_000_001, nanos: 500_000_000 },
    size: 1_048_576,
    etag: 'b6d81b360a5672d80c27430f39153e2c',
    metadata: { b: '2', a: '1' },
  };
  expect(records.encodeEntry(two).toString('hex')).toBe(
    '0a1973333a2f2f6578742d6275636b65742f622f74776f2e62696e120c0881e2cfaa061080cab5ee0118808040222062366438316233363061353637326438306332373433306633393135336532632a060a01611201312a060a01621201323002',
  );
  expect(records.entryIdentity(two).toString('hex')).toBe(
    '27609ce5aba4d741e5315741b3c1b7d38939ea8c99e878804ca3aef507e3f695',
  );
});

test('UTF-8 order of strings equals the order of their bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
      expect(Math.sign(records.compareUtf8(left, right))).toBe(
        Buffer.compare(Buffer.from(left), Buffer.from(right)),
      );
    }),
    { numRuns: 500 },
  );
});
