import type { Decision, RequiredPermission } from '../identity.ts';
import type { Policy, Statement } from '../model.ts';
import type { Requirement } from '../requirement.ts';
import { anonymous, anonymousStatements } from './anonymous.ts';
import { compileCondition, type CompiledCondition, type ConditionContext } from './condition.ts';
import { compileResource, resourceList, type ResourcePattern } from './resource-pattern.ts';
import { StatementIndex, type Verdict } from './statement-index.ts';
import { matcherOf, type Matcher } from './wildcard.ts';

/**
 * The effective policies of one user, or what all policies say of anonymous requests, ready to answer. Statements are indexed once per action (there are about a
 * hundred), when it is first asked for. A statement that cannot be read or judged denies whatever is asked.
 */
export class CompiledPolicies {
  readonly #statements: readonly CompiledStatement[];
  readonly #byAction = new Map<string, StatementIndex>();
  /** Cannot be read at all, wherever the request comes from. */
  readonly #alwaysBroken: CompiledStatement | undefined;
  /** Has a condition that compares addresses. */
  readonly #needsAddress: CompiledStatement | undefined;
  /** Their resources cannot be read, which counts while their condition holds. */
  readonly #brokenWhen: readonly (CompiledStatement & { readonly condition: CompiledCondition })[];

  constructor(caller: string | typeof anonymous, policies: readonly Policy[]) {
    this.#statements = policies.flatMap(({ id, statement: statements }) =>
      statements.flatMap((statement, index) =>
        statementsFor(caller, statement).map((each) =>
          compileStatement(each, caller === anonymous ? '' : caller, { policyId: id, index }),
        ),
      ),
    );
    const unreadable = this.#statements.filter(({ resources }) => resources === undefined);
    this.#brokenWhen = unreadable.filter((each) => hasCondition(each));
    this.#alwaysBroken =
      unreadable.find(({ condition }) => condition === undefined) ??
      this.#statements.find(({ condition }) => condition === 'unreadable');
    this.#needsAddress = this.#statements.find((each) => hasCondition(each) && each.condition.needsAddress);
  }

  /** Whether any statement allows anything at all. */
  get allowsAnything(): boolean {
    return this.#statements.some(({ denies, actions }) => !denies && actions.length > 0);
  }

  check(requirement: Requirement, context: ConditionContext): Decision {
    return this.#decide(requirement, context, noReasons());
  }

  /** As `check` of one leaf, with the statement that decided; there is none where no statement speaks of it. */
  explain(action: string, resource: string, context: ConditionContext): ExplainedDecision {
    const reasons = noReasons();
    const decision = this.#decide({ type: 'one', action, resource }, context, reasons);
    return { decision, decidedBy: reasons.decidedBy };
  }

  isDenied(action: string, resource: string, context: ConditionContext): boolean {
    return this.#leaf(action, resource, context, noReasons()) === 'deny';
  }

  /** Whether the action may be allowed on some resource that begins with `start`. */
  maySome(action: string, start: string, context: ConditionContext): boolean {
    if (this.#brokenBy(context) !== undefined) return false;
    return this.#indexOf(action).decideSomeBelow(start, context).effect === 'allow';
  }

  #decide(requirement: Requirement, context: ConditionContext, reasons: Reasons): Decision {
    const effect = this.#evaluate(requirement, context, reasons);
    if (effect === 'allow') return allowed;
    const message = refusal(reasons);
    return reasons.refused === undefined
      ? { allowed: false, message }
      : { allowed: false, message, required: reasons.refused };
  }

  #evaluate(node: Requirement, context: ConditionContext, reasons: Reasons): Effect {
    switch (node.type) {
      case 'one': {
        const effect = this.#leaf(node.action, node.resource, context, reasons);
        if (effect === 'neutral') reasons.missing.push(node.action);
        if (effect !== 'allow') reasons.refused = { action: node.action, resource: node.resource };
        return effect;
      }
      case 'soft': {
        const effect = this.#leaf(node.action, node.resource, context, reasons);
        if (effect !== 'deny') return 'allow';
        reasons.refused = { action: node.action, resource: node.resource };
        return 'deny';
      }
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
    const broken = this.#brokenBy(context);
    if (broken !== undefined) return brokenEffect(broken, reasons);
    return this.#effectOf(this.#indexOf(action).decide(resource, context), reasons);
  }

  #below(action: string, start: string, context: ConditionContext, reasons: Reasons): Effect {
    const broken = this.#brokenBy(context);
    if (broken !== undefined) return brokenEffect(broken, reasons);
    return this.#effectOf(this.#indexOf(action).decideBelow(start, context), reasons);
  }

  #effectOf(verdict: Verdict, reasons: Reasons): Effect {
    const { effect, decidedBy } = verdict;
    if (decidedBy === undefined) return effect;
    reasons.decidedBy = this.#statements[decidedBy.order]?.place;
    if (effect === 'deny') reasons.denied.push(decidedBy.actionPattern);
    return effect;
  }

  /** The statement that cannot be judged, and so denies everything. */
  #brokenBy(context: ConditionContext): CompiledStatement | undefined {
    if (this.#alwaysBroken !== undefined) return this.#alwaysBroken;
    if (
      this.#needsAddress !== undefined &&
      context.sourceIp !== undefined &&
      context.sourceIpBytes === undefined
    )
      return this.#needsAddress;
    if (this.#brokenWhen.length === 0) return undefined;
    return this.#brokenWhen.find(({ condition }) => condition.holds(context));
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
  decidedBy: StatementPlace | undefined;
  /** The leaf that was refused last. */
  refused: RequiredPermission | undefined;
}

function noReasons(): Reasons {
  return { denied: [], missing: [], decidedBy: undefined, refused: undefined };
}

/** Where a statement stands. */
export interface StatementPlace {
  readonly policyId: string;
  /** Counted from 0. */
  readonly index: number;
}

export interface ExplainedDecision {
  readonly decision: Decision;
  readonly decidedBy: StatementPlace | undefined;
}

interface CompiledStatement {
  readonly place: StatementPlace;
  readonly denies: boolean;
  readonly actions: readonly { readonly pattern: string; readonly matches: Matcher }[];
  /** Undefined when the stored list cannot be read. */
  readonly resources: readonly ResourcePattern[] | undefined;
  readonly condition: CompiledCondition | 'unreadable' | undefined;
}

const allowed: Decision = { allowed: true };

function brokenEffect({ place }: CompiledStatement, reasons: Reasons): Effect {
  reasons.decidedBy = place;
  return 'deny';
}

function hasCondition(
  statement: CompiledStatement,
): statement is CompiledStatement & { readonly condition: CompiledCondition } {
  return typeof statement.condition === 'object';
}

/** What a statement says of the caller: itself, a part of itself, or nothing. */
function statementsFor(caller: string | typeof anonymous, statement: Statement): readonly Statement[] {
  if (caller === anonymous) return anonymousStatements([statement]);
  return statement.principal === undefined ? [statement] : [];
}

function compileStatement(statement: Statement, username: string, place: StatementPlace): CompiledStatement {
  return {
    place,
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
