import type { CompiledCondition, ConditionContext } from './condition.ts';
import { parseArn, type ResourcePattern } from './resource-pattern.ts';

/** One resource of one statement that speaks of the action. */
export interface IndexedStatement {
  /** Position among all statements; the first denial is the one reported. */
  readonly order: number;
  readonly denies: boolean;
  /** The action as the statement writes it. */
  readonly actionPattern: string;
  readonly condition: CompiledCondition | undefined;
  readonly resource: ResourcePattern;
}

/**
 * The statements that speak of one action, found by what their resources begin with: the cost of a check follows
 * the number of different lengths of such beginnings, not the number of statements.
 */
export class StatementIndex {
  readonly #everywhere: IndexedStatement[] = [];
  readonly #scopes = new Map<string, Map<string, PrefixIndex>>();

  add(statement: IndexedStatement): void {
    const { resource } = statement;
    if (resource === 'everything') {
      this.#everywhere.push(statement);
      return;
    }
    const accounts = this.#scopes.get(resource.service) ?? new Map<string, PrefixIndex>();
    this.#scopes.set(resource.service, accounts);
    const prefixes = accounts.get(resource.account) ?? new PrefixIndex();
    accounts.set(resource.account, prefixes);
    prefixes.add(statement, resource.wildcard.prefix, resource.wildcard.matchesRest);
  }

  /**
   * Decides for every resource that begins with `start` at once: allowed when one statement allows all of them and none
   * denies any. Several allowances that cover them only together do not count.
   */
  decideBelow(start: string, context: ConditionContext): Verdict {
    return this.#below(start, context, ({ denies }) => denies);
  }

  /**
   * Decides whether any resource that begins with `start` may be allowed: one statement allows some of them and none
   * denies them all. Denials that cover what is allowed only together do not count.
   */
  decideSomeBelow(start: string, context: ConditionContext): Verdict {
    return this.#below(start, context, ({ denies }) => !denies);
  }

  /** Statements that cover all resources below `start` count; those that cover some, where `countsPartly` says so. */
  #below(
    start: string,
    context: ConditionContext,
    countsPartly: (statement: IndexedStatement) => boolean,
  ): Verdict {
    const verdict = new Verdict(context);
    for (const statement of this.#everywhere) verdict.consider(statement);
    const arn = parseArn(start);
    const statements = arn && this.#scopes.get(arn.service)?.get(arn.account)?.all();
    for (const statement of statements ?? []) {
      if (statement.resource === 'everything' || arn === undefined) continue;
      const overlap = statement.resource.wildcard.below(arn.resource);
      if (overlap === 'all' || (overlap === 'some' && countsPartly(statement))) verdict.consider(statement);
    }
    return verdict;
  }

  decide(resource: string, context: ConditionContext): Verdict {
    const verdict = new Verdict(context);
    for (const statement of this.#everywhere) verdict.consider(statement);
    const arn = parseArn(resource);
    if (arn !== undefined) this.#scopes.get(arn.service)?.get(arn.account)?.collect(arn.resource, verdict);
    return verdict;
  }
}

/** What the statements say of one leaf, and which of them decided: the first denial, else the first allowance. */
export class Verdict {
  readonly #context: ConditionContext;
  #denial: IndexedStatement | undefined;
  #allowance: IndexedStatement | undefined;

  constructor(context: ConditionContext) {
    this.#context = context;
  }

  /** Called for every statement whose resource matches. */
  consider(statement: IndexedStatement): void {
    const sooner = statement.denies ? this.#denial : this.#allowance;
    if (sooner !== undefined && sooner.order <= statement.order) return;
    if (statement.condition?.holds(this.#context) === false) return;
    if (statement.denies) this.#denial = statement;
    else this.#allowance = statement;
  }

  get effect(): 'allow' | 'neutral' | 'deny' {
    if (this.#denial !== undefined) return 'deny';
    return this.#allowance === undefined ? 'neutral' : 'allow';
  }

  get decidedBy(): IndexedStatement | undefined {
    return this.#denial ?? this.#allowance;
  }
}

interface PrefixEntry {
  readonly statement: IndexedStatement;
  readonly matchesRest: (text: string) => boolean;
}

class PrefixIndex {
  readonly #byLength = new Map<number, Map<string, PrefixEntry[]>>();

  add(statement: IndexedStatement, prefix: string, matchesRest: (text: string) => boolean): void {
    const prefixes = this.#byLength.get(prefix.length) ?? new Map<string, PrefixEntry[]>();
    this.#byLength.set(prefix.length, prefixes);
    const entries = prefixes.get(prefix) ?? [];
    prefixes.set(prefix, entries);
    entries.push({ statement, matchesRest });
  }

  *all(): Generator<IndexedStatement> {
    for (const prefixes of this.#byLength.values()) {
      for (const entries of prefixes.values()) for (const { statement } of entries) yield statement;
    }
  }

  collect(text: string, verdict: Verdict): void {
    for (const [length, prefixes] of this.#byLength) {
      if (length > text.length) continue;
      const entries = prefixes.get(text.slice(0, length));
      if (entries === undefined) continue;
      for (const { statement, matchesRest } of entries) {
        if (matchesRest(text)) verdict.consider(statement);
      }
    }
  }
}
