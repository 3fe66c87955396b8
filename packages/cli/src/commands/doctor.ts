import type { Command } from 'commander';
import { action, type CommandContext } from '../context.ts';
import type { Output } from '../output/output.ts';

const maxSkewMs = 5 * 60_000;

export function register(program: Command): void {
  program
    .command('doctor')
    .description('find out whether the configuration works, and why not')
    .action(
      action<[]>(async (context) => {
        const { out, config, options } = context;
        const report = new Report(out, options.verbose === true);
        report.step('Trying to reach the server with the configured credentials.');
        const diagnosis = await examine(context, report);
        if (diagnosis === undefined) {
          out.line(out.paint('LGTM! Found a valid configuration.', 'green'));
          return;
        }
        out.line(out.paint(diagnosis.text, 'red'));
        out.line(diagnosis.detail);
        report.check(
          'Checking the access key id.',
          /^AKIA[I|J][A-Z0-9]{14}Q$/.test(config.get('credentials.access_key_id')),
          `credentials.access_key_id does not look like an access key id: "${config.get('credentials.access_key_id')}"`,
        );
        report.check(
          'Checking the secret access key.',
          isSecret(config.get('credentials.secret_access_key')),
          'credentials.secret_access_key does not look like a secret access key: 40 characters of base64 are expected',
        );
        const endpoint = config.get('server.endpoint_url');
        report.check(
          'Checking the endpoint URL.',
          isEndpoint(endpoint),
          `server.endpoint_url is suspicious: "${endpoint}" should have no path, or end in /api/v1`,
        );
      }),
    );
}

class Report {
  readonly #out: Output;
  readonly #verbose: boolean;

  constructor(out: Output, verbose: boolean) {
    this.#out = out;
    this.#verbose = verbose;
  }

  step(text: string): void {
    if (this.#verbose) this.#out.line(text);
  }

  check(step: string, fine: boolean, problem: string): void {
    this.step(step);
    if (!fine) this.#out.line(this.#out.paint(problem, 'yellow'));
    else this.step('Found nothing wrong here.');
  }
}

interface Diagnosis {
  readonly text: string;
  readonly detail: string;
}

const wrongUrl = 'It looks like the endpoint URL is wrong.';

async function examine(context: CommandContext, report: Report): Promise<Diagnosis | undefined> {
  const endpoint = context.config.get('server.endpoint_url');
  if (!URL.canParse(endpoint)) {
    return { text: wrongUrl, detail: `"${endpoint}" is not a URL such as http://localhost:8000` };
  }
  try {
    const answer = await context.transport.call({
      method: 'GET',
      path: '/repositories',
      params: { query: { amount: 1 } },
    });
    const body = parseObject(await answer.text());
    if (body === undefined) return { text: wrongUrl, detail: '' };
    if (answer.status === 200) {
      await further(context, report, answer.header('date'));
      return undefined;
    }
    const message = typeof body['message'] === 'string' ? body['message'] : '';
    if (answer.status === 401) {
      return { text: 'It looks like the access key id or the secret access key is wrong.', detail: message };
    }
    return { text: `There is a problem with the configuration in ${context.config.file}.`, detail: message };
  } catch (error) {
    return { text: wrongUrl, detail: error instanceof Error ? error.message : String(error) };
  }
}

/** Checks what works now but may surprise later. */
async function further(context: CommandContext, report: Report, date: string | undefined): Promise<void> {
  const skew = date === undefined ? 0 : Math.abs(Date.now() - Date.parse(date));
  report.check(
    "Comparing the clock with the server's.",
    !(skew > maxSkewMs),
    `the clock differs from the server's by ${Math.round(skew / 60_000)} minutes: signed requests will be refused`,
  );
  if (context.options.verbose !== true) return;
  const { version_config: version, storage_config: storage } = await context.client.get('/config');
  report.step(`The server runs version ${version?.version ?? 'unknown'}.`);
  const presign = storage?.pre_sign_support === true ? 'supports' : 'does not support';
  report.step(`Its storage ${presign} pre-signed URLs.`);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function isSecret(text: string): boolean {
  return text.length === 40 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { pathname } = new URL(text);
  return pathname === '' || pathname === '/' || pathname.endsWith('/api/v1');
}
