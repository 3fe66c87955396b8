import { setTimeout as delay } from 'node:timers/promises';
import { request, type Dispatcher } from 'undici';
import { BlockError } from '../errors.ts';
import { backOffMs, connectionFailure, headerOf } from './connection.ts';

export interface AccessToken {
  readonly token: string;
  readonly expiration: Date | undefined;
}

type TokenBody = Readonly<Record<string, string>> | string;

interface TokenRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form, or as it is; made of the time where that is signed. */
  readonly body?: TokenBody | ((now: Date) => TokenBody);
  /** Who is asked, for messages. */
  readonly from: string;
}

const attempts = 4;
const timeoutMs = 10_000;
/** Clocks that differ more than this are why a signature was refused. */
const tolerableSkewMs = 60_000;

/**
 * Asks an identity service, which answers in JSON. It is asked again while it is busy or cannot be reached; a refusal
 * is `forbidden`. Requests may be secret, so messages hold only what the service says.
 */
export async function askIdentity(asked: TokenRequest): Promise<Record<string, unknown>> {
  let clockOffsetMs = 0;
  for (let attempt = 1; ; attempt++) {
    let failure: string;
    const now = new Date(Date.now() + clockOffsetMs);
    const made = typeof asked.body === 'function' ? asked.body(now) : asked.body;
    const form = typeof made === 'object';
    const body = form ? new URLSearchParams(made).toString() : made;
    try {
      const response = await request(asked.url, {
        method: asked.method,
        headers: {
          ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
          ...asked.headers,
        },
        body: body ?? null,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      });
      const answer = await readAnswer(response);
      if (response.statusCode < 300) return answer;
      failure = `${asked.from} answered ${response.statusCode}${told(answer)}`;
      if (response.statusCode < 500 && response.statusCode !== 429) {
        const offset = Date.parse(headerOf(response, 'date') ?? '') - Date.now();
        const isSkewed =
          typeof asked.body === 'function' && Math.abs(offset - clockOffsetMs) > tolerableSkewMs;
        if (!isSkewed) throw new BlockError('forbidden', failure);
        clockOffsetMs = offset;
        continue;
      }
    } catch (error) {
      if (error instanceof BlockError) throw error;
      failure = `${asked.from} could not be reached: ${connectionFailure(error) ?? String(error)}`;
    }
    if (attempt === attempts) throw new BlockError('unavailable', failure);
    await delay(backOffMs(attempt));
  }
}

/** The usual answer of a token service. */
export function accessToken(answer: Readonly<Record<string, unknown>>, from: string): AccessToken {
  const { access_token: token, expires_in: seconds, expires_on: end } = answer;
  if (typeof token !== 'string' || token === '')
    throw new BlockError('forbidden', `${from} answered without a token`);
  const lifeMs = Number(seconds) * 1000;
  const endMs = Number.isFinite(lifeMs) ? Date.now() + lifeMs : Number(end) * 1000;
  return { token, expiration: Number.isFinite(endMs) ? new Date(endMs) : undefined };
}

async function readAnswer(response: Dispatcher.ResponseData): Promise<Record<string, unknown>> {
  const text = await response.body.text();
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function told({ error, error_description: description, message }: Record<string, unknown>): string {
  const inner = (error as { message?: unknown } | undefined)?.message;
  const words = [inner ?? error, description ?? message].filter((word) => typeof word === 'string');
  return words.length === 0 ? '' : `: ${words.join(': ').split('\n', 1)[0]?.trim()}`;
}
