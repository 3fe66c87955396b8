import type { IncomingMessage } from 'node:http';
import type { ClientOrigin, Identity } from '@svc/auth';
import type { Repository } from '@svc/engine';
import type { RequestBody } from './body/request-body.ts';
import type { Reply } from './reply.ts';
import type { LocatedSource } from './operations/copy-source.ts';
import type { BoundKey } from './routing/bucket.ts';
import type { S3Request } from './request/s3-request.ts';
import type { RequestRecord, Services } from './services.ts';

/** One authenticated and authorized request, as an operation sees it. */
export interface Call {
  readonly services: Services;
  readonly message: IncomingMessage;
  readonly request: S3Request;
  readonly reply: Reply;
  readonly identity: Identity;
  readonly client: ClientOrigin;
  /** The signature came in the query, so some query items act like headers. */
  readonly presigned: boolean;
  readonly repository: Repository;
  readonly ref: string;
  readonly path: string;
  /** The name the client uses for it. */
  readonly bucket: string;
  /** Set when the bucket stands for a ref; then keys have none. */
  readonly bound: BoundKey | undefined;
  /** What a bound bucket shows to this request; absent also where the operation finds it out by itself. */
  readonly commitId: string | undefined;
  readonly copySource: LocatedSource;
  /** `/r/main/` rather than `/r/main`. */
  readonly slashAfterRef: boolean;
  readonly virtualHost: boolean;
  readonly host: string;
  readonly body: RequestBody;
  /** The client waits for `100 Continue`, which is sent when the body is first read. */
  readonly expectsContinue: boolean;
  readonly record: RequestRecord;
  /** The caller must not learn whether the repository exists. Call `reveal` when one of their rights is found. */
  readonly concealed: boolean;
  readonly reveal: () => void;
}

/** A call on the service itself (`/`). */
export type ServiceCall = Omit<
  Call,
  'repository' | 'ref' | 'path' | 'bucket' | 'bound' | 'commitId' | 'copySource'
>;

/** The key of the call as its client knows it. */
export function keyOf({ bound, ref, path }: Call): string {
  return bound === undefined ? `${ref}/${path}` : bound.key;
}
