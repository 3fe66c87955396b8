interface MainOptions {
  /** This program's entry file, for starting worker processes. */
  readonly program: string;
  readonly argv: readonly string[];
}

/** Marks a process that was started as a worker. */
export const workerArgument = '__worker';

/** Runs one invocation of `svc` and returns its exit code. */
export async function main(options: MainOptions): Promise<number> {
  if (options.argv[0] === workerArgument) {
    const { runWorker } = await import('../processes/worker.ts');
    runWorker({
      roles: {
        http: async () => (await import('../roles/http.ts')).startHttp,
        background: async () => (await import('../roles/background.ts')).startBackground,
      },
    });
    return 0;
  }
  const { runCommand } = await import('./program.ts');
  return runCommand(options);
}
