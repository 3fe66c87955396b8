import { createCalls } from './calls.ts';
import type { Calls } from './calls.ts';
import { sendByFetch } from './fetch-sender.ts';
import type { FetchPayload, FetchStream } from './fetch-sender.ts';
import { createObjectTransfer } from './object-transfer.ts';
import type { ObjectTransfer } from './object-transfer.ts';
import type { Sender } from './sender.ts';
import { createTransport } from './transport.ts';
import type { ConnectionOptions } from './transport.ts';

export interface ClientOptions extends ConnectionOptions {
  /** Sends the requests; by the platform's `fetch` when absent. */
  readonly sender?: Sender<FetchPayload, FetchStream> | undefined;
}

/** The typed client. */
export interface Client extends Calls {
  /** Streams objects to and from a repository. */
  readonly objects: ObjectTransfer;
}

export function createClient(options: ClientOptions): Client {
  const transport = createTransport(options, options.sender ?? sendByFetch);
  return { ...createCalls(transport), objects: createObjectTransfer(transport) };
}
