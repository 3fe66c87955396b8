import type { StatisticsEvent } from './statistics.ts';

/** The programs that report what they are used for. */
const classes: ReadonlySet<string> = new Set(['svcctl', 'lakectl']);
/** Their names are words of commands. */
const nameForm = /^[a-z0-9_-]{1,64}$/;
/** More than both programs have commands. */
const mostNames = 500;

/**
 * What clients report becomes labels of metrics, which are kept as long as the process lives: only the programs we
 * know, and only so many names. Everything else is counted together.
 */
export class ClientEvents {
  readonly #names = new Set<string>();

  eventOf(reported: { readonly class: string; readonly name: string }): StatisticsEvent {
    const { class: group, name } = reported;
    if (!classes.has(group)) return { class: 'other', name: 'other' };
    const key = `${group} ${name}`;
    if (!this.#names.has(key)) {
      if (this.#names.size >= mostNames || !nameForm.test(name)) return { class: group, name: 'other' };
      this.#names.add(key);
    }
    return { class: group, name };
  }
}
