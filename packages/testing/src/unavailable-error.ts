/** A server or tool that cannot be had on this machine; the message says what is missing. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/**
 * Runs `make`; when the thing cannot be had on this machine, says so loudly and answers undefined so that the
 * suite can be reported as skipped. With CI=true it is a failure instead.
 */
export async function orSkipReason<T>(what: string, make: () => Promise<T>): Promise<T | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof UnavailableError) || process.env['CI'] === 'true') throw error;
    process.stderr.write(`\nSKIPPED: the tests that need ${what} do not run here: ${error.message}\n`);
    return undefined;
  }
}
