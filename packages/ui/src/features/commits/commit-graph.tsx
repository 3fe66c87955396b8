import type { ReactNode } from 'react';
import type { GraphRow } from '../../lib/commit-graph.ts';

const laneWidth = 16;
const maxLanes = 24;
const palette = ['#12897f', '#2f6fc4', '#b0641a', '#8250c4', '#b3365f', '#4c8a2b', '#8a6d3b', '#5a6b7b'];

export function graphPixels(lanes: number): number {
  return (Math.min(lanes, maxLanes) + 0.5) * laneWidth;
}

/** One row's part of the graph: its dot, the lines through it and to the next row. */
export function GraphCell({
  row,
  previous,
  height,
  lanes,
  faded,
}: {
  row: GraphRow;
  previous: GraphRow | undefined;
  height: number;
  lanes: number;
  /** Not among the ancestors of the commit somebody points at. */
  faded: boolean;
}): ReactNode {
  const x = (lane: number): number => Math.min(lane, maxLanes - 1) * laneWidth + laneWidth / 2 + 2;
  const middle = height / 2;
  const widest = Math.max(row.lane, ...row.edges.map(({ from, to }) => Math.max(from, to)));
  const colour = (lane: number): string => palette[lane % palette.length] ?? '';
  return (
    <svg className={faded ? 'graph faded' : 'graph'} width={graphPixels(lanes)} height={height} aria-hidden>
      {previous?.edges.map((edge, index) => (
        <path
          key={`in-${index}`}
          d={curve(x(edge.from), -middle, x(edge.to), middle)}
          fill="none"
          stroke={colour(Math.max(edge.from, edge.to))}
          strokeWidth={2}
        />
      ))}
      {row.edges.map((edge, index) => (
        <path
          key={`out-${index}`}
          d={curve(x(edge.from), middle, x(edge.to), middle + height)}
          fill="none"
          stroke={colour(Math.max(edge.from, edge.to))}
          strokeWidth={2}
        />
      ))}
      <circle
        cx={x(row.lane)}
        cy={middle}
        r={row.merge ? 4 : 5}
        fill={row.merge ? 'var(--mantine-color-body)' : colour(row.lane)}
        stroke={colour(row.lane)}
        strokeWidth={2}
      />
      {widest >= maxLanes && (
        <text x={x(maxLanes - 1)} y={12} textAnchor="middle" fontSize={10} fill="currentColor">
          +{widest - maxLanes + 1}
        </text>
      )}
    </svg>
  );
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  if (x1 === x2) return `M${x1} ${y1}V${y2}`;
  const half = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${half} ${x2} ${half} ${x2} ${y2}`;
}
