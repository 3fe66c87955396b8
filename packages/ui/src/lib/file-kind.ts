import { baseName } from './paths.ts';

export type FileKind =
  | 'markdown'
  | 'notebook'
  | 'image'
  | 'pdf'
  | 'text'
  | 'table'
  | 'audio'
  | 'video'
  | 'unknown';

const byType: readonly (readonly [pattern: RegExp, kind: FileKind])[] = [
  [/^text\/(x-)?markdown$/, 'markdown'],
  [/^application\/(x-)?ipynb(\+json)?$/, 'notebook'],
  [/^image\/(jpe?g|png|gif|bmp|webp|avif|svg\+xml)$/, 'image'],
  [/^application\/(x-)?pdf$/, 'pdf'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^application\/((x-)?yaml|yml|json|toml|xml|javascript|sql)$|^text\/(?!csv|tab-separated)/, 'text'],
];

const byExtension: Readonly<Record<string, FileKind>> = {
  md: 'markdown',
  markdown: 'markdown',
  ipynb: 'notebook',
  pynb: 'notebook',
  pdf: 'pdf',
  parquet: 'table',
  csv: 'table',
  tsv: 'table',
  mp3: 'audio',
  wav: 'audio',
  mp4: 'video',
  webm: 'video',
};

const images = new Set(['png', 'jpg', 'jpeg', 'gif', 'bmp', 'webp', 'avif', 'svg']);
const texts = new Set(
  (
    'txt text log yaml yml json jsonl ndjson geojson toml ini cfg conf properties env py js mjs cjs ts tsx jsx ' +
    'go rs java kt scala c h cc cpp hpp cs rb r jl lua sql sh bash zsh html htm css scss xml tex rst gitignore ' +
    'dockerfile makefile lock tf proto graphql'
  ).split(' '),
);

export function extensionOf(path: string): string {
  const name = baseName(path).toLowerCase();
  return name.slice(name.lastIndexOf('.') + 1);
}

/** How an object is shown. Tables and notebooks go by name: their content types are rarely set. */
export function fileKind(path: string, contentType: string): FileKind {
  const extension = extensionOf(path);
  const named = byExtension[extension];
  if (named === 'table' || named === 'notebook') return named;
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  for (const [pattern, kind] of byType) if (pattern.test(type)) return kind;
  if (images.has(extension)) return 'image';
  return named ?? (texts.has(extension) ? 'text' : 'unknown');
}

const diffable = new Set(
  'txt text md csv tsv yaml yml json jsonl ndjson geojson py sql sh toml xml html css js ts log ini'.split(
    ' ',
  ),
);

export function diffKind(path: string): 'text' | 'image' | 'other' {
  const extension = extensionOf(path);
  if (diffable.has(extension)) return 'text';
  return images.has(extension) ? 'image' : 'other';
}
