const lookMs = 250;

/** Calls back once when the process that started this one has ended. */
export function whenOrphaned(orphaned: () => void): void {
  const { ppid } = process;
  const timer = setInterval(() => {
    if (process.ppid === ppid) return;
    clearInterval(timer);
    orphaned();
  }, lookMs).unref();
}
