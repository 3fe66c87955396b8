/** A failure that is the user's to mend; printed as it is, exit status 1. */
export class CliError extends Error {
  override readonly name = 'CliError';
}

/** Wrong arguments or flags: printed as `Error: <text>` without the trailer. */
export class UsageError extends CliError {
  override readonly name = 'CliError';
}

/** Ends the program with a status and nothing more to say (a plugin's own status, a refusal already printed). */
export class ExitStatus extends Error {
  override readonly name = 'ExitStatus';
  readonly status: number;

  constructor(status: number) {
    super(`exit ${status}`);
    this.status = status;
  }
}
