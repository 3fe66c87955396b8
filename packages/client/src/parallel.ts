/**
 * Works on items as they come, `width` at a time. The first failure stops the others through their signal. It is
 * thrown once all have ended, so that nothing keeps running behind the caller's back.
 */
export async function forEachParallel<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  width: number,
  work: (item: Item, stop: AbortSignal) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const controller = new AbortController();
  const stop = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal]);
  let failure: { error: unknown } | undefined;
  let running = 0;
  let wake: (() => void) | undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    controller.abort(error);
  };
  const end = (): void => {
    running -= 1;
    wake?.();
  };
  const oneHasEnded = (): Promise<void> => new Promise((resolve) => (wake = resolve));
  try {
    for await (const item of items) {
      if (stop.aborted) break;
      running += 1;
      void work(item, stop).catch(fail).finally(end);
      if (running >= width) await oneHasEnded();
    }
  } catch (error) {
    fail(error);
  }
  for (let left = running; left > 0; left = running) await oneHasEnded();
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}
