/** A test server as its host holds it. `stop` and `start` are for tests of lost and restarted servers. */
export interface RunningServer {
  readonly address: Readonly<Record<string, string>>;
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Stops for good and removes its files. */
  dispose(): Promise<void>;
}
