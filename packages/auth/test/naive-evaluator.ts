import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { Decision, Policy, Requirement, Statement } from '@svc/auth';

/**
 * The evaluation rules written down as plainly as possible: nothing is compiled, indexed or skipped. The oracle
 * of the property test.
 */
export function evaluateNaively(
  policies: readonly Policy[],
  requirement: Requirement,
  caller: { readonly user: string; readonly ip: string },
): Decision {
  const denied: string[] = [];
  const missing: string[] = [];

  const leaf = (action: string, resource: string): 'allow' | 'neutral' | 'deny' => {
    let seen = false;
    let broken = false;
    let denial: string | undefined;
    for (const statement of policies.flatMap((policy) => policy.statement)) {
      if (statement.principal !== undefined) continue;
      const applies = conditionHolds(statement, caller.ip);
      if (applies === 'error') broken = true;
      if (applies !== true) continue;
      const resources = listed(statement.resource);
      if (resources === undefined) broken = true;
      for (const candidate of resources ?? []) {
        if (!resourceMatches(candidate, resource, caller.user)) continue;
        for (const pattern of statement.action) {
          if (!like(tokens(pattern), points(action))) continue;
          if (statement.effect === 'deny') denial ??= pattern;
          else seen = true;
        }
      }
    }
    if (broken) return 'deny';
    if (denial !== undefined) {
      denied.push(denial);
      return 'deny';
    }
    return seen ? 'allow' : 'neutral';
  };

  const walk = (node: Requirement): 'allow' | 'neutral' | 'deny' => {
    if (node.type === 'one') {
      const effect = leaf(node.action, node.resource);
      if (effect === 'neutral') missing.push(node.action);
      return effect;
    }
    if (node.type === 'soft') return leaf(node.action, node.resource) === 'deny' ? 'deny' : 'allow';
    if (node.type === 'and') {
      for (const child of node.nodes) {
        const effect = walk(child);
        if (effect !== 'allow') return effect;
      }
      return 'allow';
    }
    if (node.type !== 'or') throw new Error(`"${node.type}" is asked leaf by leaf here`);
    let result: 'allow' | 'neutral' = 'neutral';
    for (const child of node.nodes) {
      const effect = walk(child);
      if (effect === 'deny') return 'deny';
      if (effect === 'allow') result = 'allow';
    }
    return result;
  };

  if (walk(requirement) === 'allow') return { allowed: true };
  const reason =
    denied.length > 0
      ? `denied permission to ${denied.join(',')}`
      : missing.length > 0
        ? `not allowed to ${missing.join(',')}`
        : 'not allowed';
  return { allowed: false, message: `insufficient permissions: ${reason}` };
}

function conditionHolds(statement: Statement, ip: string): boolean | 'error' {
  let holds = true;
  let failed = false;
  for (const [operator, fields] of Object.entries(statement.condition ?? {})) {
    for (const [field, values] of Object.entries(fields)) {
      const isIp = operator.endsWith('IpAddress');
      if (isIp && values.some((value) => !validRange(value))) return 'error';
      if (field !== 'SourceIp' || ip === '') {
        holds = false;
        continue;
      }
      if (isIp && !isIPv4(ip) && !isIPv6(ip)) {
        failed = true;
        continue;
      }
      const any = values.some((value) => (isIp ? inRange(value, ip) : like(tokens(value), points(ip))));
      if (any === operator.includes('Not')) holds = false;
    }
  }
  return failed ? 'error' : holds;
}

function validRange(text: string): boolean {
  const [address = '', bits] = text.split('/');
  if (!isIPv4(address) && !isIPv6(address)) return false;
  return bits === undefined || Number(bits) <= (isIPv4(address) ? 32 : 128);
}

function inRange(text: string, ip: string): boolean {
  const [address = '', bits] = text.split('/');
  const family = isIPv4(address) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family);
  return list.check(ip, isIPv4(ip) ? 'ipv4' : 'ipv6');
}

function listed(resource: string): string[] | undefined {
  if (!resource.startsWith('[') || !resource.endsWith(']')) return [resource];
  try {
    return JSON.parse(resource) as string[];
  } catch {
    return undefined;
  }
}

function resourceMatches(pattern: string, required: string, user: string): boolean {
  if (pattern === '*') return true;
  const left = split(pattern);
  const right = split(required);
  if (left === undefined || right === undefined) return false;
  const insert = (text: string) => text.replaceAll('${user}', () => user);
  if (insert(left.service) !== right.service || insert(left.account) !== right.account) return false;
  const wanted = left.resource.split('${user}').flatMap((text, index) => {
    return index === 0 ? tokens(text) : [...points(user), ...tokens(text)];
  });
  return like(wanted, points(right.resource));
}

function split(text: string) {
  const parts = text.split(':');
  const [head, partition = '', service = '', , account] = parts;
  const resource = parts.slice(5).join(':');
  if (parts.length < 6 || head !== 'arn' || service === '' || resource === '') return undefined;
  if (partition !== 'svc' && partition !== 'lakefs') return undefined;
  return { service, account: account ?? '', resource };
}

type Token = string | { wild: '*' | '?' };

function points(text: string): string[] {
  return Array.from(text);
}

function tokens(text: string): Token[] {
  return points(text).map((point) => (point === '*' || point === '?' ? { wild: point } : point));
}

function like(pattern: readonly Token[], text: readonly string[]): boolean {
  const [token] = pattern;
  if (token === undefined) return text.length === 0;
  if (typeof token === 'object' && token.wild === '*') {
    return like(pattern.slice(1), text) || (text.length > 0 && like(pattern, text.slice(1)));
  }
  if (text.length === 0) return false;
  return (typeof token === 'object' || token === text[0]) && like(pattern.slice(1), text.slice(1));
}
