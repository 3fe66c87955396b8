export interface GraphCommit {
  readonly id: string;
  readonly parents: readonly string[];
}

/** A line between two rows: from a lane at this row to a lane at the next one. */
export interface Edge {
  readonly from: number;
  readonly to: number;
  /** False where the line only passes by on its way to an older commit. */
  readonly starts: boolean;
}

export interface GraphRow {
  readonly lane: number;
  readonly edges: readonly Edge[];
  /** Whether a newer commit's line comes in at this row's dot. */
  readonly hasChild: boolean;
  readonly merge: boolean;
}

interface Line {
  readonly from: number;
  /** The lane whose commit the line waits for. */
  readonly lane: number;
  readonly starts: boolean;
}

/**
 * Places commits (newest first, children before parents) in lanes and draws the lines to their parents. A first
 * parent follows its child straight down, so that a branch keeps its lane; lanes that wait for the same commit meet
 * at its dot.
 */
export function layOutGraph(commits: readonly GraphCommit[]): GraphRow[] {
  // What each lane waits for; undefined is a free lane.
  const lanes: (string | undefined)[] = [];
  const rows: GraphRow[] = [];
  let open: Line[] = [];
  let last: Omit<GraphRow, 'edges'> | undefined;
  const free = (): number => {
    const index = lanes.indexOf(undefined);
    return index < 0 ? lanes.length : index;
  };
  const finish = (id: string | undefined, lane: number): void => {
    if (last === undefined) return;
    const edges = open.map((line) => ({
      from: line.from,
      to: id !== undefined && lanes[line.lane] === id ? lane : line.lane,
      starts: line.starts,
    }));
    rows.push({ ...last, edges });
  };
  for (const { id, parents } of commits) {
    const waiting = lanes.indexOf(id);
    const lane = waiting >= 0 ? waiting : free();
    finish(id, lane);
    for (const [index, wanted] of lanes.entries()) if (wanted === id) lanes[index] = undefined;
    open = [];
    for (const [index, wanted] of lanes.entries()) {
      if (wanted !== undefined) open.push({ from: index, lane: index, starts: false });
    }
    for (const [order, parent] of parents.entries()) {
      const known = order === 0 ? -1 : lanes.indexOf(parent);
      const target = order === 0 ? lane : known >= 0 ? known : free();
      lanes[target] = parent;
      open.push({ from: lane, lane: target, starts: true });
    }
    last = { lane, hasChild: waiting >= 0, merge: parents.length > 1 };
  }
  finish(undefined, 0);
  return rows;
}

/** The widest row of a graph in lanes. */
export function graphWidth(rows: readonly GraphRow[]): number {
  let width = 1;
  for (const row of rows) {
    width = Math.max(width, row.lane + 1);
    for (const { from, to } of row.edges) width = Math.max(width, from + 1, to + 1);
  }
  return width;
}

/** A commit and all that lead to it, among commits in the order of the log. */
export function ancestryOf(commits: readonly GraphCommit[], index: number): Set<string> {
  const found = new Set<string>();
  const start = commits[index];
  if (start === undefined) return found;
  found.add(start.id);
  for (const { id, parents } of commits.slice(index)) {
    if (found.has(id)) for (const parent of parents) found.add(parent);
  }
  return found;
}
