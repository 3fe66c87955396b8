import type { Decision } from '../identity.ts';
import type { Policy, Statement } from '../model.ts';
import type { Requirement } from '../requirement.ts';
import { compileCondition, type ConditionCheck, type ConditionContext } from './condition.ts';
import {
  compileResource,
  parseArn,
  resourceList,
  type RequiredResource,
  type ResourceMatcher,
} from './resource-pattern.ts';
import { compilePattern, type Matcher } from './wildcard.ts';

/**
 * The effective policies of one user, ready to answer. Statements are narrowed by action once per action (there
 * are about a hundred), so a check only looks at the resources of the statements that speak of its action.
 */
export class CompiledPolicies {
  readonly #statements: readonly CompiledStatement[];
  readonly #byAction = new Map<string, readonly ActionStatement[]>();

  constructor(username: string, policies: readonly Policy[]) {
    this.#statements = policies.flatMap((policy) =>
      policy.statement.map((statement) => compileStatement(statement, username)),
    );
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
    const required: RequiredResource = { text: resource, arn: parseArn(resource) };
    let seen = false;
    for (const statement of this.#statementsOf(action)) {
      if (seen && statement.onlyAllows) continue;
      if (statement.condition !== undefined) {
        const outcome = evaluateCondition(statement.condition, context);
        if (outcome === 'error') return 'deny';
        if (outcome === 'no') continue;
      }
      if (statement.resources === undefined) return 'deny';
      if (!statement.resources.some((matches) => matches(required))) continue;
      if (statement.effect === 'deny') {
        reasons.denied.push(statement.pattern);
        return 'deny';
      }
      seen = true;
    }
    return seen ? 'allow' : 'neutral';
  }

  #statementsOf(action: string): readonly ActionStatement[] {
    const known = this.#byAction.get(action);
    if (known !== undefined) return known;
    const found: ActionStatement[] = [];
    for (const statement of this.#statements) {
      const pattern = statement.actions.find(({ matches }) => matches(action))?.pattern;
      // A statement that cannot be read denies whatever is asked, and so does a condition that fails to evaluate.
      const broken = statement.condition === 'broken' || statement.resources === undefined;
      const conditional = typeof statement.condition === 'function';
      if (pattern === undefined && !broken && !conditional) continue;
      found.push({
        effect: statement.effect,
        onlyAllows: statement.effect === 'allow' && statement.condition === undefined && !broken,
        condition: statement.condition,
        resources: pattern === undefined && !broken ? [] : statement.resources,
        pattern: pattern ?? '',
      });
    }
    this.#byAction.set(action, found);
    return found;
  }
}

type Effect = 'allow' | 'neutral' | 'deny';

interface Reasons {
  readonly denied: string[];
  readonly missing: string[];
}

interface CompiledStatement {
  readonly effect: 'allow' | 'deny';
  readonly actions: readonly { readonly pattern: string; readonly matches: Matcher }[];
  /** Undefined when the stored list cannot be read. */
  readonly resources: readonly ResourceMatcher[] | undefined;
  readonly condition: ConditionCheck | 'broken' | undefined;
}

interface ActionStatement {
  readonly effect: 'allow' | 'deny';
  /** It can add nothing once the action is allowed. */
  readonly onlyAllows: boolean;
  readonly pattern: string;
  readonly resources: readonly ResourceMatcher[] | undefined;
  readonly condition: ConditionCheck | 'broken' | undefined;
}

const allowed: Decision = { allowed: true };

function compileStatement(statement: Statement, username: string): CompiledStatement {
  return {
    // Anything that is not an allowance is a denial: unknown words must not open doors.
    effect: statement.effect === 'allow' ? 'allow' : 'deny',
    actions: statement.action.map((pattern) => ({ pattern, matches: compilePattern(pattern) })),
    resources: resourceList(statement.resource)?.map((resource) => compileResource(resource, username)),
    condition: readCondition(statement),
  };
}

function readCondition(statement: Statement): ConditionCheck | 'broken' | undefined {
  if (statement.condition === undefined) return undefined;
  try {
    return compileCondition(statement.condition);
  } catch {
    return 'broken';
  }
}

function evaluateCondition(
  condition: ConditionCheck | 'broken',
  context: ConditionContext,
): 'yes' | 'no' | 'error' {
  if (condition === 'broken') return 'error';
  try {
    return condition(context) ? 'yes' : 'no';
  } catch {
    return 'error';
  }
}

function refusal({ denied, missing }: Reasons): string {
  if (denied.length > 0) return `insufficient permissions: denied permission to ${denied.join(',')}`;
  if (missing.length > 0) return `insufficient permissions: not allowed to ${missing.join(',')}`;
  return 'insufficient permissions: not allowed';
}
