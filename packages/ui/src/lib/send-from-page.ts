import { answerOfFetch, ConnectionError, sendByFetch } from '@svc/client';
import type { Answer, FetchPayload, FetchStream, Sender, SendRequest } from '@svc/client';
import { earlyAnswer } from './early-answers.ts';

/** `fetch` cannot tell how much of a body was sent; the older interface can. */
export const sendFromPage: Sender<FetchPayload, FetchStream> = async (request) => {
  const early = await earlyAnswer(request);
  if (early !== undefined) return answerOfFetch(early);
  return request.onBytes === undefined ? sendByFetch(request) : sendWithProgress(request);
};

function sendWithProgress(request: SendRequest<FetchPayload>): Promise<Answer<FetchStream>> {
  const { method, url, headers, body, signal, onBytes } = request;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const exchange = new XMLHttpRequest();
    const cancel = (): void => exchange.abort();
    let sent = 0;
    exchange.open(method, url);
    for (const [name, value] of Object.entries(headers)) exchange.setRequestHeader(name, value);
    exchange.upload.addEventListener('progress', ({ loaded }) => {
      onBytes?.(loaded - sent);
      sent = loaded;
    });
    exchange.addEventListener('load', () => resolve(answerOf(exchange)));
    exchange.addEventListener('error', () => {
      reject(new ConnectionError('network error while sending', { sent: true, cause: undefined }));
    });
    exchange.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
    exchange.addEventListener('loadend', () => signal?.removeEventListener('abort', cancel));
    signal?.addEventListener('abort', cancel);
    exchange.send(body as XMLHttpRequestBodyInit | undefined);
  });
}

/** Answers to uploads are short; nobody reads them as a stream. */
function answerOf(exchange: XMLHttpRequest): Answer<FetchStream> {
  return {
    status: exchange.status,
    header: (name) => exchange.getResponseHeader(name) ?? undefined,
    body: null,
    text: () => Promise.resolve(exchange.responseText),
    discard: () => undefined,
  };
}
