import type { Random } from './random.ts';

/** What an operation of the gateway looks like on the wire. */
export interface S3Operation {
  readonly name: string;
  readonly method: string;
  readonly shape: 'service' | 'bucket' | 'object';
  /** Sub-resource and parameters. */
  readonly query?: (random: Random, uploads: readonly string[]) => string;
  readonly body?: 'object' | 'delete' | 'complete' | 'tagging';
  readonly copies?: true;
}

const unsupportedOfBuckets =
  'acl accelerate analytics cors encryption inventory lifecycle logging metrics notification object-lock ' +
  'ownershipControls policy publicAccessBlock replication requestPayment tagging versions website session';
const unsupportedOfObjects =
  'acl attributes legal-hold retention torrent restore select tagging renameObject';

const hostileIntegers = [
  '0',
  '1',
  '2',
  '1000',
  '10001',
  '-1',
  '+1',
  '01',
  '1.5',
  'x',
  '',
  '99999999999999999999',
  '1e3',
];

function upload(random: Random, uploads: readonly string[]): string {
  const id =
    random.chance(0.85) && uploads.length > 0
      ? random.pick(uploads)
      : random.pick(['', 'x', '../x', '%00', '%ff']);
  return `uploadId=${id}`;
}

const part = (random: Random, uploads: readonly string[]): string =>
  `partNumber=${random.chance(0.7) ? random.pick(['1', '2']) : random.pick(hostileIntegers)}&${upload(random, uploads)}`;

function listing(random: Random): string {
  const parameters: string[] = random.chance(0.5)
    ? ['list-type=2']
    : random.chance(0.1)
      ? ['list-type=3']
      : [];
  const add = (name: string, values: readonly string[]): void => {
    if (random.chance(0.35)) parameters.push(`${name}=${random.pick(values)}`);
  };
  add('prefix', [
    'main/',
    'main',
    'main/dir/',
    'dev/',
    '',
    'none/',
    'main/%00',
    '%ff',
    'main%24/',
    '..%2f',
    'v1/',
  ]);
  add('delimiter', ['%2F', '/', '', 'x', '%00', 'ir']);
  add('max-keys', hostileIntegers);
  add('marker', ['main/a', 'main/', '%00', 'zzz']);
  add('start-after', ['main/a', 'x', '%ff']);
  add('continuation-token', ['x', 'bWFpbi9h', '%00', '====', '']);
  add('encoding-type', ['url', 'xml', '']);
  add('fetch-owner', ['true', 'x']);
  return parameters.join('&');
}

function responseOverrides(random: Random): string {
  if (random.chance(0.7)) return random.chance(0.1) ? `partNumber=${random.pick(hostileIntegers)}` : '';
  const name = random.pick([
    'response-content-type',
    'response-content-disposition',
    'response-cache-control',
    'response-expires',
    'response-content-language',
    'response-content-encoding',
  ]);
  return `${name}=${random.pick(['text%2Fhtml', 'a%0D%0Ax-injected%3A%20y', '%C3%A9', '%FF', '%7F', 'x', '', '%F0%9F%98%80'])}`;
}

const subResource = (names: string) => (random: Random) => random.pick(names.split(' '));

export const s3Operations: readonly S3Operation[] = [
  { name: 'listBuckets', method: 'GET', shape: 'service' },
  { name: 'serviceWrite', method: 'PUT', shape: 'service' },
  { name: 'headBucket', method: 'HEAD', shape: 'bucket' },
  { name: 'createBucket', method: 'PUT', shape: 'bucket' },
  { name: 'deleteBucket', method: 'DELETE', shape: 'bucket' },
  { name: 'listObjects', method: 'GET', shape: 'bucket', query: listing },
  { name: 'listObjects', method: 'GET', shape: 'bucket', query: listing },
  { name: 'getBucketLocation', method: 'GET', shape: 'bucket', query: () => 'location' },
  { name: 'getBucketVersioning', method: 'GET', shape: 'bucket', query: () => 'versioning' },
  {
    name: 'listMultipartUploads',
    method: 'GET',
    shape: 'bucket',
    query: (random) => `uploads&${listing(random)}&key-marker=${random.pick(['', 'main/a', '%00'])}`,
  },
  {
    name: 'bucketSubResource',
    method: 'GET',
    shape: 'bucket',
    query: subResource(unsupportedOfBuckets),
  },
  {
    name: 'bucketSubResource',
    method: 'PUT',
    shape: 'bucket',
    query: subResource(unsupportedOfBuckets),
    body: 'object',
  },
  {
    name: 'bucketSubResource',
    method: 'DELETE',
    shape: 'bucket',
    query: subResource(unsupportedOfBuckets),
  },
  {
    name: 'deleteObjects',
    method: 'POST',
    shape: 'bucket',
    query: () => 'delete',
    body: 'delete',
  },
  { name: 'postForm', method: 'POST', shape: 'bucket', body: 'object' },
  { name: 'headObject', method: 'HEAD', shape: 'object', query: responseOverrides },
  { name: 'getObject', method: 'GET', shape: 'object', query: responseOverrides },
  { name: 'getObject', method: 'GET', shape: 'object', query: responseOverrides },
  { name: 'getObjectTagging', method: 'GET', shape: 'object', query: () => 'tagging' },
  { name: 'putObjectTagging', method: 'PUT', shape: 'object', query: () => 'tagging', body: 'tagging' },
  { name: 'deleteObjectTagging', method: 'DELETE', shape: 'object', query: () => 'tagging' },
  { name: 'getObjectAttributes', method: 'GET', shape: 'object', query: () => 'attributes' },
  { name: 'listParts', method: 'GET', shape: 'object', query: upload },
  {
    name: 'objectSubResource',
    method: 'GET',
    shape: 'object',
    query: subResource(unsupportedOfObjects),
  },
  {
    name: 'objectSubResource',
    method: 'PUT',
    shape: 'object',
    query: subResource(unsupportedOfObjects),
    body: 'object',
  },
  {
    name: 'objectSubResource',
    method: 'POST',
    shape: 'object',
    query: subResource(unsupportedOfObjects),
    body: 'object',
  },
  {
    name: 'objectSubResource',
    method: 'DELETE',
    shape: 'object',
    query: subResource(unsupportedOfObjects),
  },
  { name: 'putObject', method: 'PUT', shape: 'object', body: 'object' },
  { name: 'putObject', method: 'PUT', shape: 'object', body: 'object' },
  { name: 'putObject', method: 'PUT', shape: 'object', body: 'object' },
  { name: 'copyObject', method: 'PUT', shape: 'object', copies: true },
  { name: 'createMultipartUpload', method: 'POST', shape: 'object', query: () => 'uploads' },
  { name: 'uploadPart', method: 'PUT', shape: 'object', query: part, body: 'object' },
  { name: 'uploadPartCopy', method: 'PUT', shape: 'object', query: part, copies: true },
  {
    name: 'completeMultipartUpload',
    method: 'POST',
    shape: 'object',
    query: upload,
    body: 'complete',
  },
  { name: 'abortMultipartUpload', method: 'DELETE', shape: 'object', query: upload },
  { name: 'deleteObject', method: 'DELETE', shape: 'object' },
  { name: 'oddMethod', method: 'PATCH', shape: 'object', body: 'object' },
  { name: 'oddMethod', method: 'OPTIONS', shape: 'bucket' },
];
