import { ApiError } from '@svc/client';
import { CliError } from '../errors.ts';
import { readAll, type HttpResponse } from './http-sender.ts';

/** The refusal in an answer of the API. */
export async function refusalOf(answer: HttpResponse): Promise<ApiError> {
  const text = (await readAll(answer.stream).catch(() => Buffer.alloc(0))).toString('utf8');
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined;
  }
  const said = (body as { message?: unknown } | undefined)?.message;
  return new ApiError(answer.status, typeof said === 'string' ? said : '', { body });
}

/** Fails unless the status is the expected one; another success is no success. */
export async function expectStatus(answer: HttpResponse, ...expected: number[]): Promise<void> {
  if (expected.includes(answer.status)) return;
  if (answer.status < 200 || answer.status >= 300) throw await refusalOf(answer);
  answer.stream.resume();
  throw new CliError(`the server answered ${answer.status}, expected ${expected.join(' or ')}`);
}
