/** A request to the S3 gateway: object `dir/a` of branch main unless it says otherwise. */
export interface GatewayRow {
  readonly requires: string;
  readonly method: string;
  readonly path: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly perPath?: true;
}

const upload = 'partNumber=1&uploadId=no-such-upload';

/** By the names of the gateway's own operations; several rows of one operation carry a suffix. */
export const gatewayMatrix: Readonly<Record<string, GatewayRow>> = {
  listBuckets: { requires: 'fs:ListRepositories@*', method: 'GET', path: '/' },
  headBucket: { requires: 'fs:ReadRepository@R', method: 'HEAD', path: '/repo1' },
  createBucket: { requires: 'fs:CreateRepository@R', method: 'PUT', path: '/repo1' },
  'listObjects of branches': {
    requires: 'fs:ListBranches@R',
    method: 'GET',
    path: '/repo1',
    query: 'delimiter=%2F',
  },
  'listObjects of a branch name': {
    requires: 'fs:ListObjects@R & ?fs:ListBranches@R',
    method: 'GET',
    path: '/repo1',
    query: 'delimiter=%2F&list-type=2&prefix=ma',
  },
  listObjects: {
    requires: 'fs:ListObjects@R',
    method: 'GET',
    path: '/repo1',
    query: 'list-type=2&prefix=main%2F',
  },
  getBucketLocation: { requires: 'fs:ListObjects@R', method: 'GET', path: '/repo1', query: 'location=' },
  getBucketVersioning: { requires: 'fs:ListObjects@R', method: 'GET', path: '/repo1', query: 'versioning=' },
  listMultipartUploads: { requires: 'fs:ListObjects@R', method: 'GET', path: '/repo1', query: 'uploads=' },
  deleteObjects: {
    requires: 'fs:DeleteObject@O(dir/gone)',
    method: 'POST',
    path: '/repo1',
    query: 'delete=',
    body: '<Delete><Object><Key>main/dir/gone</Key></Object></Delete>',
    perPath: true,
  },
  headObject: { requires: 'fs:ReadObject@O(dir/a)', method: 'HEAD', path: '/repo1/main/dir/a' },
  getObject: { requires: 'fs:ReadObject@O(dir/a)', method: 'GET', path: '/repo1/main/dir/a' },
  'getObject through an alias': {
    requires: 'fs:ReadObject@O(dir/a)',
    method: 'GET',
    path: '/prod/dir/a',
  },
  'listObjects through an alias': {
    requires: 'fs:ListObjects@R',
    method: 'GET',
    path: '/prod',
    query: 'delimiter=%2F&list-type=2',
  },
  'putObject through an alias': {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'PUT',
    path: '/prod/dir/s3',
    body: 'content',
  },
  'copyObject through an alias': {
    requires: 'fs:WriteObject@O(dir/s3) & fs:ReadObject@O(dir/a)',
    method: 'PUT',
    path: '/prod/dir/s3',
    headers: { 'x-amz-copy-source': 'prod/dir/a' },
  },
  getObjectTagging: {
    requires: 'fs:ReadObject@O(dir/a)',
    method: 'GET',
    path: '/repo1/main/dir/a',
    query: 'tagging=',
  },
  getObjectAttributes: {
    requires: 'fs:ReadObject@O(dir/a)',
    method: 'GET',
    path: '/repo1/main/dir/a',
    query: 'attributes=',
    headers: { 'x-amz-object-attributes': 'ETag,ObjectSize' },
  },
  putObjectTagging: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'PUT',
    path: '/repo1/main/dir/s3',
    query: 'tagging=',
    body: '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>',
  },
  deleteObjectTagging: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'DELETE',
    path: '/repo1/main/dir/s3',
    query: 'tagging=',
  },
  getObjectVersioning: {
    requires: 'fs:ReadObject@O(dir/a)',
    method: 'GET',
    path: '/repo1/main/dir/a',
    query: 'versioning=',
  },
  listParts: {
    requires: 'fs:ReadObject@O(dir/a)',
    method: 'GET',
    path: '/repo1/main/dir/a',
    query: 'uploadId=no-such-upload',
  },
  putObject: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'PUT',
    path: '/repo1/main/dir/s3',
    body: 'content',
  },
  copyObject: {
    requires: 'fs:WriteObject@O(dir/s3) & fs:ReadObject@O(dir/a)',
    method: 'PUT',
    path: '/repo1/main/dir/s3',
    headers: { 'x-amz-copy-source': '/repo1/main/dir/a' },
  },
  uploadPart: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'PUT',
    path: '/repo1/main/dir/s3',
    query: upload,
    body: 'content',
  },
  uploadPartCopy: {
    requires: 'fs:WriteObject@O(dir/s3) & fs:ReadObject@O(dir/a)',
    method: 'PUT',
    path: '/repo1/main/dir/s3',
    query: upload,
    headers: { 'x-amz-copy-source': '/repo1/main/dir/a' },
  },
  createMultipartUpload: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'POST',
    path: '/repo1/main/dir/s3',
    query: 'uploads=',
  },
  completeMultipartUpload: {
    requires: 'fs:WriteObject@O(dir/s3)',
    method: 'POST',
    path: '/repo1/main/dir/s3',
    query: 'uploadId=no-such-upload',
    body: '<CompleteMultipartUpload></CompleteMultipartUpload>',
  },
  abortMultipartUpload: {
    requires: 'fs:DeleteObject@O(dir/s3)',
    method: 'DELETE',
    path: '/repo1/main/dir/s3',
    query: 'uploadId=no-such-upload',
  },
  deleteObject: { requires: 'fs:DeleteObject@O(dir/gone)', method: 'DELETE', path: '/repo1/main/dir/gone' },
  'unknown repository': { requires: 'fs:ListRepositories@*', method: 'GET', path: '/nowhere/main/dir/a' },
};
