import type { Requirement } from '@svc/auth';
import type { Call, ServiceCall } from '../call.ts';
import { S3Error } from '../errors/s3-error.ts';
import type { Intent } from '../errors/to-s3-error.ts';
import type { LocatedSource } from '../operations/copy-source.ts';
import type { S3Request } from '../request/s3-request.ts';

/** What a requirement may depend on. */
export interface RequirementInput {
  readonly request: S3Request;
  readonly repository: string;
  readonly path: string;
  /** The bucket stands for a ref. */
  readonly isBound: boolean;
  readonly copySource: LocatedSource;
}

/**
 * What the caller of an operation must be allowed, worked out of the request. `each-key`: the operation asks for every
 * key of its document; `authenticated`: only refusals are answered, to those who may know of the repository.
 */
export type S3Requirement = ((input: RequirementInput) => Requirement) | 'each-key' | 'authenticated';

interface Facts {
  /** Name in metrics and the audit log. */
  readonly id: string;
  /** Name of the usage event. */
  readonly event: string | undefined;
  readonly intent: Intent;
  readonly requires: S3Requirement;
  /** False where `x-amz-checksum-*` speaks of the whole object rather than of the request's body. */
  readonly checksumIsOfBody: boolean;
  /** Allowed although the repository is read-only. */
  readonly allowedReadOnly: boolean;
  /** Served to requests without credentials where a policy allows it. Such operations only read. */
  readonly forAnonymous: boolean;
  /** Finds out by itself what a bound bucket shows. */
  readonly findsShown: boolean;
  /** What is said when there is no such repository. */
  readonly noRepository: () => S3Error;
}

interface OnRepository extends Facts {
  readonly on: 'repository';
  readonly run: (call: Call) => Promise<void> | void;
}

interface OnService extends Facts {
  readonly on: 'service';
  readonly run: (call: ServiceCall) => Promise<void> | void;
}

/** One operation of the S3 protocol: everything that decides how a request for it is treated. */
export type S3Operation = OnRepository | OnService;

/** The facts of an operation that states nothing else. */
const usual = {
  on: 'repository',
  checksumIsOfBody: true,
  allowedReadOnly: false,
  forAnonymous: false,
  findsShown: false,
  noRepository: () => new S3Error('NoSuchBucket'),
} as const;

type WithoutUsual<O> = Omit<O, keyof typeof usual> & Partial<Pick<O, keyof typeof usual & keyof O>>;

export function s3Operation(
  shape: (WithoutUsual<OnRepository> & { on?: 'repository' }) | (WithoutUsual<OnService> & { on: 'service' }),
): S3Operation {
  return { ...usual, ...shape };
}
