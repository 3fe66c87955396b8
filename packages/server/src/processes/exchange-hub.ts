import type { Question, Role, ToPrimary, ToWorker } from './messages.ts';

/** A process as the hub sees it. */
export interface Member {
  readonly role: Role;
  send(message: ToWorker): void;
}

interface OpenQuestion {
  readonly asker: Member;
  readonly id: number;
  readonly waiting: Set<Member>;
  readonly values: unknown[];
  readonly timer: NodeJS.Timeout;
}

interface HubOptions {
  /** A member that is alive but silent holds nobody up for longer than this. */
  readonly patienceMs: number;
  readonly onSilence: (question: Question, silent: number) => void;
}

/**
 * Runs in the primary: hands news of one process on, a question to all others and the answers back. A member that dies
 * counts as having answered, so a question never hangs.
 */
export class ExchangeHub {
  readonly #options: HubOptions;
  readonly #members = new Set<Member>();
  readonly #open = new Map<number, OpenQuestion>();
  /** Answers that processes which have ended would still give. */
  readonly #legacies = new Map<Question, () => readonly unknown[]>();
  #seq = 0;

  constructor(options: HubOptions) {
    this.#options = options;
  }

  join(member: Member): void {
    this.#members.add(member);
  }

  leave(member: Member): void {
    this.#members.delete(member);
    for (const [seq, question] of this.#open) {
      if (question.asker === member) this.#close(seq, question, false);
      else if (question.waiting.delete(member) && question.waiting.size === 0)
        this.#close(seq, question, true);
    }
  }

  addLegacy(question: Question, values: () => readonly unknown[]): void {
    this.#legacies.set(question, values);
  }

  receive(member: Member, message: Extract<ToPrimary, { type: 'ask' | 'answer' | 'tell' }>): void {
    if (message.type === 'tell') this.#tell(member, message);
    else if (message.type === 'ask') this.#ask(member, message.id, message.question, message.payload);
    else this.#answer(member, message.seq, message.value);
  }

  #tell(teller: Member, { to, news, payload }: Extract<ToPrimary, { type: 'tell' }>): void {
    for (const member of this.#members) {
      if (member !== teller && member.role === to) member.send({ type: 'told', news, payload });
    }
  }

  #ask(asker: Member, id: number, question: Question, payload: unknown): void {
    const others = [...this.#members].filter((member) => member !== asker);
    const values = [...(this.#legacies.get(question)?.() ?? [])];
    if (others.length === 0) {
      asker.send({ type: 'answers', id, values });
      return;
    }
    const seq = ++this.#seq;
    const timer = setTimeout(() => {
      const open = this.#open.get(seq);
      if (open === undefined) return;
      this.#options.onSilence(question, open.waiting.size);
      this.#close(seq, open, true);
    }, this.#options.patienceMs);
    timer.unref();
    this.#open.set(seq, { asker, id, waiting: new Set(others), values, timer });
    for (const member of others) member.send({ type: 'asked', seq, question, payload });
  }

  #answer(member: Member, seq: number, value: unknown): void {
    const open = this.#open.get(seq);
    if (open === undefined || !open.waiting.delete(member)) return;
    if (value !== undefined && value !== null) open.values.push(value);
    if (open.waiting.size === 0) this.#close(seq, open, true);
  }

  #close(seq: number, open: OpenQuestion, answer: boolean): void {
    clearTimeout(open.timer);
    this.#open.delete(seq);
    if (answer) open.asker.send({ type: 'answers', id: open.id, values: open.values });
  }
}
