import { CliError } from './errors.ts';

/** Runs work that a SIGINT or SIGTERM ends in an orderly way: the signal aborts, the error says `message`. */
export async function cancellable<T>(message: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const cancel = (): void => {
    controller.abort(new CliError(message));
  };
  process.on('SIGINT', cancel);
  process.on('SIGTERM', cancel);
  try {
    const result = await work(controller.signal);
    controller.signal.throwIfAborted();
    return result;
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error;
  } finally {
    process.off('SIGINT', cancel);
    process.off('SIGTERM', cancel);
  }
}
