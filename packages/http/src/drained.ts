import type { IncomingMessage } from 'node:http';

const maxBytes = 64 * 1024 * 1024;
const maxMs = 10_000;
/** A client that sends nothing for this long has seen the answer, or never will. */
const maxSilenceMs = 2000;

/**
 * Reads a bounded rest of a refused body away: closing with unread bytes would reset the connection, and a client
 * that sends first and reads then would never see the answer.
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
    // Whoever read the body before has given it up.
    message.removeAllListeners('data');
    message.on('data', onData).on('end', finish).on('close', finish).resume();
  });
}
