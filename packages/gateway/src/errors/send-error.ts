import type { Reply } from '../reply.ts';
import { element, errorDocument } from '../xml/write.ts';
import type { S3Error } from './s3-error.ts';

/** What the error document says about the request. */
export interface ErrorSubject {
  readonly requestId: string;
  readonly hostId: string;
  readonly region: string;
  readonly repository: string | undefined;
  readonly ref: string | undefined;
  readonly path: string | undefined;
}

export function sendError(
  reply: Reply,
  error: S3Error,
  subject: ErrorSubject,
  headers: Record<string, string>,
): void {
  const { repository, ref, path } = subject;
  const onObject = ref !== undefined;
  if (repository !== undefined && !onObject) headers['x-amz-bucket-region'] = subject.region;
  Object.assign(headers, error.headers);
  const document = errorDocument(
    element('Code', error.code) +
      element('Message', error.message) +
      element('Key', path === '' ? undefined : path) +
      element('BucketName', repository) +
      element('Resource', repository === undefined ? '' : onObject ? `${ref}@${repository}` : repository) +
      element('Region', repository === undefined ? undefined : subject.region) +
      error.elements.map(([name, text]) => element(name, text)).join('') +
      element('RequestId', subject.requestId) +
      element('HostId', subject.hostId),
  );
  reply.xml(error.status, document, headers);
}
