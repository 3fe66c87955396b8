import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuthError } from '../../errors.ts';
import type { Page, PageRequest } from '../../model.ts';
import { pageAmount } from '../../rbac/paging.ts';
import { alreadyExists } from '../../rbac/refusals.ts';
import { callService, type ServiceResponse } from '../service-call.ts';

export interface AuthorizationClientSettings {
  /** With the path that its calls begin with. */
  readonly endpoint: string;
  readonly token: string;
}

export interface Ask {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  readonly body?: object;
  /** What a 404 means. */
  readonly absent?: () => AuthError;
}

export type Json = Readonly<Record<string, unknown>>;

const timeoutMs = 10_000;
/** A page of a thousand policies of full size. */
const maxAnswerBytes = 80 * 1024 * 1024;
const firstWaitMs = 1000;
const longestWaitMs = 5000;

/** Speaks to the authorization service: one call is one question, answered in time or an error. */
export class AuthorizationClient {
  readonly #endpoint: string;
  readonly #token: string;
  readonly #requests = new AsyncLocalStorage<string>();

  constructor({ endpoint, token }: AuthorizationClientSettings) {
    this.#endpoint = endpoint.replace(/\/+$/, '');
    this.#token = token;
  }

  enterRequest(requestId: string): void {
    this.#requests.enterWith(requestId);
  }

  /** The answer to a call that succeeds with this status; other answers are thrown as refusals of ours. */
  async ask(method: string, path: string, success: number, asked: Ask = {}): Promise<Json> {
    const { status, body } = await this.#call(method, path, asked);
    if (status === success) return body ?? {};
    const message = body?.['message'];
    if (status === 400) throw new AuthError('invalid', typeof message === 'string' ? message : 'bad request');
    if (status === 404) throw asked.absent?.() ?? new AuthError('not_found', 'not found');
    if (status === 409) throw alreadyExists();
    throw failed(`${method} ${path} was answered with ${status}`);
  }

  /** As `ask`, undefined for a 404. */
  async askFor(path: string, query?: Ask['query']): Promise<Json | undefined> {
    const { status, body } = await this.#call('GET', path, { query });
    if (status === 404) return undefined;
    if (status === 200 && body !== undefined) return body;
    throw failed(`GET ${path} was answered with ${status}`);
  }

  async page<T>(path: string, page: PageRequest, read: (item: Json) => T, asked: Ask = {}): Promise<Page<T>> {
    const { prefix, after } = page;
    const query = {
      ...asked.query,
      prefix: prefix === '' ? undefined : prefix,
      after: after === '' ? undefined : after,
      amount: pageAmount(page),
    };
    const answer = await this.ask('GET', path, 200, { ...asked, query });
    const { results, pagination } = answer;
    if (!Array.isArray(results) || !isJson(pagination)) throw failed(`GET ${path} gave no list`);
    const { has_more: hasMore, next_offset: nextOffset } = pagination;
    return {
      results: results.map((item: unknown) => {
        if (!isJson(item)) throw failed(`GET ${path} listed something else than objects`);
        return read(item);
      }),
      hasMore: hasMore === true,
      nextOffset: hasMore === true && typeof nextOffset === 'string' ? nextOffset : '',
    };
  }

  /** Every entry of a list, page by page. */
  async all<T>(path: string, read: (item: Json) => T, asked: Ask = {}): Promise<T[]> {
    const found: T[] = [];
    let after = '';
    do {
      const page: Page<T> = await this.page(path, { after, amount: 1000 }, read, asked);
      found.push(...page.results);
      if (page.nextOffset !== '' && page.nextOffset === after) throw failed(`GET ${path} repeats a page`);
      after = page.nextOffset;
    } while (after !== '');
    return found;
  }

  /** Waits until the service is well, and says which version it is. */
  async check(limitMs: number): Promise<void> {
    const end = Date.now() + limitMs;
    let reason = 'it did not answer';
    for (let wait = firstWaitMs; ; wait = Math.min(wait * 2, longestWaitMs)) {
      const left = end - Date.now();
      if (left <= 0) break;
      try {
        const { status } = await this.#call('GET', '/healthcheck', {}, Math.min(left, timeoutMs));
        if (status === 204) return await this.#checkVersion();
        reason = `its health check answered ${status}`;
      } catch (error) {
        if (error instanceof AuthError && error.kind === 'configuration') throw error;
        reason = error instanceof AuthError ? messageOf(error.cause) : messageOf(error);
      }
      await sleep(Math.min(wait, Math.max(0, end - Date.now())));
    }
    throw unusable(`no authorization service at ${this.#endpoint}: ${reason}`);
  }

  async #checkVersion(): Promise<void> {
    const { status, body } = await this.#call('GET', '/config/version', {});
    if (status === 200 && typeof body?.['version'] === 'string') return;
    throw unusable(`${this.#endpoint}/config/version answered ${status} without a version`);
  }

  async #call(
    method: string,
    path: string,
    { query = {}, body }: Ask,
    limitMs = timeoutMs,
  ): Promise<ServiceResponse> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
    try {
      return await callService({
        url: `${this.#endpoint}${path}${search}`,
        method,
        body,
        token: this.#token,
        timeoutMs: limitMs,
        requestId: this.#requests.getStore(),
        maxAnswerBytes,
      });
    } catch (error) {
      // The query may hold a secret: only the path is told.
      throw failed(`${method} ${path} failed: ${messageOf(error)}`);
    }
  }
}

/** A name as one part of a path. Those that a URL reads as directions are no names: throws `invalid`. */
export function segment(name: string): string {
  if (name === '' || name === '.' || name === '..') {
    throw new AuthError('invalid', 'validation error: id must not be empty, "." or ".."');
  }
  return encodeURIComponent(name);
}

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Callers see an internal error; the cause is for the log. */
export function failed(reason: string): AuthError {
  const cause = new Error(`the authorization service failed: ${reason}`);
  return new AuthError('unavailable', 'internal server error', { cause });
}

function unusable(reason: string): AuthError {
  return new AuthError('configuration', `auth.api.endpoint: ${reason}`);
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message !== ''
    ? `${error.message}: ${cause.message}`
    : error.message;
}
