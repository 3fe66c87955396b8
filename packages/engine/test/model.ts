/** The engine as anyone would write it on a napkin: whole maps, no staging, no trees. */
export class Model {
  readonly branches = new Map<string, ModelBranch>();
  readonly commits = new Map<string, ModelCommit>();
  readonly tags = new Map<string, string>();
}

export interface ModelBranch {
  head: string;
  /** What the branch shows. */
  readonly now: Map<string, string>;
}

export interface ModelCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly generation: number;
  readonly content: ReadonlyMap<string, string>;
}

export function sameContent(left: ReadonlyMap<string, string>, right: ReadonlyMap<string, string>): boolean {
  return left.size === right.size && [...left].every(([key, value]) => right.get(key) === value);
}

export function isDirty(model: Model, branch: ModelBranch): boolean {
  return !sameContent(branch.now, model.commits.get(branch.head)!.content);
}

/** Every best common ancestor; an engine may choose any of them. */
export function mergeBases(model: Model, left: string, right: string): string[] {
  const ofLeft = ancestors(model, left);
  const common = [...ancestors(model, right)].filter((id) => ofLeft.has(id));
  return common.filter((id) => !common.some((other) => other !== id && ancestors(model, other).has(id)));
}

function ancestors(model: Model, id: string): Set<string> {
  const found = new Set<string>();
  const queue = [id];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    if (found.has(next)) continue;
    found.add(next);
    queue.push(...model.commits.get(next)!.parents);
  }
  return found;
}

type Content = ReadonlyMap<string, string>;

/** Settles the conflicts below a prefix. */
export interface ModelRule {
  readonly prefix: string;
  readonly take: 'source' | 'destination' | 'base' | 'delete' | 'fail';
}

/** The merge table, key by key: the first rule for a conflict, else the strategy; undefined when neither settles it. */
export function mergeContents(
  base: Content,
  source: Content,
  dest: Content,
  strategy: string | undefined,
  rules: readonly ModelRule[] = [],
): Map<string, string> | undefined {
  const result = new Map<string, string>();
  for (const key of new Set([...base.keys(), ...source.keys(), ...dest.keys()])) {
    const [b, s, d] = [base.get(key), source.get(key), dest.get(key)];
    let winner: string | undefined;
    if (s === d || d === b) winner = s;
    else if (s === b) winner = d;
    else {
      const take =
        rules.find(({ prefix }) => key.startsWith(prefix))?.take ??
        { 'source-wins': 'source', 'dest-wins': 'destination' }[strategy ?? ''] ??
        'fail';
      if (take === 'fail') return undefined;
      winner = { source: s, destination: d, base: b }[take];
    }
    if (winner !== undefined) result.set(key, winner);
  }
  return result;
}

export function diffContents(left: Content, right: Content): string[] {
  const items: string[] = [];
  for (const key of byteSorted(new Set([...left.keys(), ...right.keys()]))) {
    const [before, after] = [left.get(key), right.get(key)];
    if (before === after) continue;
    items.push(`${before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'} ${key}`);
  }
  return items;
}

export function byteSorted(keys: Iterable<string>): string[] {
  return [...keys].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
}
