import { ActionIcon } from '@mantine/core';
import { Maximize, Minus, Plus } from 'lucide-react';
import { useMemo, useRef, useState } from 'react';
import type { PointerEvent, ReactNode } from 'react';
import { readGeoJson } from '../lib/geo-shapes.ts';
import type { GeoShape, GeoShapes } from '../lib/geo-shapes.ts';
import { plural } from '../lib/format.ts';
import { Notice } from './basics.tsx';
import { Hint } from './hint.tsx';

interface View {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Longitudes shrink towards the poles; one factor for the whole drawing keeps shapes recognisable. */
function viewOf({ west, south, east, north }: GeoShapes): { all: View; stretch: number } {
  const stretch = Math.max(0.2, Math.cos((((south + north) / 2) * Math.PI) / 180));
  const width = Math.max((east - west) * stretch, 0.01);
  const height = Math.max(north - south, 0.01);
  const margin = Math.max(width, height) * 0.06;
  return {
    stretch,
    all: {
      x: west * stretch - margin,
      y: -north - margin,
      width: width + 2 * margin,
      height: height + 2 * margin,
    },
  };
}

/** A step of the grid that gives a handful of lines. */
function gridStep(extent: number): number {
  const rough = extent / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power;
}

function steps(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, index) =>
    Number(((first + index) * step).toFixed(6)),
  );
}

/** Draws GeoJSON on a plain grid: no map is fetched from anywhere. */
export function GeoMap({ text, complete }: { text: string; complete: boolean }): ReactNode {
  const read = useMemo(() => {
    try {
      return { shapes: readGeoJson(text), problem: undefined };
    } catch (error) {
      return { shapes: undefined, problem: error instanceof Error ? error.message : String(error) };
    }
  }, [text]);
  if (!complete)
    return (
      <div className="box-body">
        <Notice>Only its beginning was read. Load more to draw it, or look at the source.</Notice>
      </div>
    );
  if (read.shapes === undefined || read.shapes.shapes.length === 0)
    return (
      <div className="box-body">
        <Notice kind="warn" title="This cannot be drawn">
          {read.problem ?? 'It holds no geometry.'}
        </Notice>
      </div>
    );
  return <Drawing geo={read.shapes} />;
}

function Drawing({ geo }: { geo: GeoShapes }): ReactNode {
  const { all, stretch } = useMemo(() => viewOf(geo), [geo]);
  const [view, setView] = useState(all);
  const [chosen, setChosen] = useState<GeoShape>();
  const drag = useRef<{ x: number; y: number; view: View }>(undefined);
  const zoom = (factor: number): void =>
    setView(({ x, y, width, height }) => ({
      x: x + (width * (1 - factor)) / 2,
      y: y + (height * (1 - factor)) / 2,
      width: width * factor,
      height: height * factor,
    }));
  const move = (event: PointerEvent<SVGSVGElement>): void => {
    if (drag.current === undefined) return;
    const { clientWidth, clientHeight } = event.currentTarget;
    const scale = Math.max(drag.current.view.width / clientWidth, drag.current.view.height / clientHeight);
    const { view: was, x, y } = drag.current;
    setView({ ...was, x: was.x - (event.clientX - x) * scale, y: was.y - (event.clientY - y) * scale });
  };
  const pathOf = ({ kind, rings }: GeoShape): string =>
    rings
      .map(
        (ring) =>
          `M${ring.map(([longitude, latitude]) => `${longitude * stretch} ${-latitude}`).join('L')}${kind === 'area' ? 'Z' : ''}`,
      )
      .join('');
  const step = gridStep(Math.max(view.width / stretch, view.height));
  const size = Math.max(view.width, view.height);
  const facts = Object.entries(chosen?.properties ?? {});
  return (
    <div className="geo">
      <svg
        role="img"
        aria-label={`Map of ${plural(geo.shapes.length, 'shape')}`}
        viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, y: event.clientY, view };
        }}
        onPointerMove={move}
        onPointerUp={() => {
          drag.current = undefined;
        }}
        onPointerLeave={() => {
          drag.current = undefined;
        }}
      >
        <g className="geo-grid">
          {steps((view.x - size) / stretch, (view.x + view.width + size) / stretch, step).map((longitude) => (
            <g key={`x${longitude}`}>
              <line
                x1={longitude * stretch}
                x2={longitude * stretch}
                y1={view.y - size}
                y2={view.y + 2 * size}
              />
              <text x={longitude * stretch} y={view.y + view.height - size * 0.01} fontSize={size * 0.018}>
                {longitude}°
              </text>
            </g>
          ))}
          {steps(-(view.y + view.height), -view.y, step).map((latitude) => (
            <g key={`y${latitude}`}>
              <line y1={-latitude} y2={-latitude} x1={view.x - size} x2={view.x + 2 * size} />
              <text x={view.x + size * 0.005} y={-latitude} fontSize={size * 0.018}>
                {latitude}°
              </text>
            </g>
          ))}
        </g>
        {geo.shapes.map((shape, index) => {
          const [[longitude, latitude] = [0, 0]] = shape.rings[0] ?? [];
          const common = {
            className: `geo-${shape.kind} ${shape === chosen ? 'chosen' : ''}`,
            onClick: () => setChosen(shape),
          };
          return shape.kind === 'point' ? (
            <circle key={index} {...common} cx={longitude * stretch} cy={-latitude} r={size * 0.007} />
          ) : (
            <path key={index} {...common} d={pathOf(shape)} fillRule="evenodd" />
          );
        })}
      </svg>
      <div className="geo-tools">
        {(
          [
            ['Zoom in', Plus, () => zoom(1 / 1.6)],
            ['Zoom out', Minus, () => zoom(1.6)],
            ['Show all', Maximize, () => setView(all)],
          ] as const
        ).map(([label, Icon, onClick]) => (
          <Hint key={label} label={label}>
            <ActionIcon variant="default" size={32} aria-label={label} onClick={onClick}>
              <Icon size={15} />
            </ActionIcon>
          </Hint>
        ))}
      </div>
      {chosen !== undefined && (
        <dl className="facts geo-facts box" aria-label="Properties">
          {facts.length === 0 && <dt>No properties</dt>}
          {facts.map(([key, value]) => (
            <div className="contents" key={key}>
              <dt>{key}</dt>
              <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}
