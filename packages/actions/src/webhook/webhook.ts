import type { Outgoing } from '@svc/outgoing';
import type { ActionHook } from '../file/index.ts';
import { shown, substitute, type EnvironmentAccess, type HookText } from '../running/environment.ts';
import { ConstructionError, HookFailure } from '../running/errors.ts';
import { jsonText, payloadOf } from '../running/hook-event.ts';
import type { Hook } from '../running/hook.ts';
import { Properties } from '../running/properties.ts';
import { sendLogged, shownUrl } from './http-log.ts';

const defaultTimeoutMs = 60_000;

type Named = readonly [name: string, text: HookText];

/** Posts the event to a URL; any answer from 200 to 299 passes. */
export function createWebhook(
  { properties: values }: ActionHook,
  { outgoing, environment }: { readonly outgoing: Outgoing; readonly environment: EnvironmentAccess },
): Hook {
  const properties = new Properties(values);
  const url = properties.text('url');
  const timeoutMs = properties.timeout('timeout', defaultTimeoutMs);
  const queryParams = namedTexts(properties.map('query_params'), environment, 'reading query param', true);
  const given = namedTexts(properties.map('headers'), environment, 'reading header', false);
  const headers: Named[] = byName([
    ...given.filter(([name]) => name.toLowerCase() !== 'content-type'),
    ['Content-Type', { value: 'application/json', isSecret: false }],
  ]);
  return {
    async run(running) {
      const { output, signal } = running;
      const body = jsonText(payloadOf(running, new Date()));
      output.write(`Request:\nPOST ${shownUrl(url)}\n`);
      output.write(`Query Params:\n${linesOf(queryParams)}`);
      output.write(`Headers:\n${linesOf(headers)}`);
      output.write(`Request Body:\n${body}\n\n\n`);
      const answer = await sendLogged(
        outgoing,
        {
          url: withQuery(url, queryParams),
          method: 'POST',
          headers: headersOf(headers),
          body,
          timeoutMs,
          signal,
        },
        output,
      );
      if (answer.status < 200 || answer.status > 299) {
        throw new HookFailure(`webhook request failed (status code: ${answer.status})`);
      }
    },
  };
}

/** A map of texts, or of lists of them where several are allowed, with variables put in, sorted by name. */
function namedTexts(
  values: Readonly<Record<string, unknown>>,
  environment: EnvironmentAccess,
  what: string,
  allowsLists: boolean,
): Named[] {
  const named = Object.entries(values).flatMap(([name, value]) =>
    (allowsLists && Array.isArray(value) ? (value as unknown[]) : [value]).map((item): Named => {
      if (typeof item !== 'string') throw new ConstructionError(`${what}: '${name}': wrong value type`);
      try {
        return [name, substitute(item, environment)];
      } catch (error) {
        throw new ConstructionError(`${what}: ${(error as Error).message}`, { cause: error });
      }
    }),
  );
  return byName(named);
}

function byName(named: readonly Named[]): Named[] {
  return named.toSorted(([left], [right]) => (left < right ? -1 : left > right ? 1 : 0));
}

function linesOf(named: readonly Named[]): string {
  return named.map(([name, text]) => `${name}: ${shown(text)}\n`).join('');
}

function headersOf(named: readonly Named[]): Record<string, string> {
  return Object.fromEntries(named.map(([name, { value }]) => [name, value]));
}

/** What the URL brings along and the parameters, sorted by name. A URL that cannot be read is refused when it is called. */
function withQuery(text: string, params: readonly Named[]): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  const query = new URLSearchParams(url.search);
  for (const [name, { value }] of params) query.append(name, value);
  query.sort();
  url.search = query.toString();
  return url.href;
}
