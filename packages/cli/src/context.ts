import { apiUrlOf, createCalls, type Calls, type RetrySettings } from '@svc/client';
import type { Command } from 'commander';
import { credentialsOf } from './auth/credentials.ts';
import { loadConfig, type Config } from './config/config.ts';
import { CliError } from './errors.ts';
import { createNodeTransport, type NodeTransport } from './http/transport.ts';
import { Log } from './log.ts';
import { Output } from './output/output.ts';
import { countUse } from './statistics.ts';
import { isTerminal } from './terminal.ts';
import { UriParser } from './uri.ts';

/** Flags every command takes. */
export interface GlobalOptions {
  readonly baseUri?: string;
  readonly config?: string;
  readonly logFormat?: string;
  readonly logLevel?: string;
  readonly logOutput?: readonly string[];
  readonly color: boolean;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

/** What a command works with. Configuration and client are made when first asked for. */
export class CommandContext {
  readonly options: GlobalOptions;
  readonly out: Output;
  readonly uris: UriParser;
  #config: Config | undefined;
  #transport: NodeTransport | undefined;
  #client: Calls | undefined;

  constructor(options: GlobalOptions, environment: NodeJS.ProcessEnv = process.env) {
    this.options = options;
    this.out = new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      terminal: isTerminal(options.color, environment),
      json: options.json === true,
    });
    this.uris = new UriParser(options.baseUri ?? environment['SVCCTL_BASE_URI'] ?? '');
  }

  get config(): Config {
    this.#config ??= loadConfig({ file: this.options.config, environment: process.env });
    return this.#config;
  }

  /** The API's address: `/api/v1` is added to an endpoint without a path. */
  get apiUrl(): string {
    const endpoint = this.config.get('server.endpoint_url');
    if (endpoint === '') {
      throw new CliError('no server is configured: run "svcctl config" or set SVCCTL_SERVER_ENDPOINT_URL');
    }
    if (!URL.canParse(endpoint)) {
      throw new CliError(`server.endpoint_url "${endpoint}" is not a URL such as http://localhost:8000`);
    }
    return apiUrlOf(endpoint);
  }

  /** The server's address without `/api/v1`, for links and messages. */
  get endpoint(): string {
    return this.apiUrl.replace(/\/api\/v1$/, '');
  }

  get transport(): NodeTransport {
    this.#transport ??= createNodeTransport(
      {
        endpoint: this.apiUrl,
        credentials: credentialsOf(this.config, this.apiUrl),
        retry: this.#retrySettings(),
      },
      new Log(this.options),
    );
    return this.#transport;
  }

  get client(): Calls {
    this.#client ??= createCalls(this.transport);
    return this.#client;
  }

  /** Waits are as the configuration says, and as long as the server asks. */
  #retrySettings(): RetrySettings {
    const { config } = this;
    return {
      attempts: config.get('server.retries.enabled') ? config.get('server.retries.max_attempts') + 1 : 1,
      minWaitMs: config.get('server.retries.min_wait_interval'),
      maxWaitMs: config.get('server.retries.max_wait_interval'),
      jitter: false,
      maxRetryAfterMs: Number.POSITIVE_INFINITY,
    };
  }
}

type Action<Args extends readonly unknown[], Options> = (
  context: CommandContext,
  args: Args,
  options: Options,
) => Promise<void> | void;

/** Adapts a command's function to commander: positional arguments as one tuple, then its own flags. */
export function action<Args extends readonly unknown[], Options = object>(
  run: Action<Args, Options>,
): (...parameters: unknown[]) => Promise<void> {
  return async (...parameters) => {
    const command = parameters.at(-1) as Command;
    const args = parameters.slice(0, -2) as unknown as Args;
    const context = new CommandContext(command.optsWithGlobals<GlobalOptions>());
    countUse(context, command);
    await run(context, args, command.opts() as Options);
  };
}
