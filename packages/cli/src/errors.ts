/** A failure the user can fix; printed as it is, exit status 1. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Wrong arguments or flags: printed as `Error: <text>` without the trailer. */
export class UsageError extends CliError {
  override readonly name = 'CliError';
}

/** Ends the program with a status and prints nothing more: a plugin's own status, or an error already shown. */
export class ExitStatus extends Error {
  override readonly name = 'ExitStatus';
  readonly status: number;

  constructor(status: number) {
    super(`exit ${status}`);
    this.status = status;
  }
}
