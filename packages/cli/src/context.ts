import { createClient, type Client } from '@svc/client';
import type { Command } from 'commander';
import { loadConfig, parseBoolean, type Config } from './config/config.ts';
import { CliError } from './errors.ts';
import { Output } from './output/output.ts';
import { UriParser } from './uri.ts';
import { userAgent } from './version.ts';

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
  #client: Client | undefined;

  constructor(options: GlobalOptions, environment: NodeJS.ProcessEnv = process.env) {
    this.options = options;
    this.out = new Output({
      stdout: process.stdout,
      stderr: process.stderr,
      terminal: isTerminal(options, environment),
      json: options.json === true,
    });
    this.uris = new UriParser(options.baseUri ?? environment['SVCCTL_BASE_URI'] ?? '');
  }

  get config(): Config {
    this.#config ??= loadConfig({ file: this.options.config, environment: process.env });
    return this.#config;
  }

  /** The server's address without `/api/v1`, for links and messages. */
  get endpoint(): string {
    const endpoint = this.config.get('server.endpoint_url');
    if (endpoint === '') {
      throw new CliError('no server is configured: run "svcctl config" or set SVCCTL_SERVER_ENDPOINT_URL');
    }
    if (!URL.canParse(endpoint)) {
      throw new CliError(`server.endpoint_url "${endpoint}" is not a URL such as http://localhost:8000`);
    }
    return endpoint.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
  }

  get client(): Client {
    this.#client ??= createClient({
      endpoint: this.endpoint,
      credentials: {
        accessKeyId: this.config.get('credentials.access_key_id'),
        secretAccessKey: this.config.get('credentials.secret_access_key'),
      },
      clientName: userAgent(),
      retry: {
        attempts: this.config.get('server.retries.enabled')
          ? this.config.get('server.retries.max_attempts') + 1
          : 1,
        baseDelayMs: this.config.get('server.retries.min_wait_interval'),
        maxDelayMs: this.config.get('server.retries.max_wait_interval'),
      },
    });
    return this.#client;
  }
}

function isTerminal(options: GlobalOptions, environment: NodeJS.ProcessEnv): boolean {
  const noColor = environment['NO_COLOR'];
  if (!options.color || (noColor !== undefined && noColor !== '' && noColor !== '0')) return false;
  const forced = environment['SVCCTL_INTERACTIVE'];
  if (forced !== undefined && forced !== '') return parseBoolean(forced) ?? true;
  return process.stdout.isTTY;
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
    await run(context, args, command.opts() as Options);
  };
}
