import type { Decision } from '../identity.ts';
import type { Policy, Statement } from '../model.ts';
import type { Requirement } from '../requirement.ts';
import { anonymous, anonymousStatements } from './anonymous.ts';
import { compileCondition, type CompiledCondition, type ConditionContext } from './condition.ts';
import { compileResource, resourceList, type ResourcePattern } from './resource-pattern.ts';
import { StatementIndex, type LeafOutcome } from './statement-index.ts';
import { matcherOf, type Matcher } from './wildcard.ts';

/**
 * The effective policies of one user, or what all policies say of anonymous requests, ready to answer. Statements are indexed once per action (there are about a
 * hundred), when it is first asked for. A statement that cannot be read or judged denies whatever is asked.
 */
export class CompiledPolicies {
  readonly #statements: readonly CompiledStatement[];
  readonly #byAction = new Map<string, StatementIndex>();
  readonly #alwaysBroken: boolean;
  readonly #needsAddress: boolean;
  /** Conditions of statements whose resources cannot be read. */
  readonly #brokenWhen: readonly CompiledCondition[];

  constructor(caller: string | typeof anonymous, policies: readonly Policy[]) {
    const statements = policies.flatMap((policy) => policy.statement);
    this.#statements =
      caller === anonymous
        ? anonymousStatements(statements).map((statement) => compileStatement(statement, ''))
        : statements
            .filter(({ principal }) => principal === undefined)
            .map((statement) => compileStatement(statement, caller));
    const unreadable = this.#statements.filter(({ resources }) => resources === undefined);
    this.#brokenWhen = unreadable
      .map(({ condition }) => condition)
      .filter((each) => typeof each === 'object');
    this.#alwaysBroken =
      unreadable.some(({ condition }) => condition === undefined) ||
      this.#statements.some(({ condition }) => condition === 'unreadable');
    this.#needsAddress = this.#statements.some(
      ({ condition }) => typeof condition === 'object' && condition.needsAddress,
    );
  }

  /** Whether any statement allows anything at all. */
  get allowsAnything(): boolean {
    return this.#statements.some(({ denies, actions }) => !denies && actions.length > 0);
  }

  check(requirement: Requirement, context: ConditionContext): Decision {
    const reasons: Reasons = { denied: [], missing: [] };
    const effect = this.#evaluate(requirement, context, reasons);
    return effect === 'allow' ? allowed : { allowed: false, message: refusal(reasons) };
  }

  isDenied(action: string, resource: string, context: ConditionContext): boolean {
    return this.#leaf(action, resource, context, { denied: [], missing: [] }) === 'deny';
  }

  #evaluate(node: Requirement, context: ConditionContext, reasons: Reasons): Effect {
    switch (node.type) {
      case 'one': {
        const effect = this.#leaf(node.action, node.resource, context, reasons);
        if (effect === 'neutral') reasons.missing.push(node.action);
        return effect;
      }
      case 'soft':
        return this.#leaf(node.action, node.resource, context, reasons) === 'deny' ? 'deny' : 'allow';
      case 'every': {
        const effect = this.#below(node.action, node.start, context, reasons);
        if (effect === 'neutral') reasons.missing.push(node.action);
        return effect;
      }
      case 'soft-every':
        return this.#below(node.action, node.start, context, reasons) === 'deny' ? 'deny' : 'allow';
      case 'and':
        // An `and` of nothing would let everybody in: refuse it like any node we do not know.
        if (node.nodes.length === 0) return 'deny';
        for (const child of node.nodes) {
          const effect = this.#evaluate(child, context, reasons);
          if (effect !== 'allow') return effect;
        }
        return 'allow';
      case 'or': {
        let result: Effect = 'neutral';
        for (const child of node.nodes) {
          const effect = this.#evaluate(child, context, reasons);
          if (effect === 'deny') return 'deny';
          if (effect === 'allow') result = 'allow';
        }
        return result;
      }
      default:
        return 'deny';
    }
  }

  #leaf(action: string, resource: string, context: ConditionContext, reasons: Reasons): Effect {
    if (this.#isBroken(context)) return 'deny';
    return effectOf(this.#indexOf(action).decide(resource, context), reasons);
  }

  #below(action: string, start: string, context: ConditionContext, reasons: Reasons): Effect {
    if (this.#isBroken(context)) return 'deny';
    return effectOf(this.#indexOf(action).decideBelow(start, context), reasons);
  }

  #isBroken(context: ConditionContext): boolean {
    if (this.#alwaysBroken) return true;
    if (this.#needsAddress && context.sourceIp !== undefined && context.sourceIpBytes === undefined)
      return true;
    return this.#brokenWhen.length > 0 && this.#brokenWhen.some((condition) => condition.holds(context));
  }

  #indexOf(action: string): StatementIndex {
    const known = this.#byAction.get(action);
    if (known !== undefined) return known;
    const index = new StatementIndex();
    for (const [order, { denies, actions, resources, condition }] of this.#statements.entries()) {
      const actionPattern = actions.find(({ matches }) => matches(action))?.pattern;
      if (actionPattern === undefined || condition === 'unreadable') continue;
      for (const resource of resources ?? [])
        index.add({ order, denies, actionPattern, condition, resource });
    }
    this.#byAction.set(action, index);
    return index;
  }
}

type Effect = 'allow' | 'neutral' | 'deny';

interface Reasons {
  readonly denied: string[];
  readonly missing: string[];
}

interface CompiledStatement {
  readonly denies: boolean;
  readonly actions: readonly { readonly pattern: string; readonly matches: Matcher }[];
  /** Undefined when the stored list cannot be read. */
  readonly resources: readonly ResourcePattern[] | undefined;
  readonly condition: CompiledCondition | 'unreadable' | undefined;
}

const allowed: Decision = { allowed: true };

function effectOf(outcome: LeafOutcome, reasons: Reasons): Effect {
  if (typeof outcome === 'string') return outcome;
  reasons.denied.push(outcome.deniedBy.actionPattern);
  return 'deny';
}

function compileStatement(statement: Statement, username: string): CompiledStatement {
  return {
    // Anything that is not an allowance is a denial: unknown words must not open doors.
    denies: statement.effect !== 'allow',
    actions: statement.action.map((pattern) => ({ pattern, matches: matcherOf(pattern) })),
    resources: resourceList(statement.resource)
      ?.map((resource) => compileResource(resource, username))
      .filter((resource) => resource !== undefined),
    condition: readCondition(statement),
  };
}

function readCondition(statement: Statement): CompiledCondition | 'unreadable' | undefined {
  if (statement.condition === undefined) return undefined;
  try {
    return compileCondition(statement.condition);
  } catch {
    return 'unreadable';
  }
}

function refusal({ denied, missing }: Reasons): string {
  if (denied.length > 0) return `insufficient permissions: denied permission to ${denied.join(',')}`;
  if (missing.length > 0) return `insufficient permissions: not allowed to ${missing.join(',')}`;
  return 'insufficient permissions: not allowed';
}
