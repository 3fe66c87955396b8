// `npm run site`: the documentation as a site, from docs/ into dist/docs, where a server serves it at /docs. The
// generator has a folder and a lock file of its own, so that nobody installs it who does not build the site.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { contents } from '../site/contents.ts';
import { compressAll } from './compress.ts';

const root = join(import.meta.dirname, '..');
const site = join(root, 'site');
const work = join(site, '.cache');
const pages = join(work, 'pages');
const built = join(work, 'built');

/** Pages of the site that lie beside docs/, by the name they get there. */
const beside: Readonly<Record<string, string>> = {
  'changelog.md': 'CHANGELOG.md',
  'reporting.md': 'SECURITY.md',
};
const fileOf = (page: string): string => beside[page] ?? `docs/${page}`;

const listed = contents.flatMap((chapter) => chapter.pages);
const stored = [
  ...readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.md')),
  ...Object.keys(beside),
];
for (const page of stored)
  if (!listed.includes(page)) throw new Error(`site/contents.ts does not list ${page}`);
for (const page of listed) if (!stored.includes(page)) throw new Error(`site/contents.ts lists ${page}`);

const pagesByFile = new Map(listed.map((page) => [fileOf(page), page]));

/** A link of a page in the repository as the site has it; undefined for what the site does not show. */
function siteLink(page: string, link: string): string | undefined {
  if (/^(https?:|mailto:|#)/.test(link)) return link;
  const [path = '', anchor] = link.split('#', 2);
  const file = normalize(join(dirname(fileOf(page)), path)).replace(/\/$/, '');
  const target = pagesByFile.get(file) ?? pagesByFile.get(`${file}/README.md`);
  if (target !== undefined)
    return `/${target.replace(/README\.md$/, '').replace(/\.md$/, '')}${anchor === undefined ? '' : `#${anchor}`}`;
  const shown = file.startsWith('docs/') && statSync(join(root, file)).isFile();
  return shown ? file.slice('docs'.length) : undefined;
}

/** Code is left as it is; a link to a file that is not part of the site becomes its name. */
function staged(page: string, text: string): string {
  return text
    .split(/(^```[^]*?^```$|`[^`\n]+`(?!\]))/m)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replaceAll(
            /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g,
            (_, image: string, label: string, link: string) => {
              const target = siteLink(page, link);
              return target === undefined ? label : `${image}[${label}](${target})`;
            },
          ),
    )
    .join('');
}

async function stage(): Promise<void> {
  await rm(work, { recursive: true, force: true });
  await mkdir(pages, { recursive: true });
  await cp(join(root, 'docs'), join(pages, 'public'), {
    recursive: true,
    filter: (path) => !path.endsWith('.md'),
  });
  for (const page of listed) {
    const text = await readFile(join(root, fileOf(page)), 'utf8');
    const file = join(pages, page.replace(/README\.md$/, 'index.md'));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, staged(page, text));
  }
}

/** The generator writes scripts into its pages; the server's content policy wants them in files. */
async function moveScripts(): Promise<void> {
  const scripts = new Map<string, string>();
  for (const name of readdirSync(built, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.html')) continue;
    const html = await readFile(join(built, name), 'utf8');
    const moved = html.replaceAll(/<script id="[^"]*">([^]*?)<\/script>/g, (_, code: string) => {
      const file = `assets/inline-${createHash('sha256').update(code).digest('hex').slice(0, 12)}.js`;
      scripts.set(file, code);
      return `<script src="/docs/${file}"></script>`;
    });
    if (/<script(?![^>]* src=)/.test(moved)) throw new Error(`${name} still holds a script`);
    if (/(?:src|href)="https?:[^"]*\.(?:js|css|woff2?)"/.test(moved)) throw new Error(`${name} calls out`);
    await writeFile(join(built, name), moved);
  }
  for (const [file, code] of scripts) await writeFile(join(built, file), code);
}

function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const names = readdirSync(path).filter((name) => name !== 'node_modules' && name !== '.cache');
  return Math.max(0, ...names.map((name) => newest(join(path, name))));
}

const target = join(root, 'dist', 'docs');
const stamp = join(target, '.built');
const sources = [
  join(root, 'docs'),
  site,
  import.meta.filename,
  ...Object.values(beside).map((name) => join(root, name)),
];
if (!existsSync(stamp) || statSync(stamp).mtimeMs < Math.max(...sources.map(newest))) {
  const lock = join(site, 'node_modules', '.package-lock.json');
  if (!existsSync(lock) || statSync(lock).mtimeMs < statSync(join(site, 'package-lock.json')).mtimeMs) {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: site,
      stdio: ['ignore', 2, 2],
    });
  }
  await stage();
  execFileSync(
    process.execPath,
    [join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js'), 'build', site],
    {
      cwd: site,
      env: { ...process.env, NODE_ENV: 'production', SVC_SITE_PAGES: pages, SVC_SITE_OUT: built },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await moveScripts();
  await compressAll(built);
  await writeFile(join(built, '.built'), '');
  await mkdir(dirname(target), { recursive: true });
  await rm(target, { recursive: true, force: true });
  await rename(built, target);
}
console.log(target);
