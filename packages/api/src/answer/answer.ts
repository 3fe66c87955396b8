import type { Writable } from 'node:stream';

export type AnswerHeaders = Readonly<Record<string, string | number | readonly string[]>>;

/** A body that is written as it comes. */
export interface SentBody {
  sendTo(sink: Writable): Promise<void>;
}

/** An answer that is more than the operation's usual status with a JSON body. */
export class Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** Undefined is an empty body. */
  readonly body: string | Uint8Array | SentBody | undefined;
  /** Called once the whole body was handed to the system, never otherwise. Its memory may then be reused. */
  readonly sent: (() => void) | undefined;

  constructor(
    status: number,
    headers: AnswerHeaders = {},
    body?: string | Uint8Array | SentBody,
    sent?: () => void,
  ) {
    this.status = status;
    this.headers = headers;
    this.body = body;
    this.sent = sent;
  }

  static json(status: number, value: unknown, headers: AnswerHeaders = {}): Answer {
    return new Answer(status, { ...jsonHeaders, ...headers }, JSON.stringify(value));
  }
}

export const jsonHeaders = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
} as const;
