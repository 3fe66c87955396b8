import { and, type Requirement } from '@svc/auth';
import type { OperationRequirement, RequirementTemplate } from '@svc/contract';

/** The decoded, validated parts of a request that a template may speak of. */
export interface TemplateValues {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** What a request needs before its operation starts; undefined when everything is left to the operation. */
export type RequirementOf = (values: TemplateValues) => Requirement | undefined;

/**
 * Takes the template of an operation apart once, for all its requests. A placeholder without a value is a programming
 * error and throws.
 */
export function requirementOf(requires: OperationRequirement): RequirementOf {
  if (requires.type === 'open' || requires.type === 'authenticated') return () => undefined;
  return compile(requires) as unknown as RequirementOf;
}

/** Whether what must be allowed depends on the body, so that the body has to be read first. */
export function speaksOfBody(requires: OperationRequirement): boolean {
  switch (requires.type) {
    case 'open':
    case 'authenticated':
    case 'deferred':
      return false;
    case 'one':
    case 'soft':
      return requires.resource.includes('{body.');
    case 'and':
    case 'or':
      return requires.nodes.some(speaksOfBody);
    case 'each':
      return true;
    case 'choose':
      return speaksOfBody(requires.whenTrue) || speaksOfBody(requires.otherwise);
  }
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
  const parts: { steps: readonly string[]; isBase: boolean; placeholder: string; after: string }[] = [];
  for (let i = 0; i < rest.length; i += 2) {
    const placeholder = rest[i] as string;
    const isBase = placeholder.startsWith('{base ');
    const steps = placeholder.slice(isBase ? '{base '.length : 1, -1).split('.');
    parts.push({ steps, isBase, placeholder, after: rest[i + 1] as string });
  }
  return (values) => {
    let filled = first;
    for (const { steps, isBase, placeholder, after } of parts) {
      const value = lookUp(steps, values);
      if (typeof value !== 'string')
        throw new TypeError(`no value for ${placeholder} in resource "${resource}"`);
      filled += (isBase ? baseOf(value) : value) + after;
    }
    return filled;
  };
}

/** `main` of `main@{yesterday}~2`; refs without a time stay as they are. */
function baseOf(ref: string): string {
  return /^([^~^@$]+)@./.exec(ref)?.[1] ?? ref;
}

function lookUp(steps: readonly string[], values: Values): unknown {
  let value: unknown = values;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = (value as Values)[step];
  }
  return value;
}
