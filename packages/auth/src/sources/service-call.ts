export interface ServiceRequest {
  readonly url: string;
  /** By default `POST`. */
  readonly method?: string;
  readonly body?: object | undefined;
  /** Sent as bearer token. */
  readonly token?: string | undefined;
  readonly timeoutMs: number;
  readonly requestId?: string | undefined;
  /** By default 64 KiB. */
  readonly maxAnswerBytes?: number;
}

export interface ServiceResponse {
  readonly status: number;
  /** Undefined when the answer is not one JSON object. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
}

const usualAnswerBytes = 65_536;

/**
 * Calls a service that the operator has configured. Redirections are not followed: what is sent are secrets. Throws
 * when there is no answer in time, or one that is too long.
 */
export async function callService(request: ServiceRequest): Promise<ServiceResponse> {
  const { method = 'POST', body, token, requestId, maxAnswerBytes = usualAnswerBytes } = request;
  const response = await fetch(request.url, {
    method,
    redirect: 'manual',
    headers: {
      accept: 'application/json',
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(requestId !== undefined && { 'x-request-id': requestId }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(request.timeoutMs),
  });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array;
    length += bytes.length;
    if (length > maxAnswerBytes) throw new Error(`the answer is longer than ${maxAnswerBytes} bytes`);
    chunks.push(bytes);
  }
  return { status: response.status, body: jsonObject(Buffer.concat(chunks).toString('utf8')) };
}

function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
