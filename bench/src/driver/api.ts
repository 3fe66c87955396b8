export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Single calls of the HTTP API, timed one by one. */
export class Api {
  readonly endpoint: URL;
  readonly authorization: string;

  constructor(endpoint: URL, credentials: Credentials) {
    this.endpoint = endpoint;
    const pair = `${credentials.accessKeyId}:${credentials.secretAccessKey}`;
    this.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(new URL(`/api/v1${path}`, this.endpoint), {
      method,
      headers: {
        authorization: this.authorization,
        ...(body !== undefined && {
          'content-type': isBytes ? 'application/octet-stream' : 'application/json',
        }),
      },
      ...(body !== undefined && { body: isBytes ? Uint8Array.from(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    try {
      return JSON.parse(text) as T;
    } catch {
      return text as T;
    }
  }

  upload(repository: string, branch: string, path: string, body: Uint8Array): Promise<unknown> {
    const target = `/repositories/${repository}/branches/${branch}/objects?path=${encodeURIComponent(path)}`;
    return this.call('POST', target, body);
  }
}

export async function timed<T>(work: () => Promise<T>): Promise<{ milliseconds: number; result: T }> {
  const started = performance.now();
  const result = await work();
  return { milliseconds: performance.now() - started, result };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
