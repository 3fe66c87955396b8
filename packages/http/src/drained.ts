import type { IncomingMessage } from 'node:http';

const maxBytes = 64 * 1024 * 1024;
const maxMs = 10_000;
/** A client that sends nothing for this long has seen the answer, or never will. */
const maxSilenceMs = 2000;

/**
 * Reads and drops the rest of a refused body, within bounds. Closing with unread bytes would reset the connection, and
 * a client that sends everything before it reads would never see the answer.
 */
export function drained(message: IncomingMessage): Promise<void> {
  if (message.readableEnded || message.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const giveUp = performance.now() + maxMs;
    let length = 0;
    const finish = (): void => {
      clearTimeout(timer);
      message.off('data', onData).off('end', finish).off('close', finish);
      resolve();
    };
    const onData = (data: Buffer): void => {
      length += data.length;
      if (length > maxBytes || performance.now() > giveUp) finish();
      else timer.refresh();
    };
    const timer = setTimeout(finish, maxSilenceMs);
    // The former reader has given the body up.
    message.removeAllListeners('data');
    message.on('data', onData).on('end', finish).on('close', finish).resume();
  });
}
