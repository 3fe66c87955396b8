import type { S3ErrorCode } from './codes.ts';
import { errorCodes } from './codes.ts';

export interface S3ErrorOptions extends ErrorOptions {
  /** When the code is used with another status than its usual one. */
  readonly status?: number;
  /** Extra elements of the error document. */
  readonly elements?: readonly (readonly [name: string, text: string])[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The one kind of refusal the gateway answers with: an S3 code, its status and a message for the user. */
export class S3Error extends Error {
  override readonly name = 'S3Error';
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly elements: readonly (readonly [name: string, text: string])[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: S3ErrorCode, message?: string, options?: S3ErrorOptions) {
    super(message ?? errorCodes[code].message, options);
    this.code = code;
    this.status = options?.status ?? errorCodes[code].status;
    this.elements = options?.elements ?? [];
    this.headers = options?.headers ?? {};
  }
}
