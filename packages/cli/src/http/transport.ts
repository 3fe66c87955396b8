import { createTransport, type ConnectionOptions, type Transport } from '@svc/client';
import type { Log } from '../log.ts';
import { userAgent } from '../version.ts';
import type { AnswerBody } from './answer-body.ts';
import { createNodeSender, type Payload } from './node-sender.ts';

export type NodeTransport = Transport<Payload, AnswerBody>;

/** Connects the tool to its server. */
export function createNodeTransport(
  options: Pick<ConnectionOptions, 'endpoint' | 'credentials' | 'retry'>,
  log: Log,
): NodeTransport {
  const clientName = userAgent();
  return createTransport(
    { ...options, clientName, headers: { 'user-agent': clientName } },
    createNodeSender(log),
  );
}
