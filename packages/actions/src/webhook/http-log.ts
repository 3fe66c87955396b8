import { OutgoingError, type Outgoing, type OutgoingAnswer, type OutgoingRequest } from '@svc/outgoing';
import { formatDuration } from '../running/duration.ts';
import { HookFailure } from '../running/errors.ts';
import type { HookOutput } from '../running/hook-output.ts';

/** No receiver has that much to say; one that goes on and on fails its hook. */
const maxAnswerBytes = 64 * 1024 ** 2;
/** What of an answer is kept for the log, or for reading it. */
const keepBytes = 10 * 1024 ** 2;
const maxRedirects = 10;
/** The longest wait of a timer: no limit. */
const longestMs = 2 ** 31 - 1;

export type LoggedRequest = Pick<
  OutgoingRequest,
  'url' | 'method' | 'headers' | 'body' | 'timeoutMs' | 'signal'
>;

/** Sends a request and logs how long it took and what was answered. Throws `HookFailure` when nothing was. */
export async function sendLogged(
  outgoing: Outgoing,
  request: LoggedRequest,
  output: HookOutput,
): Promise<OutgoingAnswer> {
  const started = performance.now();
  const timeoutMs = request.timeoutMs === 0 ? longestMs : Math.min(request.timeoutMs, longestMs);
  try {
    const answer = await outgoing.send({ ...request, timeoutMs, maxAnswerBytes, keepBytes, maxRedirects });
    output.write(`Request duration: ${formatDuration(performance.now() - started)}\n`);
    output.write('\nResponse:\n');
    output.write(headOf(answer));
    output.write(answer.body);
    return answer;
  } catch (error) {
    output.write(`Request duration: ${formatDuration(performance.now() - started)}\n`);
    if (error instanceof OutgoingError) throw new HookFailure(error.message, { cause: error });
    throw error;
  }
}

/** The head of an answer as it was received. */
function headOf({ httpVersion, status, statusText, rawHeaders }: OutgoingAnswer): string {
  const lines = [`HTTP/${httpVersion} ${status} ${statusText}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    lines.push(`${rawHeaders[index] ?? ''}: ${rawHeaders[index + 1] ?? ''}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A URL for logs: a password in it is not shown. */
export function shownUrl(url: string): string {
  return url.replace(/^(\w+:\/\/[^/?#@:]*):[^/?#@]*@/, '$1:*******@');
}
