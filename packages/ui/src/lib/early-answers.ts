import type { FetchPayload, SendRequest } from '@svc/client';

declare global {
  /** What `start.js` asked for before the scripts of the page were there, by address. */
  var svcEarlyAnswers: Map<string, Promise<Response>> | undefined;
}

/** How long after the start of the page an answer stands for one that is asked for now, in milliseconds. */
const goodFor = 10_000;

let answers = globalThis.svcEarlyAnswers;
// From here on the page asks for itself.
globalThis.svcEarlyAnswers = undefined;

/** The answer to a request that was sent before the page was there; each is given once. */
export async function earlyAnswer(request: SendRequest<FetchPayload>): Promise<Response | undefined> {
  if (answers === undefined) return undefined;
  const { method, url, attempt } = request;
  if (method !== 'GET' || performance.now() > goodFor) {
    // Whatever was written may have changed them.
    answers = undefined;
    return undefined;
  }
  const answer = attempt === 1 ? answers.get(url) : undefined;
  answers.delete(url);
  // Somebody may have logged in since; what failed is asked for anew.
  const response = await answer?.catch(() => undefined);
  return response?.ok === true ? response : undefined;
}
