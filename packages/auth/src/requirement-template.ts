import { and, type Requirement } from './requirement.ts';

/**
 * The requirement of an operation with placeholders, as the API contract declares it beside each route (the
 * same shape, held equal by its type). Placeholders are `{path.x}`, `{query.x}`, `{body.x.y}` and, inside
 * `each`, `{item.x}` or `{item}`.
 */
export type RequirementTemplate =
  | { readonly type: 'one' | 'soft'; readonly action: string; readonly resource: string }
  | { readonly type: 'and' | 'or'; readonly nodes: readonly RequirementTemplate[] }
  | { readonly type: 'each'; readonly of: string; readonly node: RequirementTemplate }
  | {
      readonly type: 'choose';
      readonly query: string;
      readonly whenTrue: RequirementTemplate;
      readonly otherwise: RequirementTemplate;
    }
  | { readonly type: 'deferred'; readonly reason: string; readonly node: RequirementTemplate };

/** The decoded, validated parts of a request that a template may speak of. */
export interface TemplateValues {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** What a request needs before its operation starts; undefined when everything is left to the operation. */
export type RequirementOf = (values: TemplateValues) => Requirement | undefined;

/**
 * Takes a template apart once, for all requests of its operation. A placeholder without a value is a programming error
 * and throws.
 */
export function requirementOf(template: RequirementTemplate): RequirementOf {
  return compile(template) as unknown as RequirementOf;
}

type Values = Readonly<Record<string, unknown>>;
type Filled = (values: Values) => Requirement | undefined;

function compile(template: RequirementTemplate): Filled {
  switch (template.type) {
    case 'one':
    case 'soft': {
      const { type, action } = template;
      const resource = compileResource(template.resource);
      return (values) => ({ type, action, resource: resource(values) });
    }
    case 'and':
    case 'or': {
      const { type } = template;
      const parts = template.nodes.map(compile);
      return (values) => {
        const nodes = parts.map((part) => part(values)).filter((node) => node !== undefined);
        return nodes.length <= 1 ? nodes[0] : { type, nodes };
      };
    }
    case 'each': {
      const { of } = template;
      const part = compile(template.node);
      return (values) => {
        const items = lookUp(['body', of], values);
        if (!Array.isArray(items)) throw new TypeError(`"${of}" is not a list in the body`);
        const nodes = items
          .map((item: unknown) => part({ ...values, item }))
          .filter((node) => node !== undefined);
        return nodes.length === 0 ? undefined : and(...nodes);
      };
    }
    case 'choose': {
      const { query } = template;
      const [whenTrue, otherwise] = [compile(template.whenTrue), compile(template.otherwise)];
      return (values) => (lookUp(['query', query], values) === true ? whenTrue : otherwise)(values);
    }
    case 'deferred':
      return () => undefined;
  }
}

function compileResource(resource: string): (values: Values) => string {
  const [first = '', ...rest] = resource.split(/(\{[^{}]+\})/);
  const parts: { steps: readonly string[]; placeholder: string; after: string }[] = [];
  for (let i = 0; i < rest.length; i += 2) {
    const placeholder = rest[i] as string;
    parts.push({ steps: placeholder.slice(1, -1).split('.'), placeholder, after: rest[i + 1] as string });
  }
  return (values) => {
    let filled = first;
    for (const { steps, placeholder, after } of parts) {
      const value = lookUp(steps, values);
      if (typeof value !== 'string')
        throw new TypeError(`no value for ${placeholder} in resource "${resource}"`);
      filled += value + after;
    }
    return filled;
  };
}

function lookUp(steps: readonly string[], values: Values): unknown {
  let value: unknown = values;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Values)[step];
  }
  return value;
}
