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

/** Places commits (newest first, children before parents) in lanes and draws the lines to their parents. */
export function layOutGraph(commits: readonly GraphCommit[]): GraphRow[] {
  // What each lane waits for; undefined is a free lane.
  const lanes: (string | undefined)[] = [];
  const free = (): number => {
    const index = lanes.indexOf(undefined);
    return index < 0 ? lanes.length : index;
  };
  return commits.map(({ id, parents }) => {
    const waiting = lanes.indexOf(id);
    const hasChild = waiting >= 0;
    const lane = hasChild ? waiting : free();
    const edges: Edge[] = [];
    lanes[lane] = undefined;
    const passing = lanes
      .map((wanted, index) => ({ wanted, index }))
      .filter(({ wanted }) => wanted !== undefined);
    const targets: number[] = [];
    parents.forEach((parent, order) => {
      let target = lanes.indexOf(parent);
      if (target < 0) {
        target = order === 0 && lanes[lane] === undefined ? lane : free();
        lanes[target] = parent;
      }
      targets.push(target);
    });
    for (const { index } of passing) edges.push({ from: index, to: index, starts: false });
    for (const target of targets) edges.push({ from: lane, to: target, starts: true });
    while (lanes.length > 0 && lanes.at(-1) === undefined) lanes.pop();
    return { lane, edges, hasChild, merge: parents.length > 1 };
  });
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
