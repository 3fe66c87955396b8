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

/**
 * What a request needs before its operation starts; undefined when everything is left to the operation
 * (`deferred`). A placeholder without a value is a programming error and throws.
 */
export function requirementFrom(
  template: RequirementTemplate,
  values: TemplateValues,
): Requirement | undefined {
  return fill(template, values as unknown as Values);
}

/** The same for a node the operation checks itself: `deferred` nodes count, and `item` may be given. */
export function deferredRequirementFrom(
  template: RequirementTemplate,
  values: TemplateValues & { readonly item?: unknown },
): Requirement | undefined {
  return fill(template.type === 'deferred' ? template.node : template, values as unknown as Values);
}

type Values = Readonly<Record<string, unknown>>;

function fill(template: RequirementTemplate, values: Values): Requirement | undefined {
  switch (template.type) {
    case 'one':
    case 'soft':
      return {
        type: template.type,
        action: template.action,
        resource: fillResource(template.resource, values),
      };
    case 'and':
    case 'or': {
      const nodes = template.nodes.map((node) => fill(node, values)).filter((node) => node !== undefined);
      if (nodes.length <= 1) return nodes[0];
      return { type: template.type, nodes };
    }
    case 'each': {
      const items = lookUp(['body', template.of], values);
      if (!Array.isArray(items)) throw new TypeError(`"${template.of}" is not a list in the body`);
      const nodes = items
        .map((item: unknown) => fill(template.node, { ...values, item }))
        .filter((node) => node !== undefined);
      return nodes.length === 0 ? undefined : and(...nodes);
    }
    case 'choose':
      return fill(
        lookUp(['query', template.query], values) === true ? template.whenTrue : template.otherwise,
        values,
      );
    case 'deferred':
      return undefined;
  }
}

type ResourcePart = string | { readonly placeholder: string; readonly steps: readonly string[] };

/** Templates are few and known at start: each is taken apart once. */
const resourceParts = new Map<string, readonly ResourcePart[]>();

function partsOf(resource: string): readonly ResourcePart[] {
  const known = resourceParts.get(resource);
  if (known !== undefined) return known;
  const parts = resource
    .split(/(\{[^{}]+\})/)
    .filter((part) => part !== '')
    .map((part) =>
      part.startsWith('{') ? { placeholder: part, steps: part.slice(1, -1).split('.') } : part,
    );
  resourceParts.set(resource, parts);
  return parts;
}

function fillResource(resource: string, values: Values): string {
  let filled = '';
  for (const part of partsOf(resource)) {
    if (typeof part === 'string') {
      filled += part;
      continue;
    }
    const value = lookUp(part.steps, values);
    if (typeof value !== 'string')
      throw new TypeError(`no value for ${part.placeholder} in resource "${resource}"`);
    filled += value;
  }
  return filled;
}

function lookUp(steps: readonly string[], values: Values): unknown {
  let value: unknown = values;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Values)[step];
  }
  return value;
}
