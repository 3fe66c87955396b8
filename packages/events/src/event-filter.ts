import type { EventData } from '@svc/encoding';
import { EventsError } from './errors.ts';
import { eventTypes, isHidden, repositoryOf } from './event.ts';
import type { Segment } from './segment.ts';

export interface EventFilterOptions {
  readonly repository?: string | undefined;
  /** Names of types, a trailing `*` stands for anything. */
  readonly types?: readonly string[] | undefined;
  readonly subject?: string | undefined;
  readonly user?: string | undefined;
  readonly showHidden?: boolean | undefined;
}

const maxTypes = 100;

/** Which events somebody asks for. What they may see is another question. */
export class EventFilter {
  readonly #options: EventFilterOptions;
  readonly #types: ReadonlySet<string> | undefined;
  readonly #subject: (subject: string) => boolean;

  constructor(options: EventFilterOptions) {
    this.#options = options;
    this.#types = typesOf(options.types ?? []);
    this.#subject = matcherOf(options.subject ?? '');
  }

  /** False when nothing in the segment can match. */
  mayMatch({ repositories }: Segment): boolean {
    const { repository } = this.#options;
    return repository === undefined || repositories.has(repository);
  }

  matches(event: EventData): boolean {
    const { repository, user, showHidden } = this.#options;
    if (repository !== undefined && repositoryOf(event) !== repository) return false;
    if (this.#types !== undefined && !this.#types.has(event.type)) return false;
    if (!this.#subject(event.subject)) return false;
    if (user !== undefined && user !== '' && event.user !== user) return false;
    return showHidden === true || !isHidden(event);
  }
}

/** Undefined: all of them. */
function typesOf(patterns: readonly string[]): ReadonlySet<string> | undefined {
  if (patterns.length === 0) return undefined;
  if (patterns.length > maxTypes) throw new EventsError('invalid', `types: at most ${maxTypes} may be given`);
  const types = new Set<string>();
  for (const pattern of patterns) {
    const matches = matcherOf(pattern);
    const found = eventTypes.filter(matches);
    if (pattern === '' || found.length === 0) {
      throw new EventsError(
        'invalid',
        `types: '${pattern}' is no type of event, such as svc.branch.moved or svc.tag.*`,
      );
    }
    for (const type of found) types.add(type);
  }
  return types;
}

function matcherOf(pattern: string): (text: string) => boolean {
  if (pattern === '') return () => true;
  if (!pattern.endsWith('*')) return (text) => text === pattern;
  const start = pattern.slice(0, -1);
  return (text) => text.startsWith(start);
}
