/**
 * The Iceberg table, with its namespace, whose newest metadata an object names; undefined for other objects. The catalog
 * of tables keeps it in the folder of the namespace.
 */
export function tableAt(path: string): string | undefined {
  const [, folder = '', name] = /^(.*\/)?_iceberg\/tables\/([^/]+)\.json$/s.exec(path) ?? [];
  return name === undefined ? undefined : `${folder.replaceAll('/', '.')}${name}`;
}
