type Position = readonly [longitude: number, latitude: number];

/** What of a GeoJSON text is drawn: lines and areas as their positions, points alone. */
export interface GeoShape {
  readonly kind: 'point' | 'line' | 'area';
  readonly rings: readonly (readonly Position[])[];
  /** The properties of its feature. */
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface GeoShapes {
  readonly shapes: readonly GeoShape[];
  readonly west: number;
  readonly south: number;
  readonly east: number;
  readonly north: number;
}

const maxPositions = 200_000;

function isPosition(value: unknown): value is Position {
  return Array.isArray(value) && Number.isFinite(value[0]) && Number.isFinite(value[1]);
}

/** Reads a GeoJSON text. Throws with a reason when it is none, or too much to draw. */
export function readGeoJson(text: string): GeoShapes {
  const shapes: GeoShape[] = [];
  const edges = { west: Infinity, south: Infinity, east: -Infinity, north: -Infinity };
  let positions = 0;
  const line = (value: unknown): Position[] => {
    if (!Array.isArray(value)) throw new Error('a geometry has no coordinates');
    return value.map((position: unknown) => {
      if (!isPosition(position)) throw new Error('a position is not two numbers');
      if (++positions > maxPositions) throw new Error('there are too many positions to draw');
      const [longitude, latitude] = position;
      edges.west = Math.min(edges.west, longitude);
      edges.east = Math.max(edges.east, longitude);
      edges.south = Math.min(edges.south, latitude);
      edges.north = Math.max(edges.north, latitude);
      return [longitude, latitude];
    });
  };
  const lines = (value: unknown): Position[][] => {
    if (!Array.isArray(value)) throw new Error('a geometry has no coordinates');
    return value.map(line);
  };
  const geometry = (value: unknown, properties: GeoShape['properties']): void => {
    const { type, coordinates, geometries } = (value ?? {}) as Record<string, unknown>;
    const add = (kind: GeoShape['kind'], rings: Position[][]): void => {
      shapes.push({ kind, rings, properties });
    };
    switch (type) {
      case 'Point':
        return add('point', [line([coordinates])]);
      case 'MultiPoint':
        for (const position of line(coordinates)) add('point', [[position]]);
        return undefined;
      case 'LineString':
        return add('line', [line(coordinates)]);
      case 'MultiLineString':
        return add('line', lines(coordinates));
      case 'Polygon':
        return add('area', lines(coordinates));
      case 'MultiPolygon':
        for (const area of (coordinates ?? []) as unknown[]) add('area', lines(area));
        return undefined;
      case 'GeometryCollection':
        for (const each of (geometries ?? []) as unknown[]) geometry(each, properties);
        return undefined;
      default:
        throw new Error(`"${String(type)}" is no geometry`);
    }
  };
  const root = JSON.parse(text) as Record<string, unknown>;
  const features = root['type'] === 'FeatureCollection' ? root['features'] : [root];
  for (const each of (features ?? []) as Record<string, unknown>[]) {
    if (each['type'] !== 'Feature') geometry(each, {});
    // A feature may be nowhere.
    else if (each['geometry'] !== null)
      geometry(each['geometry'], (each['properties'] ?? {}) as GeoShape['properties']);
  }
  return { shapes, ...edges };
}
