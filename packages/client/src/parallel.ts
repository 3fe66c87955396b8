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
  const running = new Set<Promise<void>>();
  const fail = (error: unknown): void => {
    failure ??= { error };
    controller.abort(error);
  };
  try {
    for await (const item of items) {
      if (stop.aborted) break;
      const task: Promise<void> = work(item, stop)
        .catch(fail)
        .finally(() => running.delete(task));
      running.add(task);
      if (running.size >= width) await Promise.race(running);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  signal?.throwIfAborted();
  if (failure !== undefined) throw failure.error;
}
