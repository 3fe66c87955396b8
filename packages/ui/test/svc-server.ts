import { chattyLogging, startSvcProcess } from '@svc/testing';

export interface SvcServer {
  readonly url: string;
  readonly home: string;
  stop(): Promise<void>;
}

/** Starts the server as `npm start` does, in its own home folder. */
export async function startSvc(
  preset: '--quickstart' | '--local-settings',
  env: Record<string, string> = {},
): Promise<SvcServer> {
  const { url, home, child, stop } = await startSvcProcess({
    args: [preset],
    env: { ...chattyLogging, ...env },
  });
  return {
    url,
    home,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
      await stop();
      clearTimeout(timer);
    },
  };
}
