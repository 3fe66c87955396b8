import { ApiError, ClientError } from './errors.ts';
import type { Answer } from './sender.ts';

/** What a successful answer holds; undefined when it is empty. */
export async function decode(answer: Answer<unknown>): Promise<unknown> {
  const text = await answer.text();
  if (text === '') return undefined;
  const type = answer.header('content-type');
  if (type?.startsWith('text/plain') === true || type === 'application/octet-stream') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new ClientError('Bad response from server');
  }
}

/** Throws the refusal in an answer. */
export async function checkSuccess(answer: Answer<unknown>): Promise<void> {
  if (answer.status < 200 || answer.status >= 300) throw await refusalOf(answer);
}

/** Fails unless the status is one of these: any other success is unexpected. */
export async function expectStatus(answer: Answer<unknown>, ...expected: number[]): Promise<void> {
  if (expected.includes(answer.status)) return;
  await checkSuccess(answer);
  answer.discard();
  throw new ClientError(`the server answered ${answer.status}, expected ${expected.join(' or ')}`);
}

async function refusalOf(answer: Answer<unknown>): Promise<ApiError> {
  const body = parseJson(await textOf(answer));
  const said = (body as { message?: unknown } | null | undefined)?.message;
  const message = typeof said === 'string' && said !== '' ? said : `the server answered ${answer.status}`;
  return new ApiError(answer.status, message, {
    requestId: answer.header('x-request-id'),
    body,
    required: requiredIn(answer.header('x-svc-required')),
  });
}

function requiredIn(header: string | undefined) {
  const [action, resource] = header?.split(' ') ?? [];
  if (action === undefined || resource === undefined) return undefined;
  try {
    return { action, resource: decodeURI(resource) };
  } catch {
    // Only an advice: no reason to hide the refusal itself.
    return undefined;
  }
}

/** The status says enough when the connection breaks before the message has come. */
async function textOf(answer: Answer<unknown>): Promise<string> {
  try {
    return await answer.text();
  } catch {
    return '';
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
