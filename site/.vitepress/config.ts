import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitepress';
import { contents } from '../contents.ts';

// The staged pages are handed over by scripts/build-site.ts.
const srcDir = process.env['SVC_SITE_PAGES'] ?? '../docs';
const outDir = process.env['SVC_SITE_OUT'] ?? 'dist';

/** `a/README.md` is the page `a/`. */
const linkOf = (page: string): string => `/${page.replace(/README\.md$/, '').replace(/\.md$/, '')}`;

function titleOf(page: string): string {
  const text = readFileSync(join(srcDir, page.replace(/README\.md$/, 'index.md')), 'utf8');
  const title = /^# (.+)$/m.exec(text)?.[1];
  if (title === undefined) throw new Error(`${page} has no title`);
  return title.replaceAll('`', '');
}

export default defineConfig({
  title: 'svc',
  description: 'Version control for the data in your object store',
  base: '/docs/',
  srcDir,
  outDir,
  cacheDir: join(srcDir, '../cache'),
  cleanUrls: true,
  // Otherwise a script in every page, which the server's content policy refuses.
  metaChunk: true,
  markdown: {
    config(md) {
      const { escapeHtml } = md.utils;
      // Pages are plain Markdown: `<name>` is text to read, a comment a note for the tests.
      const html = (content: string): string => (content.startsWith('<!--') ? '' : escapeHtml(content));
      md.renderer.rules.html_inline = (tokens, index) => html(tokens[index]?.content ?? '');
      md.renderer.rules.html_block = (tokens, index) => html(tokens[index]?.content ?? '');
      // Braces are what they are, not an expression of the generator.
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code v-pre>${escapeHtml(tokens[index]?.content ?? '')}</code>`;
      const { text } = md.renderer.rules;
      md.renderer.rules.text = (...given) => (text?.(...given) ?? '').replaceAll('{{', '&#123;&#123;');
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    sidebar: contents.map(({ title, pages }, index) => ({
      text: title,
      collapsed: index > 1,
      items: pages.map((page) => ({ text: titleOf(page), link: linkOf(page) })),
    })),
  },
  transformHtml: (code) => code.replace(/<link rel="preconnect"[^>]*>/g, ''),
});
