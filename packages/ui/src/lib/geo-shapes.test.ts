import { expect, test } from 'vitest';
import { readGeoJson } from './geo-shapes.ts';

const feature = (geometry: unknown, properties = {}) => ({ type: 'Feature', geometry, properties });

test('points, lines, areas and collections are read with their edges and properties', () => {
  const { shapes, west, south, east, north } = readGeoJson(
    JSON.stringify({
      type: 'FeatureCollection',
      features: [
        feature({ type: 'Point', coordinates: [10, 50, 300] }, { name: 'here' }),
        feature(null),
        feature({
          type: 'GeometryCollection',
          geometries: [
            {
              type: 'MultiPoint',
              coordinates: [
                [1, 2],
                [3, 4],
              ],
            },
            {
              type: 'LineString',
              coordinates: [
                [-5, 0],
                [5, 60],
              ],
            },
            {
              type: 'MultiPolygon',
              coordinates: [
                [
                  [
                    [0, 0],
                    [1, 0],
                    [1, 1],
                    [0, 0],
                  ],
                ],
              ],
            },
          ],
        }),
      ],
    }),
  );
  expect(shapes.map(({ kind }) => kind)).toEqual(['point', 'point', 'point', 'line', 'area']);
  expect(shapes[0]).toMatchObject({ rings: [[[10, 50]]], properties: { name: 'here' } });
  expect([west, south, east, north]).toEqual([-5, 0, 10, 60]);
  expect(readGeoJson('{"type":"Point","coordinates":[1,2]}').shapes).toHaveLength(1);
});

test('what is no GeoJSON is refused with a reason', () => {
  expect(() => readGeoJson('{"type":"Circle"}')).toThrow('"Circle" is no geometry');
  expect(() => readGeoJson('{"type":"Point","coordinates":["a"]}')).toThrow('not two numbers');
  expect(() => readGeoJson('{"type":"LineString"}')).toThrow('no coordinates');
});
