import { createMemStore, LocalCacheBus, type KvStore } from '@svc/kv';
import { createAuth, type Auth, type AuthOptions, type ClientOrigin, type RequestHead } from '@svc/auth';

export const local: ClientOrigin = { ip: '127.0.0.1', secure: false };
export const actor = { username: 'tester' };

/** Every line the package logs, as text. */
export class LogLines {
  readonly lines: string[] = [];
  debug = (fields: object, message: string) => this.#add('debug', fields, message);
  info = (fields: object, message: string) => this.#add('info', fields, message);
  warn = (fields: object, message: string) => this.#add('warn', fields, message);
  error = (fields: object, message: string) => this.#add('error', fields, message);

  #add(level: string, fields: object, message: string): void {
    this.lines.push(JSON.stringify({ level, ...fields, message }));
  }
}

/** A clock that only moves when told to. */
export class TestClock {
  now = Date.UTC(2026, 0, 2, 3, 4, 5);
  readonly read = (): number => this.now;
}

export interface AuthFixture {
  readonly auth: Auth;
  readonly kv: KvStore;
  readonly clock: TestClock;
  readonly log: LogLines;
}

export async function makeAuth(options: Partial<AuthOptions> = {}): Promise<AuthFixture> {
  const clock = new TestClock();
  const log = new LogLines();
  const kv = (await options.kv) ?? createMemStore();
  const auth = await createAuth({
    cacheBus: new LocalCacheBus(),
    encryptSecretKey: 'a secret of more than sixteen bytes',
    mode: 'internal',
    cache: { enabled: true, size: 1024, ttlMs: 20_000, jitterMs: 3000 },
    loginDurationMs: 168 * 3_600_000,
    loginMaxDurationMs: 168 * 3_600_000,
    clock: clock.read,
    logger: log,
    ...options,
    kv,
  });
  return { auth, kv, clock, log };
}

export function basic(accessKeyId: string, secretAccessKey: string): RequestHead {
  return head({
    authorization: `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}`,
  });
}

export function bearer(token: string): RequestHead {
  return head({ authorization: `Bearer ${token}` });
}

export function head(headers: Record<string, string>, method = 'GET'): RequestHead {
  return { method, headers: { host: 'svc.example', ...headers }, client: local };
}
